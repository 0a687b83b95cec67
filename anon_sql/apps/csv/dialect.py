"""Define how a CSV file is written."""

import codecs
import csv
import io
from dataclasses import dataclass, replace
from typing import Any

from pyarrow import csv as arrow_csv

from anon_sql.errors import AnonError, Option, Words

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
    CSV. sheet, first_row: of a workbook, the sheet that is read, and the row of its headings from
    1. missing: of a statistics file, the codes that mean a missing value, by column, in place of
    those that the file declares. as_codes: columns whose codes are their values, not the labels of
    these. variable_labels: whether a release keeps its variable labels. without_total_row: whether
    the last row, which must be a total, is left out.
    """

    delimiter: str | None = None
    quote: str = '"'
    header: bool | None = None
    nulls: tuple[str, ...] = ("",)
    encoding: str = UTF_8
    notations: tuple[tuple[str, str | None, str], ...] = ()
    trim: bool = False
    sheet: str | None = None
    first_row: int = 1
    missing: tuple[tuple[str, tuple[str, ...]], ...] = ()
    as_codes: tuple[str, ...] = ()
    variable_labels: bool = False
    without_total_row: bool = False

    def named(self, delimiter: str) -> "Dialect":
        """Return the dialect with this delimiter if it has none."""
        return replace(self, delimiter=delimiter) if self.delimiter is None else self

    def python(self, delimiter: str | None = None) -> dict[str, Any]:
        """Return the arguments of ``csv.reader``. delimiter: another than that of the dialect."""
        quoting = csv.QUOTE_MINIMAL if self.quote else csv.QUOTE_NONE
        return {
            "delimiter": delimiter or self.delimiter,
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
        codec_name = codecs.lookup(encoding).name
    except (LookupError, ValueError):
        rule = Option("--encoding", verb="") + " must be an encoding that Python knows"
        hint = Option("--encoding", WINDOWS, "write") + ", " + Option("--encoding", UTF_16, "")
        raise AnonError(function, rule, f"'{encoding}'", hint) from None
    return UTF_8 if codec_name == UTF_8 else encoding


def _check_sign(function: str, option: str, sign: str, hint: Words) -> None:
    if len(sign) != 1 or not sign.isascii() or sign.isalnum() or sign in "\r\n\0":
        rule = Option(option, verb="") + " must be one sign of ASCII, no letter and no digit"
        raise AnonError(function, rule, f"'{sign}'", hint)
