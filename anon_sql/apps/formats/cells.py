"""Count the cells of an .xlsx sheet that have no value to read: errors, and unsaved formulas.

A reader gives both as empty cells, so that a workbook without stored results looks like one whose
values are missing.
"""

import posixpath
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.parsers import expat
from zipfile import ZipFile

_BLOCK_BYTES = 1 << 20  # bytes
_MAIN, _RELATIONS = "xl/workbook.xml", "xl/_rels/workbook.xml.rels"


@dataclass
class Unread:
    """Cells without a value. errors: the number by text, such as #N/A; formulas: without result."""

    errors: Counter[str] = field(default_factory=Counter)
    formulas: int = 0


def unread_cells(path: Path, sheet: str, first_row: int) -> Unread:
    """Count the cells of a sheet from a row on. first_row: from 1."""
    with ZipFile(path) as archive, archive.open(_part(archive, sheet)) as file:
        counting = _RowCounter(first_row)
        while block := file.read(_BLOCK_BYTES):
            counting.parser.Parse(block)
        counting.parser.Parse(b"", True)
    return counting.unread


def _part(archive: ZipFile, sheet: str) -> str:
    """Return the part of an archive that holds a sheet. Raises KeyError if there is none."""
    tree = ElementTree.fromstring(archive.read(_MAIN))
    ids = {
        each.get("name"): next((v for k, v in each.attrib.items() if k.endswith("}id")), None)
        for each in tree.iter()
        if _bare(each.tag) == "sheet"
    }
    targets = {
        each.get("Id"): each.get("Target", "")
        for each in ElementTree.fromstring(archive.read(_RELATIONS))
    }
    return posixpath.normpath(posixpath.join("/xl", targets[ids[sheet]])).lstrip("/")


def _bare(tag: str) -> str:
    """Return the name of an element without its namespace."""
    return tag.rpartition("}")[2].rpartition(":")[2]


class _RowCounter:
    """A parser of a sheet that counts cells."""

    def __init__(self, first_row: int):
        self.unread, self._first, self._row = Unread(), first_row, 0
        self._formula = self._error = self._empty = False
        self._within, self._text = False, ""
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._read

    def _start(self, tag: str, attributes: dict[str, Any]) -> None:
        name = _bare(tag)
        if name == "row":
            self._row = int(attributes.get("r", self._row + 1))
        elif name == "c":
            self._formula, self._text = False, ""
            self._error = attributes.get("t") == "e"
            self._empty = attributes.get("t") == "str"  # a formula may give the empty text
        elif name == "f":
            self._formula, self._within = True, False
        elif name == "v":
            self._within = True

    def _read(self, text: str) -> None:
        if self._within:
            self._text += text

    def _end(self, tag: str) -> None:
        self._within = False
        if _bare(tag) != "c" or self._row < self._first:
            return
        if self._error:
            self.unread.errors[self._text] += 1
        self.unread.formulas += self._formula and not (self._text or self._empty)
