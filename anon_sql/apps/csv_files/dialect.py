"""Define how a CSV file is written: delimiter, quote, header, and which texts are NULL."""

import csv
from dataclasses import dataclass, replace
from typing import Any

from pyarrow import csv as arrow_csv

from anon_sql.errors import AnonError

_NAMED = {"\\t": "\t", "tab": "\t"}


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written.

    delimiter: None for that of the file's extension. quote: '' for none. header: whether the first
    line is the header; None requires that it looks like one. nulls: the texts that are NULL.
    """

    delimiter: str | None = None
    quote: str = '"'
    header: bool | None = None
    nulls: tuple[str, ...] = ("",)

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
) -> Dialect:
    """Return the dialect that options describe. Raises AnonError for one that cannot be."""
    if delimiter is not None:
        delimiter = _NAMED.get(delimiter, delimiter)
        _check_sign(function, "--delimiter", delimiter, "write --delimiter ';' or --delimiter tab")
    if quote:
        _check_sign(function, "--quote", quote, "write --quote \"'\", or --quote '' for no quotes")
    if delimiter is not None and delimiter == quote:
        raise AnonError(function, "--delimiter and --quote must differ", "the same sign")
    return Dialect(delimiter, quote, header, tuple(nulls) or ("",))


def _check_sign(function: str, option: str, sign: str, hint: str) -> None:
    if len(sign) != 1 or not sign.isascii() or sign.isalnum() or sign in "\r\n\0":
        rule = f"{option} must be one sign of ASCII, no letter and no digit"
        raise AnonError(function, rule, f"'{sign}'", hint)
