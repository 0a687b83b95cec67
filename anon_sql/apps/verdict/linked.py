"""Judge a release of tables that belong together by ``LINKED``, table by table.

The limits are those of ``VERDICT``; what they are held against stands in the manifest.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from anon_sql.apps.verdict.figures import Figure, Measured
from anon_sql.apps.verdict.rules import RED, VERDICT, Limit, Reason, Verdict, verdict
from anon_sql.apps.verdict.words import UNCHANGED
from anon_sql.core.names import literal, quote

_SUPPRESSED = VERDICT["suppression_rate"]
_LARGER = "Require a larger l, or a larger k."
LINKED: Mapping[str, Limit] = {
    "gcp": replace(
        VERDICT["gcp"],
        says="The labels of {column} have lost {found} of their detail.",
        remedy="Choose a smaller k or l, or fewer quasi-identifiers in {column}.",
    ),
    "left_out": replace(
        _SUPPRESSED,
        says="{found} of the rows of {column} are left out.",
        remedy="Choose a smaller k, or surplus = 'unlink'.",
    ),
    "unlinked": replace(
        _SUPPRESSED,
        says="{found} of the rows of {column} are released as labels alone, without their link.",
        remedy="Choose a smaller k, or leave {column} out.",
        red=None,
    ),
    "rare": replace(
        VERDICT["rare"],
        says="For {found} of the rows of {column}, fewer than k people have the same values of the "
        "kept columns: an attacker who knows {note} of a person is left with few people.",
    ),
    **{name: VERDICT[name] for name in ("determined", "revealing")},
    "certain": replace(
        VERDICT["certain"],
        says="For {found} of the people, all people of the group have the same {column}: an "
        "attacker who finds the group knows it.",
        remedy=_LARGER,
    ),
    "inferred": replace(
        VERDICT["inferred"],
        says="For {found} of the people, nearly all people of the group have the same {column}, "
        "which fewer people of the table have: an attacker who finds the group can infer it.",
        remedy=_LARGER,
        amber=0.05,  # people have several values, so that many of a group share one by chance
        red=0.5,
    ),
}


def judged_tables(
    written: Mapping[str, Any],
    name: str,
    failed: Iterable[str] = (),
    *,
    measured_in: Iterable[Figure] = (),
    accepted: Mapping[str, str] | None = None,
    limits: Mapping[str, Limit] = LINKED,
    environment: str = "contract",
) -> Verdict:
    """Return the verdict on a release.

    written: the manifest, in a file called ``name``. failed: checks that do not hold. measured_in:
    figures of the tables. accepted, limits, environment: as ``verdict`` takes them.
    """
    roles = {
        role: [
            f"{table}.{column}"
            for table, facts in tables(written)
            for column in facts["roles"][role]
        ]
        for role in ("quasi", "sensitive")
    }
    counted = [link["child"] for link in written["links"] if link["role"] == "quasi"]
    sensitive_tables = [each["child"] for each in written["links"] if each["role"] == "sensitive"]
    request = {
        "quasi": [*roles["quasi"], *counted],
        "sensitive": [*roles["sensitive"], *sensitive_tables],
        "k": written["parameters"]["k"],
        "l": written["parameters"]["l"],
    }
    measured = Measured([*_figures(written, name), *measured_in], (), "", request=request)
    judgment = verdict(measured, accepted=accepted, limits=limits, environment=environment)
    broken = [Reason(RED, "audit", f"“{each}” fails.", "", remedy=UNCHANGED) for each in failed]
    return Verdict(RED, [*broken, *judgment.reasons]) if broken else judgment


def tables(written: Mapping[str, Any]) -> Iterable[tuple[str, Mapping[str, Any]]]:
    """Return what a manifest says of each table."""
    by_name: Mapping[str, Mapping[str, Any]] = written["tables"]
    return by_name.items()


def _figures(written: Mapping[str, Any], name: str) -> Iterator[Figure]:
    """Give the figures of each table, each with the statement that reads it from the manifest."""
    for table, facts in tables(written):
        entry, source = f"tables.{quote(table)}", f"FROM read_json({literal(name)})"
        if facts["gcp"] is not None:
            yield Figure("gcp", facts["gcp"], f"SELECT {entry}.gcp {source}", table)
        for share in ("left_out", "unlinked"):
            value = facts[share] / facts["raw_rows"] if facts["raw_rows"] else 0.0
            sql = f"SELECT {entry}.{share} / greatest({entry}.raw_rows, 1) {source}"
            yield Figure(share, value, sql, table)
