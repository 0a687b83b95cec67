"""Tell which numbers of a statistics file are dates, and read them; each program counts its way."""

import re
from dataclasses import dataclass

_SPSS, _OTHERS = "1582-10-14", "1960-01-01"  # first days
_SECOND = 1_000_000  # microseconds
_DAY = 86_400
# seconds from the first day of SPSS to 1970, and from that of SAS and Stata
_EPOCHS = {_SPSS: 12_219_379_200, _OTHERS: 315_619_200}
DATE, MOMENT, TIME = "DATE", "TIMESTAMP", "TIME"


@dataclass(frozen=True)
class Moment:
    """How numbers mean dates or times.

    kind: the SQL type. first: the day that is 0. unit: the seconds of 1, for a moment or a time;
    how many make a day, for a date. months: of 1, for a date that counts months; weeks: whether it
    counts the 52 weeks of a year.
    """

    kind: str
    first: str
    unit: float = 1
    months: int = 0
    weeks: bool = False

    @property
    def is_time(self) -> bool:
        return self.kind == TIME

    def in_day(self, x: str) -> str:
        """Return the condition that a number is a time of a day."""
        return f"{x} >= 0 AND {x} * {self.unit!r} < {_DAY}"

    def sql(self, x: str) -> str:
        """Return the SQL of a value."""
        if self.kind == TIME:
            micro = f"CAST(round({x} * {self.unit * 1000!r}) AS BIGINT) * 1000"
            return f"CAST(make_timestamp({micro}) AS TIME)"
        if self.kind == MOMENT:
            milli = f"CAST(round({x} * {self.unit * 1000!r}) AS BIGINT)"
            return f"make_timestamp({milli} * 1000 - {_EPOCHS[self.first] * _SECOND})"
        if self.weeks:
            year = f"make_date(1960 + CAST(floor({x} / 52) AS INTEGER), 1, 1)"
            return f"{year} + CAST(7 * ({x} - 52 * floor({x} / 52)) AS INTEGER)"
        if self.months:
            months = f"to_months(CAST({x} * {self.months} AS INTEGER))"
            return f"CAST(DATE '{self.first}' + {months} AS DATE)"
        return f"DATE '{self.first}' + CAST(floor({x} / {self.unit!r}) AS INTEGER)"


_WORD = re.compile(r"([A-Za-z0-9_]*?[A-Za-z_])\d*(\.\d*)?")
_OF_SPSS = {
    **dict.fromkeys(
        ("DATE", "ADATE", "EDATE", "JDATE", "SDATE", "MOYR", "QYR", "WKYR"),
        Moment(DATE, _SPSS, _DAY),
    ),
    **dict.fromkeys(("DATETIME", "YMDHMS"), Moment(MOMENT, _SPSS)),
    **dict.fromkeys(("TIME", "DTIME", "MTIME"), Moment(TIME, _SPSS)),
}
_OF_SAS = (
    (
        re.compile(
            r"(N?L?DATETIME|DTDATE|DTMONYY|DTWKDATX|DTYEAR|DTYYQC|DATEAMPM|MDYAMPM|NLDATM\w*)"
            r"|(E8601|B8601|IS8601)D[TNXZ]\w*"
        ),
        Moment(MOMENT, _OTHERS),
    ),
    (
        re.compile(r"TIME|HHMM|HOUR|TOD|MMSS|TIMEAMPM|NLTIM\w*|(E8601|B8601|IS8601)T[MX]\w*"),
        Moment(TIME, _OTHERS),
    ),
    (
        re.compile(
            r"DATE|N?L?WEEKDAT\w*|WEEK[UVW]?|WORDDAT\w*|DAY|DOWNAME|MONNAME|MONTH|QTRR?|YEAR"
            r"|JULIAN|JULDAY|(DD|MM|YY)(MM|DD|YY)(YY|DD)?[BCDNPS]?|MONYY|YYMON|YYQR?[CDNPS]?"
            r"|NLDATE\w*|(E8601|B8601|IS8601)DA\w*|WEEKDAY"
        ),
        Moment(DATE, _OTHERS),
    ),
)
_OF_STATA = re.compile(r"%-?\d*(?:t(?P<unit>[a-zC])|d)(?P<shown>.*)")
_UNITS = {
    "d": Moment(DATE, _OTHERS),
    "w": Moment(DATE, _OTHERS, weeks=True),
    "m": Moment(DATE, _OTHERS, months=1),
    "q": Moment(DATE, _OTHERS, months=3),
    "h": Moment(DATE, _OTHERS, months=6),
    **dict.fromkeys(("c", "C"), Moment(MOMENT, _OTHERS, 1e-3)),
}
_DAY_IN = re.compile(r"[DdNnMmCYyJjlL]")  # of a format of Stata, letters that show a day


def moment_of(ending: str, written: str | None) -> Moment | None:
    """Return how the numbers of a column mean dates by its format; None for plain numbers."""
    if not written:
        return None
    if ending == ".dta":
        return _of_stata(written)
    match = _WORD.fullmatch(written)
    word = match[1].upper() if match else ""
    if ending in (".sas7bdat", ".xpt"):
        return next((moment for pattern, moment in _OF_SAS if pattern.fullmatch(word)), None)
    return _OF_SPSS.get(word)


def _of_stata(written: str) -> Moment | None:
    match = _OF_STATA.fullmatch(written)
    if match is None:
        return None
    moment = _UNITS.get(match["unit"] or "d")
    shown = match["shown"].replace("MM", "")  # minutes
    if moment and moment.kind == MOMENT and shown and not _DAY_IN.search(shown):
        return Moment(TIME, _OTHERS, moment.unit)
    return moment
