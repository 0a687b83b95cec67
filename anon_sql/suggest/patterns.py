"""Recognize values that name a person, an account, a device or a place on the internet.

A sample of a column does not leave this module: only the name of a pattern and a share do. Official
numbers are recognized by their check digits where they have any, and otherwise by a form that
hardly anything else has.
"""

import ipaddress
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

_BETWEEN_LETTERS, _BETWEEN_DIGITS = re.compile(r"[\s./-]"), re.compile(r"(?<=\d)[ -](?=\d)")
_EMAIL = re.compile(r"[\w.+%'-]+@(?:[\w-]+\.)+[^\W\d_]{2,}")
_URL = re.compile(r"(?:https?|ftp)://\S+|www\.[\w-]+\.\S+", re.IGNORECASE)
_UUID = re.compile(r"\{?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\}?", re.IGNORECASE)
_MAC = re.compile(r"[0-9a-f]{2}(?:([:-])[0-9a-f]{2})(?:\1[0-9a-f]{2}){4}", re.IGNORECASE)
_IBAN = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}")
_CARD = re.compile(r"[2-6]\d{12,18}")
_IMEI = re.compile(r"\d{15}")
_VIN = re.compile(r"(?=.*[A-Z])(?=.*\d)[A-HJ-NPR-Z0-9]{17}")
_PICTURE = re.compile(r"[^\n]+\.(?:jpe?g|png|gif|tiff?|bmp|heic|webp|dcm|raw|wsq)", re.IGNORECASE)
_SSN = re.compile(r"(?!000|666|9)\d{3}-(?!00)\d\d-(?!0000)\d{4}")
_PENSION = re.compile(r"\d{2}(\d{2})(\d{2})\d{2}[A-Z]\d{3}")
_TAX = re.compile(r"[1-9]\d{10}")
_NIR = re.compile(r"([1-478]\d\d(?:[0-7]\d|[89]\d)(?:\d\d|2[AB])\d{6})(\d\d)")
_DNI = re.compile(r"([XYZ]?\d{7,8})([A-Z])")
_FISCAL = re.compile(r"[A-Z]{6}[\dL-NP-V]{2}[ABCDEHLMPRST][\dL-NP-V]{2}[A-Z][\dL-NP-V]{3}[A-Z]")
_NINO = re.compile(r"(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]\d{6}[A-D]")
_PLATES = re.compile(
    r"[A-ZÄÖÜ]{1,3}[- ][A-Z]{1,2} ?\d{1,4}[EH]?"  # Germany
    r"|[A-HJ-NP-TV-Z]{2}[- ]?\d{3}[- ]?[A-HJ-NP-TV-Z]{2}"  # France, Italy
    r"|\d{4}[- ]?[BCDFGHJ-NPR-TV-Z]{3}"  # Spain
)
_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}")
_PHONE = re.compile(
    r"(?:\+|00)\s?\d[\d\s()./-]{6,20}(?:\s?(?:x|ext\.?)\s?\d{1,6})?"  # international
    r"|\(?0\d{1,5}\)?[\s/.-]*\d[\d\s/.-]{3,14}"  # with a leading zero
    r"|(?:1[-. ]?)?\(?[2-9]\d{2}\)?[-. ]\s?\d{3}[-. ]\d{4}(?:\s?(?:x|ext\.?)\s?\d{1,6})?"  # US
)


@dataclass(frozen=True)
class Pattern:
    """A kind of value.

    least: share of a column's values that must look like it. shortest: characters that such a value
    has at least, since most values are too short for most patterns. different: share of these
    values that must be different, where a category can look like it.
    """

    kind: str
    least: float
    shortest: int
    matches: Callable[[str], bool]
    different: float = 0.0


def _letters(text: str) -> str:
    """Return a text in upper case without blanks, dots, hyphens and slashes."""
    return _BETWEEN_LETTERS.sub("", text).upper()


def _has_luhn_digit(digits: str) -> bool:
    """Return whether the check digit of a number is right (Luhn)."""
    doubled = [int(char) * (1 + position % 2) for position, char in enumerate(reversed(digits))]
    return sum(number - 9 * (number > 9) for number in doubled) % 10 == 0


def is_iban(text: str) -> bool:
    """Return whether a text is an IBAN, blanks aside, whose check digits are right (mod 97)."""
    letters = text.replace(" ", "").upper()
    if not _IBAN.fullmatch(letters):
        return False
    return int("".join(str(int(char, 36)) for char in letters[4:] + letters[:4])) % 97 == 1


def is_card(text: str) -> bool:
    """Return whether a text is a number of 13 to 19 digits whose check digit is right (Luhn)."""
    digits = _BETWEEN_DIGITS.sub("", text)
    return bool(_CARD.fullmatch(digits)) and _has_luhn_digit(digits)


def is_imei(text: str) -> bool:
    """Return whether a text is a number of 15 digits whose check digit is right (Luhn)."""
    digits = _BETWEEN_DIGITS.sub("", text)
    return bool(_IMEI.fullmatch(digits)) and _has_luhn_digit(digits)


def is_vin(text: str) -> bool:
    """Return whether a text has the form of a vehicle identification number."""
    return bool(_VIN.fullmatch(text.upper())) and text[-4:].isdigit()


def is_social_security_number(text: str) -> bool:
    """Return whether a text is a social security number of the United States, with hyphens."""
    return bool(_SSN.fullmatch(text))


def is_german_number(text: str) -> bool:
    """Return whether a text is a German pension insurance number or tax number, by check digits."""
    letters = _letters(text)
    if born := _PENSION.fullmatch(letters):
        day, month = int(born[1]), int(born[2])
        digits = f"{letters[:8]}{ord(letters[8]) - 64:02d}{letters[9:]}"
        products = (
            int(d) * w for d, w in zip(digits, (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2), strict=False)
        )
        total = sum(sum(divmod(each, 10)) for each in products)
        return 0 < month <= 12 and day > 0 and total % 10 == int(digits[-1])
    if not _TAX.fullmatch(letters):
        return False
    most = Counter(letters[:10]).most_common()
    if not 8 <= len(most) <= 9 or most[0][1] > 3:
        return False
    product = 10
    for digit in letters[:10]:
        product = ((int(digit) + product) % 10 or 10) * 2 % 11
    return (11 - product) % 10 == int(letters[10])


def is_nir(text: str) -> bool:
    """Return whether a text is a French social security number with its key (mod 97)."""
    matched = _NIR.fullmatch(_letters(text))
    if not matched:
        return False
    body = matched[1]
    for corsica, department in (("A", "19"), ("B", "18")):
        if body[6] == corsica:
            body = body[:5] + department + body[7:]
    return 97 - int(body) % 97 == int(matched[2])


def is_dni(text: str) -> bool:
    """Return whether a text is a Spanish DNI or NIE, by its letter (mod 23)."""
    matched = _DNI.fullmatch(_letters(text))
    if not matched or len(matched[1]) != 8:
        return False
    number = int(matched[1].translate(str.maketrans("XYZ", "012")))
    return "TRWAGMYFPDXBNJZSQVHLCKE"[number % 23] == matched[2]


def is_fiscal_code(text: str) -> bool:
    """Return whether a text is an Italian codice fiscale, by its last letter (mod 26)."""
    letters = _letters(text)
    if not _FISCAL.fullmatch(letters):
        return False
    odd = (
        1,
        0,
        5,
        7,
        9,
        13,
        15,
        17,
        19,
        21,
        2,
        4,
        18,
        20,
        11,
        3,
        6,
        8,
        12,
        14,
        16,
        10,
        22,
        25,
        24,
        23,
    )
    values = [int(char) if char.isdigit() else ord(char) - 65 for char in letters[:15]]
    total = sum(odd[value] if position % 2 == 0 else value for position, value in enumerate(values))
    return chr(65 + total % 26) == letters[15]


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


def _matches_whole(pattern: re.Pattern[str], text: str) -> bool:
    return bool(pattern.fullmatch(text))


# A number in ten has the right check digit by chance, so that half of them must have it.
PATTERNS = (
    Pattern("an e-mail address", 0.01, 6, lambda text: bool(_EMAIL.search(text))),
    Pattern("an IBAN", 0.01, 15, is_iban),
    Pattern("a social security number", 0.1, 11, is_social_security_number),
    Pattern("a French social security number", 0.1, 15, is_nir),
    Pattern("an Italian codice fiscale", 0.1, 16, is_fiscal_code),
    Pattern("a Spanish DNI or NIE", 0.25, 9, is_dni),
    Pattern(
        "a British national insurance number",
        0.5,
        9,
        lambda text: _matches_whole(_NINO, _letters(text)),
    ),
    Pattern("a German pension or tax number", 0.5, 11, is_german_number),
    Pattern("a card number", 0.5, 13, is_card),
    Pattern("an IMEI", 0.5, 15, is_imei),
    Pattern("a UUID", 0.1, 36, partial(_matches_whole, _UUID)),
    Pattern("a MAC address", 0.1, 17, partial(_matches_whole, _MAC)),
    Pattern("an IP address", 0.1, 2, is_ip),
    Pattern("a web address", 0.1, 7, lambda text: bool(_URL.search(text))),
    Pattern("a vehicle identification number", 0.5, 17, is_vin),
    Pattern("the name of a picture", 0.5, 5, partial(_matches_whole, _PICTURE), different=0.1),
    Pattern("a phone number", 0.25, 7, is_phone),
    Pattern("a number plate", 0.9, 4, partial(_matches_whole, _PLATES), different=0.5),
)


def recognized(values: Sequence[str]) -> tuple[Pattern, float] | None:
    """Return the first pattern that enough values have, and their share; None if there is none."""
    texts = Counter(text for text in (value.strip() for value in values) if text)
    for pattern in PATTERNS:
        long_enough = (text for text in texts if len(text) >= pattern.shortest)
        matching = [text for text in long_enough if pattern.matches(text)]
        count = sum(texts[text] for text in matching)
        if (
            count
            and count >= pattern.least * texts.total()
            and len(matching) >= pattern.different * count
        ):
            return pattern, count / texts.total()
    return None


def mean_words(values: Sequence[str]) -> float:
    """Return the mean number of words of the values; 0 without values."""
    return sum(len(value.split()) for value in values) / len(values) if values else 0.0
