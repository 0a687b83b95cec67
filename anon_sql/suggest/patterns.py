"""Recognize values that name a person or a place on the internet, in a sample of a column.

The sample does not leave this module: only the name of a pattern and a share do.
"""

import ipaddress
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_EMAIL = re.compile(r"[\w.+%'-]+@(?:[\w-]+\.)+[^\W\d_]{2,}")
_URL = re.compile(r"(?:https?|ftp)://\S+|www\.[\w-]+\.\S+", re.IGNORECASE)
_UUID = re.compile(r"\{?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\}?", re.IGNORECASE)
_IBAN = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}")
_CARD = re.compile(r"[2-6]\d{12,18}")
_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}")
_PHONE = re.compile(
    r"(?:\+|00)\s?\d[\d\s()./-]{6,20}(?:\s?(?:x|ext\.?)\s?\d{1,6})?"  # international
    r"|\(?0\d{1,5}\)?[\s/.-]*\d[\d\s/.-]{3,14}"  # with a leading zero
    r"|(?:1[-. ]?)?\(?[2-9]\d{2}\)?[-. ]\s?\d{3}[-. ]\d{4}(?:\s?(?:x|ext\.?)\s?\d{1,6})?"  # US
)


@dataclass(frozen=True)
class Pattern:
    """A kind of value. least: share of a column's values that must look like it."""

    says: str
    least: float
    matches: Callable[[str], bool]


def is_iban(text: str) -> bool:
    """Return whether a text is an IBAN, blanks aside, whose check digits are right (mod 97)."""
    letters = text.replace(" ", "").upper()
    if not _IBAN.fullmatch(letters):
        return False
    return int("".join(str(int(char, 36)) for char in letters[4:] + letters[:4])) % 97 == 1


def is_card(text: str) -> bool:
    """Return whether a text is a number of 13 to 19 digits whose check digit is right (Luhn)."""
    digits = re.sub(r"(?<=\d)[ -](?=\d)", "", text)
    if not _CARD.fullmatch(digits):
        return False
    doubled = [int(char) * (1 + at % 2) for at, char in enumerate(reversed(digits))]
    return sum(number - 9 * (number > 9) for number in doubled) % 10 == 0


def is_phone(text: str) -> bool:
    """Return whether a text looks like a phone number: 7 to 15 digits as they are written."""
    if not _PHONE.fullmatch(text) or _DATE.fullmatch(text):
        return False
    return 7 <= sum(char.isdigit() for char in text) <= 21


def is_ip(text: str) -> bool:
    """Return whether a text is an IP address, version 4 or 6."""
    if text.count(".") != 3 and text.count(":") < 2:
        return False
    try:
        ipaddress.ip_address(text.partition("/")[0])
    except ValueError:
        return False
    return True


PATTERNS = (
    Pattern("an e-mail address", 0.01, lambda text: bool(_EMAIL.search(text))),
    Pattern("an IBAN", 0.01, is_iban),
    Pattern("a card number", 0.5, is_card),  # one number in ten has the right check digit
    Pattern("a UUID", 0.1, lambda text: bool(_UUID.fullmatch(text))),
    Pattern("an IP address", 0.1, is_ip),
    Pattern("a web address", 0.1, lambda text: bool(_URL.search(text))),
    Pattern("a phone number", 0.25, is_phone),
)


def recognized(values: Sequence[str]) -> tuple[Pattern, float] | None:
    """Return the first pattern that enough values have, and their share; None if there is none."""
    texts = Counter(text for text in (value.strip() for value in values) if text)
    for pattern in PATTERNS:
        count = sum(number for text, number in texts.items() if pattern.matches(text))
        if count and count >= pattern.least * texts.total():
            return pattern, count / texts.total()
    return None


def mean_words(values: Sequence[str]) -> float:
    """Return the mean number of words of the values; 0 without values."""
    return sum(len(value.split()) for value in values) / len(values) if values else 0.0
