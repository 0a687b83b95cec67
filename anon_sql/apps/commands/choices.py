"""The words that options of ``anon-sql release`` take."""

from enum import StrEnum


class Format(StrEnum):
    """Formats of generalized values."""

    LABEL = "label"
    TYPED = "typed"
    MEAN = "mean"
    MEDIAN = "median"


class Effort(StrEnum):
    """Efforts of anonymize."""

    FAST = "fast"
    GOOD = "good"
    BEST = "best"


class Suppressed(StrEnum):
    """Ways to treat suppressed rows."""

    KEEP = "keep"
    DROP = "drop"
