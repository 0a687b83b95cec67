"""Read the role that a column comment declares by a tag such as ``anon:quasi``."""

import re
import unicodedata

ROLES = ("identifier", "quasi", "sensitive", "keep")
_TAGS = {f"anon:{role}": role for role in ROLES}
_LIKE_TAG = re.compile(
    r"""[\w-]*anon[\w.-]*(?:\s*|[^\w:]{0,3}):"""  # anon before a colon, in quotes or a longer word
    r"""\s*[^\s,;.:!?()\[\]{}<>"'“”„«»`]*""",  # the role, up to a blank or a sign that ends a word
    re.IGNORECASE,
)
_ALIKE = str.maketrans("аαоο∶꞉ː", "aaoo:::")  # noqa: RUF001 - letters and colons that look alike
_INVISIBLE = ("Cf", "Mn")  # formats, such as the zero-width space, and combining accents


def tag(comment: str | None) -> str | None:
    """Return the role that a comment declares, or None.

    Whatever contains ``anon`` before a colon, in any case, with blanks, signs or invisible
    characters or within another word, is meant as a tag. Raises ValueError if it is not the exact
    tag of a role, and for two roles.
    """
    written, meant = _like(comment or ""), _like(_plain(comment or ""))
    if wrong := written - set(_TAGS) or meant - set(_TAGS):
        shown = " ".join(min(wrong).split())
        raise ValueError(f"the tag {shown} is none of {', '.join(_TAGS)}")
    if hidden := meant - written:
        raise ValueError(f"the tag {min(hidden)} must be written in plain ASCII characters")
    if len(meant) > 1:
        raise ValueError(f"the tags {' and '.join(sorted(meant))} exclude each other")
    return next((_TAGS[text] for text in meant), None)


def clear_tag(comment: str | None) -> str | None:
    """Return the role that a comment declares; None also if ``tag`` rejects the comment.

    ``assign`` raises AnonError for a comment that ``tag`` rejects.
    """
    try:
        return tag(comment)
    except ValueError:
        return None


def has_tag(comment: str | None) -> bool:
    """Return whether anything in a comment is meant as a tag, clear or not."""
    return bool(_like(_plain(comment or "")))


def without_tags(comment: str | None) -> str:
    """Return a comment without whatever is meant as a tag."""
    left = _LIKE_TAG.sub("", comment or "")
    return _LIKE_TAG.sub("", _plain(left)) if has_tag(left) else left


def _like(text: str) -> set[str]:
    """Return the parts of a text that look like tags."""
    return {found.rstrip() for found in _LIKE_TAG.findall(text)}


def _plain(text: str) -> str:
    """Return a text without invisible characters, with ASCII for characters that look like it."""
    shown = unicodedata.normalize("NFKD", text).translate(_ALIKE)
    return "".join(char for char in shown if unicodedata.category(char) not in _INVISIBLE)
