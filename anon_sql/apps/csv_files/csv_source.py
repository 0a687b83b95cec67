"""Open a CSV file, packed or not, as lines of text or as bytes."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from anon_sql.apps.csv_files.dialect import Dialect
from anon_sql.errors import AnonError

_BUFFER = 1 << 20  # bytes
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True)
class CsvSource:
    """A CSV file and how errors name it.

    compression: 'gzip', 'zstd' or None. dialect: with a delimiter. told: whether the user named the
    delimiter. argument: what the command calls the file.
    """

    path: Path
    compression: str | None
    dialect: Dialect
    told: bool
    function: str
    argument: str

    def error(self, rule: str, got: str, hint: str | None = None) -> AnonError:
        """Return an error about the file."""
        return AnonError(self.function, f"{self.argument} must {rule}", got, hint)

    def bytes(self) -> pa.NativeFile:
        """Open the file as unpacked bytes."""
        return pa.input_stream(str(self.path), compression=self.compression, buffer_size=_BUFFER)

    @contextmanager
    def lines(self) -> Iterator[Iterator[str]]:
        """Open the file as lines that keep their ends.

        Raises AnonError for a line that is not UTF-8 or has a NUL byte, and for a file that cannot
        be unpacked.
        """
        try:
            with self._text("strict") as text:
                yield self._without_nul(text)
        except UnicodeDecodeError:
            raise self._wrong_encoding() from None
        except (pa.ArrowInvalid, OSError):
            if self.compression is None:
                raise
            got = "something else or a part of one"
            raise self.error(f"be a whole {self.compression} file", got) from None

    def _text(self, errors: str) -> io.TextIOWrapper:
        raw = io.BufferedReader(self.bytes(), _BUFFER)
        return io.TextIOWrapper(raw, encoding="utf-8-sig", errors=errors, newline="")

    def _without_nul(self, text: io.TextIOWrapper) -> Iterator[str]:
        for number, line in enumerate(text, 1):
            if "\0" in line:
                raise self.error("be text", f"a NUL byte in line {number:,}")
            yield line

    def _wrong_encoding(self) -> AnonError:
        """Return the error that names the first line that is not UTF-8."""
        with self.bytes() as file:
            if file.read(2) in _UTF16:
                hint = "convert it, for instance with iconv -f UTF-16 -t UTF-8"
                return self.error("be UTF-8", "UTF-16", hint)
        with self._text("surrogateescape") as text:
            for number, line in enumerate(text, 1):
                if not line.isascii() and any("\udc80" <= char <= "\udcff" for char in line):
                    hint = "convert it, for instance with iconv -f WINDOWS-1252 -t UTF-8"
                    return self.error("be UTF-8", f"other bytes in line {number:,}", hint)
        return self.error("be UTF-8", "other bytes at its end")
