"""Put an error of a SQL function into the words of the command line: options for parameters."""

import re

_OPTIONS = {
    "qids": "--quasi",
    "identifiers": "--identifier",
    "l_kind": "--l-kind",
    **{name: f"--{name}" for name in ("sensitive", "keep", "entity", "hierarchy")},
    **{name: f"--{name}" for name in ("k", "l", "c", "t", "beta", "delta", "seed")},
    **{name: f"--{name}" for name in ("format", "suppressed", "strata", "weights")},
    **{name: f"--{name}" for name in ("ks", "methods")},
    **{name: f"--{name}" for name in ("previous", "like")},
    "suppression_limit": "--suppression-limit",
    "key": "--ledger-key",
}
_NAMES = "|".join(_OPTIONS)
_DECLARED = [  # a file has no comments
    r" or declare it: COMMENT ON COLUMN \S+ IS '[^']*'",
    r"declare it \(COMMENT ON COLUMN \S+ IS '[^']*'\), ",
    r" or declare it\b",
    r" or change what is declared\b",
]
_LISTED = re.compile(rf"\b({_NAMES}) := \[((?:'(?:[^']|'')*'(?:, )?|…)*)\]")
_GIVEN = re.compile(rf"\b({_NAMES}) := ('(?:[^']|'')*'|[^\s,;]+)")
_SUBJECT = re.compile(rf"(?<=: )({_NAMES})(?= (?:must|needs|and)\b)|(?<= where )(l_kind)\b")
_SPOKEN = re.compile(
    rf"(?<![\w'-])(qids|identifiers|l_kind)\b(?!')|(?<=\b(?:in|of) )(?:{_NAMES})\b"
    rf"|(?<=\braise )(?:{_NAMES})\b"
)
_SERIES = re.compile(rf"((?:--\S+, |--\S+ (?:and|or) )+)({_NAMES})\b")
_HIERARCHY = re.compile(r"^hierarchy: the relation must")
_LEDGER = re.compile(r"^ledger(?:_overlap|_entry)?: (ledger must\b)?")


def in_options(text: str) -> str:
    """Return the text of an error with the options of a command instead of parameters."""
    for declared in _DECLARED:
        text = re.sub(declared, "", text)
    text = _HIERARCHY.sub("release: --hierarchy must", text)
    text = _LEDGER.sub(lambda found: f"release: {'--' if found[1] else ''}{found[1] or ''}", text)
    text = _LISTED.sub(lambda found: f"{_OPTIONS[found[1]]} {_columns(found[2])}", text)
    text = _GIVEN.sub(lambda found: f"{_OPTIONS[found[1]]} {found[2].strip(chr(39))}", text)
    text = _SUBJECT.sub(_option, text)
    text = _SPOKEN.sub(_option, text)
    before = ""
    while before != text:
        before = text
        text = _SERIES.sub(lambda found: f"{found[1]}{_OPTIONS[found[2]]}", text)
    return text


def _option(found: re.Match[str]) -> str:
    return _OPTIONS[found[0]]


def _columns(listed: str) -> str:
    """Return the texts of a SQL list as the value of an option."""
    columns = ",".join(re.findall(r"'((?:[^']|'')*)'", listed))
    return "'*'" if columns == "*" else columns
