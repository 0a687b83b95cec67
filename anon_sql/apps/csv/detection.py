"""Propose the encoding of a CSV file, and detect the delimiter between its fields.

No bytes prove an encoding of one byte per letter, so such an encoding is proposed and never taken.
charset-normalizer takes German texts in windows-1252 for windows-1250 and Polish ones the other way
round, since it looks for the languages of long texts. Tables have words, so the letters of
languages decide, and charset-normalizer decides what they leave open, such as Chinese.
"""

import codecs
import csv
import io
from collections.abc import Callable, Sequence

import pyarrow as pa

from anon_sql.apps.csv.dialect import UTF_8, UTF_16, Dialect

DELIMITERS = {",": "','", ";": "';'", "\t": "tab", "|": "'|'"}  # as options write them
_COMPARED = 200  # lines that must have one number of fields
_HEAD = 1 << 18  # bytes that are looked at for the delimiter
_BLOCK_BYTES, _SAMPLE = (
    1 << 20,
    1 << 16,
)  # bytes that are read at once, and that decide the encoding
_ZEROS = 0.2  # least share of zero bytes in UTF-16
_MARKS = (b"\xff\xfe", b"\xfe\xff")  # of UTF-16
_CYRILLIC = "абвгдежзийклмнопрстуфхцчшщъыьэюя"
_LANGUAGES = (  # letters beside those of ASCII, in lower case; with those of frequent names
    "äöüßéèêàáçñôó",  # German
    "àâæçéèêëîïôœùûüÿñ",  # French
    "áéíñóúüç",  # Spanish
    "áâãàçéêíóôõúü",  # Portuguese
    "àèéìíîòóùç",  # Italian
    "æøåäöéüáðíóúýþ",  # Danish, Norwegian, Swedish, Finnish, Icelandic
    "ëïéèóöüç",  # Dutch
    "ąćęłńóśźż",  # Polish
    "áčďéěíňóřšťúůýž",  # Czech
    "áäčďéíĺľňóôŕšťúýž",  # Slovak
    "áéíóöőúüű",  # Hungarian
    "ăâîşţșț",  # Romanian
    "čćđšž",  # Croatian, Slovene
    "çğ\u0131öşüâîİ".lower(),  # Turkish
    "ąčęėįšųūž",  # Lithuanian
    "āčēģīķļņšūž",  # Latvian
    "äöõüšž",  # Estonian
    _CYRILLIC + "ё",  # Russian, Bulgarian
    "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя",  # Ukrainian
    "абвгдђежзијклљмнњопрстћуфхцчџш",  # Serbian
    "αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰ",  # Greek
    "אבגדהוזחטיךכלםמןנסעףפץצקרשת",  # Hebrew
)
ENCODINGS = {  # that letters decide; of two that fit, the first
    "windows-1252": "Windows-1252 (Western Europe)",
    "iso-8859-15": "ISO-8859-15 (Latin 9)",
    "windows-1250": "Windows-1250 (Central Europe)",
    "iso-8859-2": "ISO-8859-2 (Central Europe)",
    "windows-1251": "Windows-1251 (Cyrillic)",
    "koi8-r": "KOI8-R (Cyrillic)",
    "cp866": "DOS 866 (Cyrillic)",
    "windows-1253": "Windows-1253 (Greek)",
    "windows-1254": "Windows-1254 (Turkish)",
    "windows-1255": "Windows-1255 (Hebrew)",
    "windows-1257": "Windows-1257 (Baltic)",
    "cp850": "DOS 850 (Western Europe)",
    "cp852": "DOS 852 (Central Europe)",
    "macintosh": "Macintosh (Western Europe)",
}
OTHERS = {  # that charset-normalizer decides, by its names
    "gb18030": "GB 18030 (Chinese)",
    "big5": "Big5 (Chinese)",
    "cp932": "Shift JIS (Japanese)",
    "euc_jp": "EUC-JP (Japanese)",
    "cp949": "EUC-KR (Korean)",
    "tis_620": "TIS-620 (Thai)",
}
_SIGNS = {*"€–—„“”‚‘’…«»°§²³µ·•™®©№¿¡\u00a0"}  # beside words  # noqa: RUF001
_LATIN = "\u024f"  # the last letter with an ASCII letter beside it
_ENOUGH = 0.9  # share of signs that fit an encoding


def encoding_of(unpacked: Callable[[], pa.NativeFile]) -> str | None:
    """Return the encoding that a file probably has, UTF_8 if it is that, None if none fits.

    unpacked: opens the file as unpacked bytes, all of which are looked at.
    """
    with unpacked() as file:
        head = file.read(_BLOCK_BYTES)
        if head[:2] in _MARKS:
            return UTF_16
        if head.count(b"\0") > len(head) * _ZEROS:
            even = head[::2].count(0) > head[1::2].count(0)
            return f"{UTF_16}-be" if even else f"{UTF_16}-le"
        if _is_utf_8(file, head):
            return UTF_8
    with unpacked() as file:
        sample = _lines_with_letters(file)
    if _is_damaged(sample):
        return None
    scores = {name: _score(sample, name) for name in ENCODINGS}
    best = max(scores, key=lambda name: scores[name])
    if scores[best] >= _ENOUGH:
        return best
    import charset_normalizer

    best_match = charset_normalizer.from_bytes(sample, cp_isolation=[*OTHERS]).best()
    return None if best_match is None else best_match.encoding


def _is_utf_8(file: pa.NativeFile, head: bytes) -> bool:
    decoder = codecs.getincrementaldecoder(UTF_8)()
    try:
        while head:
            decoder.decode(head)
            head = file.read(_BLOCK_BYTES)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _lines_with_letters(file: pa.NativeFile) -> bytes:
    """Return the first lines with bytes beyond ASCII; no other line tells encodings apart."""
    sample = bytearray()
    for line in io.BufferedReader(file, _BLOCK_BYTES):
        if not line.isascii():
            sample += line[:_SAMPLE]
        if len(sample) >= _SAMPLE:
            break
    return bytes(sample)


def _is_damaged(sample: bytes) -> bool:
    """Return whether most letters beyond ASCII are UTF-8, so that the others are damaged."""
    letters = [sign for sign in sample.decode(UTF_8, "replace") if not sign.isascii()]
    return letters.count("\ufffd") * 2 < len(letters)


def _score(sample: bytes, encoding: str) -> float:
    """Return the share of the signs beyond ASCII that the language that fits best has."""
    try:
        text = f" {sample.decode(encoding)} "
    except UnicodeDecodeError:
        return 0.0
    signs = [text[i - 1 : i + 2] for i in range(1, len(text) - 1) if text[i] > "~"]
    if not signs:
        return 0.0
    likely = [around for around in signs if _is_likely(around)]
    of_language = max(
        sum(around[1].lower() in letters for around in likely) for letters in _LANGUAGES
    )
    return (sum(around[1] in _SIGNS for around in likely) + of_language) / len(signs)


def _is_likely(around: str) -> bool:
    """Return whether a sign can stand between two others.

    A capital does not follow a small letter, a word has letters of one alphabet, and a sign such as
    ³ does not stand between two letters.
    """
    before, sign, after = tuple(around)
    if sign in _SIGNS:
        return not (before.isalpha() and after.isalpha()) or sign == "’"  # noqa: RUF001
    beside = (before.isascii() and before.isalpha()) or (after.isascii() and after.isalpha())
    return not (sign.isupper() and before.islower()) and not (beside and sign > _LATIN)


def delimiters_of(unpacked: Callable[[], pa.NativeFile], dialect: Dialect) -> list[str]:
    """Return the delimiters that give the first lines of a file as many fields each, over one."""
    with unpacked() as file:
        head = file.read(_HEAD)
    text = head.decode(dialect.encoding, "replace").removeprefix("\ufeff")
    lines = text.splitlines(keepends=True)[: None if len(head) < _HEAD else -1]
    return [sign for sign in DELIMITERS if _fields(lines, dialect, sign) > 1]


def _fields(lines: Sequence[str], dialect: Dialect, sign: str) -> int:
    """Return the number of fields in each of the first lines, 0 if it differs."""
    counts: set[int] = set()
    try:
        for number, row in enumerate(csv.reader(iter(lines), **dialect.python(sign))):
            if number == _COMPARED:
                break
            counts |= {len(row)} if row else set()
    except csv.Error:
        return 0
    return counts.pop() if len(counts) == 1 else 0
