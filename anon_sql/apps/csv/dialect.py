"""Define how a CSV file is written, and take the names of its columns from the first line."""

import codecs
import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
from pyarrow import csv as arrow_csv

from anon_sql.core.names import quote
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError, Option, Parameter, Words, looks_like_name
from anon_sql.hosts.contents import other_format

UTF_8, UTF_16, WINDOWS = "utf-8", "utf-16", "windows-1252"
_NAMED = {"\\t": "\t", "tab": "\t"}


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written.

    delimiter: None for that of the file's extension. quote: '' for none. header: whether the first
    line is the header; None requires that it looks like one. nulls: the texts that are NULL, ''
    first. encoding: a codec of Python's.
    notations: how numbers, dates and times are written, each a parameter, a column or None for the
    file, and its value. trim: whether blanks around texts are removed, also of a source that is not
    CSV.
    """

    delimiter: str | None = None
    quote: str = '"'
    header: bool | None = None
    nulls: tuple[str, ...] = ("",)
    encoding: str = UTF_8
    notations: tuple[tuple[str, str | None, str], ...] = ()
    trim: bool = False

    def named(self, delimiter: str) -> "Dialect":
        """Return the dialect with this delimiter if it has none."""
        return replace(self, delimiter=delimiter) if self.delimiter is None else self

    def python(self) -> dict[str, Any]:
        """Return the arguments of ``csv.reader``."""
        quoting = csv.QUOTE_MINIMAL if self.quote else csv.QUOTE_NONE
        return {
            "delimiter": self.delimiter,
            "quotechar": self.quote or None,
            "quoting": quoting,
            "strict": True,
        }

    def arrow(self, columns: int) -> arrow_csv.ParseOptions:
        """Return the options of ``pyarrow.csv`` for a file of so many columns."""
        return arrow_csv.ParseOptions(
            delimiter=self.delimiter,
            quote_char=self.quote or False,
            double_quote=bool(self.quote),
            newlines_in_values=bool(self.quote),
            ignore_empty_lines=columns > 1,
        )


def dialect(
    function: str,
    delimiter: str | None,
    quote: str,
    header: bool | None,
    nulls: list[str],
    encoding: str = UTF_8,
    notations: tuple[tuple[str, str | None, str], ...] = (),
    trim: bool = False,
) -> Dialect:
    """Return the dialect that options describe. Raises AnonError for one that cannot be."""
    if delimiter is not None:
        delimiter = _NAMED.get(delimiter, delimiter)
        hint = (
            Option("--delimiter", "';'", "write") + " or " + Option("--delimiter", "tab", "write")
        )
        _check_sign(function, "--delimiter", delimiter, hint)
    if quote:
        hint = Option("--quote", '"\'"', "write") + ", or " + Option("--quote", "''", "write")
        _check_sign(function, "--quote", quote, hint + " for no quotes")
    if delimiter is not None and delimiter == quote:
        rule = (
            Option("--delimiter", verb="") + " and " + Option("--quote", verb="") + " must differ"
        )
        raise AnonError(function, rule, "the same character")
    return Dialect(
        delimiter,
        quote,
        header,
        ("", *dict.fromkeys(filter(None, nulls))),
        _codec(function, encoding),
        notations,
        trim,
    )


def _codec(function: str, encoding: str) -> str:
    """Return an encoding, UTF-8 by its usual name. Raises AnonError for one that Python lacks."""
    try:
        io.TextIOWrapper(io.BytesIO(), encoding=encoding)  # refuses codecs of bytes
        known = codecs.lookup(encoding).name
    except (LookupError, ValueError):
        rule = Option("--encoding", verb="") + " must be an encoding that Python knows"
        hint = Option("--encoding", WINDOWS, "write") + ", " + Option("--encoding", UTF_16, "")
        raise AnonError(function, rule, f"'{encoding}'", hint) from None
    return UTF_8 if known == UTF_8 else encoding


def _check_sign(function: str, option: str, sign: str, hint: Words) -> None:
    if len(sign) != 1 or not sign.isascii() or sign.isalnum() or sign in "\r\n\0":
        rule = Option(option, verb="") + " must be one sign of ASCII, no letter and no digit"
        raise AnonError(function, rule, f"'{sign}'", hint)


_BUFFER, _HEAD = 1 << 20, 1 << 12  # bytes
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True)
class CsvSource:
    """A CSV file and how errors name it.

    compression: 'gzip', 'zstd' or None. dialect: with a delimiter. delimiter_named: whether the
    user named the delimiter. argument: what the command calls the file.
    """

    path: Path
    compression: str | None
    dialect: Dialect
    delimiter_named: bool
    function: str
    argument: str

    def error(self, rule: str, got: str, hint: str | Words | None = None) -> AnonError:
        """Return an error about the file."""
        return AnonError(self.function, Parameter(self.argument) + f" must {rule}", got, hint)

    def bytes(self) -> pa.NativeFile:
        """Open the file as unpacked bytes of UTF-8."""
        file = self._unpacked()
        if self.dialect.encoding == UTF_8:
            return file
        return pa.transcoding_input_stream(file, self.dialect.encoding, UTF_8)

    def _unpacked(self) -> pa.NativeFile:
        return pa.input_stream(str(self.path), compression=self.compression, buffer_size=_BUFFER)

    def _require_csv(self) -> None:
        """Raise AnonError if the file begins as one of another format does."""
        with self._unpacked() as file:
            found = other_format(file.read(_HEAD), self.dialect.encoding)
        if found is not None:
            raise self.error("be a CSV file", found.name, found.hint)

    @contextmanager
    def lines(self) -> Iterator[Iterator[str]]:
        """Open the file as lines that keep their ends.

        Raises AnonError for a file of another format, a line that is not UTF-8 or has a NUL byte,
        and a file that cannot be unpacked.
        """
        try:
            self._require_csv()
            with self._text("strict") as text:
                yield self._without_nul(text)
        except UnicodeError:  # a file in UTF-16 may also lack its mark
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
        if self.dialect.encoding != UTF_8:
            hint = Option("--encoding", "…") + " with the encoding that the file has"
            return self.error(f"be in the encoding {self.dialect.encoding}", "other bytes", hint)
        with self.bytes() as file:
            if file.read(2) in _UTF16:
                hint = Option("--encoding", UTF_16) + ", or convert it"
                return self.error("be UTF-8", "UTF-16", hint)
        with self._text("surrogateescape") as text:
            for number, line in enumerate(text, 1):
                if not line.isascii() and any("\udc80" <= char <= "\udcff" for char in line):
                    hint = Option("--encoding", WINDOWS) + " if it is from Windows, or convert it"
                    return self.error("be UTF-8", f"other bytes in line {number:,}", hint)
        return self.error("be UTF-8", "other bytes at its end")


_RULE = "have a header in line 1"
_IF_ROW = " if line 1 is a row"
_HINT = (
    Option("--no-header") + _IF_ROW + ", or " + Option("--header", verb="") + " if it is the header"
)


def column_names(source: CsvSource, first: Sequence[str]) -> list[str]:
    """Return the names of the columns; one without a name is ``column_`` and its number.

    Raises AnonError if two names are equal, or if most look like values.
    """
    if source.dialect.header is False:
        return [f"column_{at}" for at in range(1, len(first) + 1)]
    stripped = [name.strip() for name in first]
    names = [name or f"column_{at}" for at, name in enumerate(stripped, 1)]
    if source.dialect.header is None:
        strange = sum(map(_looks_like_value, stripped))
        _check(source, strange * 2 > len(names), strange, len(names), "look like values")
    seen: dict[str, int] = {}
    for at, name in enumerate(names, 1):
        other = seen.setdefault(fold(name), at)
        if other != at:
            got = f"columns {other:,} and {at:,} with one name"
            hint = "rename one of them in line 1, or " + Option("--no-header") + _IF_ROW
            raise source.error("have a header of different names", got, hint)
    return names


def check_values(
    con: duckdb.DuckDBPyConnection,
    source: CsvSource,
    texts: str,
    names: Sequence[str],
    types: Sequence[str],
) -> None:
    """Raise AnonError if the names are probably values of their columns.

    They are if a name is a number or a time as all values of its column are, or if more than half
    of the names also stand among the values. texts: the table of texts, whose columns are f0, f1, …
    """
    if source.dialect.header is not None:
        return
    typed = [(name, kind) for name, kind in zip(names, types, strict=True) if kind != "VARCHAR"]
    casts = [f"TRY_CAST(? AS {kind}) IS NOT NULL" for _, kind in typed]
    if casts:
        fits = con.execute(f"SELECT {', '.join(casts)}", [name for name, _ in typed]).fetchone()
        _check(source, any(fits or ()), sum(fits or ()), len(names), "are values of their columns")
    same = [f"coalesce(bool_or({quote(f'f{at}')} = ?), false)" for at in range(len(names))]
    found = con.execute(f"SELECT {', '.join(same)} FROM {quote(texts)}", list(names)).fetchone()
    stands = sum(found or ())
    _check(source, stands * 2 > len(names), stands, len(names), "are values of their columns")


def _looks_like_value(text: str) -> bool:
    """Return whether a text looks like a value and not like a name, be it one with odd signs."""
    odd = "@" in text or not any(map(str.isalpha, text)) or any(map(str.isdigit, text))
    return odd and not looks_like_name(text)


def _check(source: CsvSource, wrong: bool, count: int, columns: int, what: str) -> None:
    if wrong:
        raise source.error(_RULE, f"{count:,} of {columns:,} names that {what}", _HINT)
