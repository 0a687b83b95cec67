"""Read a CSV file as bytes, as text and as lines, and name its faults."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from anon_sql.apps.csv import detection
from anon_sql.apps.csv.dialect import UTF_8, UTF_16, Dialect
from anon_sql.errors import AnonError, Option, Parameter, Words, joined
from anon_sql.hosts.contents import other_format

_BUFFER, _HEAD = 1 << 20, 1 << 12  # bytes


@dataclass(frozen=True)
class CsvSource:
    """A CSV file and how errors name it.

    compression: 'gzip', 'zstd' or None. dialect: with a delimiter. delimiter_named: whether the
    user named the delimiter. argument: what the command calls the file. is_one_of_several: whether
    a pattern names other files, too, so that errors name this one.
    """

    path: Path
    compression: str | None
    dialect: Dialect
    delimiter_named: bool
    function: str
    argument: str
    is_one_of_several: bool = False

    def error(self, rule: str | Words, got: str, hint: str | Words | None = None) -> AnonError:
        """Return an error about the file."""
        whose = f" in '{self.path.name}'" if self.is_one_of_several else ""
        rule = Parameter(self.argument) + " must " + rule
        return AnonError(self.function, rule, got + whose, hint)

    def encoding(self) -> str | None:
        """Return the encoding that the file probably has; None if none fits or it is unreadable."""
        try:
            return detection.encoding_of(self.unpacked)
        except (pa.ArrowInvalid, OSError):
            return None

    def with_delimiter(self) -> "tuple[CsvSource, Words | None]":
        """Return the file with the delimiter that its first lines show, and a sentence about it.

        That is the only one that gives all of them as many fields, unless it is the usual one of
        the file's extension. Raises AnonError if the usual one and another do.
        """
        if self.delimiter_named:
            return self, None
        usual = self.dialect.delimiter or ","
        try:
            fitting = detection.delimiters_of(self.unpacked, self.dialect)
        except (pa.ArrowInvalid, OSError):  # whose reader says what is wrong
            return self, None
        if usual in fitting and len(fitting) > 1:
            signs = [detection.DELIMITERS[sign] for sign in fitting]
            hint = joined(" or ", [Option("--delimiter", sign) for sign in signs])
            raise self.error("have one delimiter", f"{' and '.join(signs)} in all lines", hint)
        if usual in fitting or len(fitting) != 1:
            return self, None
        (sign,) = fitting
        sign_name = detection.DELIMITERS[sign]
        notice = (
            f"{sign_name} stands between its fields; "
            + Option("--delimiter", sign_name)
            + " to say so"
        )
        return replace(self, dialect=replace(self.dialect, delimiter=sign)), notice

    def bytes(self) -> pa.NativeFile:
        """Open the file as unpacked bytes of UTF-8."""
        file = self.unpacked()
        if self.dialect.encoding == UTF_8:
            return file
        return pa.transcoding_input_stream(file, self.dialect.encoding, UTF_8)

    def unpacked(self) -> pa.NativeFile:
        """Open the file as unpacked bytes."""
        return pa.input_stream(str(self.path), compression=self.compression, buffer_size=_BUFFER)

    def _require_csv(self) -> None:
        """Raise AnonError if the file begins as one of another format does."""
        with self.unpacked() as file:
            other = other_format(file.read(_HEAD), self.dialect.encoding)
        if other is not None:
            raise self.error("be a CSV file", other.name, other.hint)

    @contextmanager
    def lines(self, *, is_csv: bool = True) -> Iterator[Iterator[str]]:
        """Open the file as lines that keep their ends. is_csv: whether it must not be JSON.

        Raises AnonError for a file of another format, a line that is not UTF-8 or has a NUL byte,
        and a file that cannot be unpacked.
        """
        try:
            if is_csv:
                self._require_csv()
            with self.text("strict") as text:
                yield self._without_nul(text)
        except UnicodeError:  # a file in UTF-16 may also lack its mark
            raise self._wrong_encoding() from None
        except (pa.ArrowInvalid, OSError):
            if self.compression is None:
                raise
            got = "something else or a part of one"
            raise self.error(f"be a whole {self.compression} file", got) from None

    def text(self, errors: str) -> io.TextIOWrapper:
        """Open the file as text without a byte order mark. errors: as of ``bytes.decode``."""
        raw = io.BufferedReader(self.bytes(), _BUFFER)
        return io.TextIOWrapper(raw, encoding="utf-8-sig", errors=errors, newline="")

    def _without_nul(self, text: io.TextIOWrapper) -> Iterator[str]:
        for number, line in enumerate(text, 1):
            if "\0" in line:
                if (detection.encoding_of(self.unpacked) or "").startswith(UTF_16):
                    raise self._wrong_encoding()
                raise self.error("be text", f"a NUL byte in line {number:,}")
            yield line

    def _wrong_encoding(self) -> AnonError:
        """Return the error that names the first line that is not UTF-8, and its encoding."""
        if self.dialect.encoding != UTF_8:
            hint = Option("--encoding", "…") + " with the encoding that the file has"
            return self.error(f"be in the encoding {self.dialect.encoding}", "other bytes", hint)
        encoding = detection.encoding_of(self.unpacked)
        got = f"other bytes in line {self._first_of_other_bytes():,}"
        if encoding is None:
            hint = Option("--encoding", "…") + " with the encoding that the file has"
            return self.error("be UTF-8", got, hint)
        is_utf_16 = encoding.startswith(UTF_16)
        got = encoding.upper() if is_utf_16 else f"{got}, probably of {encoding}"
        hint = Option("--encoding", encoding) + " if that is right, or convert the file"
        return self.error("be UTF-8", got, hint)

    def _first_of_other_bytes(self) -> int:
        """Return the first line that is not UTF-8, 1 if all are."""
        with self.text("surrogateescape") as text:
            for number, line in enumerate(text, 1):
                if not line.isascii() and any("\udc80" <= char <= "\udcff" for char in line):
                    return number
        return 1
