"""Write and read the manifest of a release, of one table or of linked ones.

The manifest of a table is what ``anon_manifest`` says, that of linked tables comes with their
release; both get the hashes of the files.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb

from anon_sql.core.common_parameters import UNIT
from anon_sql.core.duckdb_internals.hashing import ROW_HASH
from anon_sql.errors import AnonError
from anon_sql.hosts import documents, linked_manifest
from anon_sql.hosts.documents import COUNT, NAMES, NUMBER, PLAIN, SHA256, SHARE, Each, Optional
from anon_sql.hosts.files import digest, files_of
from anon_sql.hosts.linked_manifest import MARK
from anon_sql.privacy import MODELS, VALUE_MODELS
from anon_sql.version import VERSION

FORM = 1
_RULE = f"the manifest must be one of form {FORM}"
ENDING = ".anon.json"
LEVELS = tuple(model.name for model in MODELS)
_VALUE_MODELS = {model.name: model for model in VALUE_MODELS}
# parameters of a release that its audit reads, that its manifest states, and one that only the
# audit reads
REQUIRED = (
    *(name for model in MODELS for name in model.parameters()),
    *("entity", "suppressed", "ordered"),
)
PROMISED = (*REQUIRED, "seed")
UNIQUE = "unique_share"
LIMIT = "previous_share"  # on what composition finds with earlier releases
STATE = ("series", "key")  # that a release of a series has
STATEMENT = (  # what a release is for, for whom, and when that is looked at again
    *("purpose", "recipient", "environment", "assumptions", "review_by", "review"),
)
ROLES = ("quasi", "sensitive", "identifiers", "keep", "exclude")  # as functions call them
_TEXT, _NUMBER = (str, None), (*NUMBER, None)
_KINDS = {"k": (COUNT, None), "seed": (COUNT, None), "hierarchy": bool, "options": (dict, None)}
_TEXTS = ("l_kind", "beta_kind", "entity", "suppressed")
CHECK = {"property": str, "required": _NUMBER, "found": _NUMBER, "passed": (bool, None)}
_COMMON: dict[str, Any] = {  # of a manifest of one table and of linked ones
    "statement": Optional(
        {
            **dict.fromkeys(("purpose", "recipient"), _TEXT),
            **dict.fromkeys(("environment", "review_by"), Optional(_TEXT)),
            "assumptions": NAMES,
            "review": Optional(NAMES),
        }
    ),
    "versions": {"anon_sql": str, "duckdb": str, "row_hash": Optional(int)},
    "recipe": Optional(({"sha256": SHA256}, None)),
}
_SHAPE: dict[str, Any] = {
    **_COMMON,
    "method": _TEXT,
    "statement": _COMMON["statement"].shape,
    "parameters": {
        **dict.fromkeys(PROMISED, _NUMBER),
        **dict.fromkeys(_TEXTS, _TEXT),
        **_KINDS,
        UNIQUE: Optional(_NUMBER),
        UNIT: Optional(str),
        "ordered": Optional((list, str, None)),
    },
    "roles": dict.fromkeys([*ROLES, "without_role"], NAMES),
    "raw": {"schema_sha256": SHA256},
    "achieved": dict.fromkeys(LEVELS, _NUMBER),
    "series": {
        "previous": [{"name": str, "sha256": SHA256}],
        "previous_share": SHARE,
        "cohorts": Optional(
            (
                {  # of a release of a series
                    **dict.fromkeys(("release", "former", "waiting"), COUNT),
                    "l": (COUNT, None),
                    "largest_waiting_share": _NUMBER,
                },
                None,
            )
        ),
    },
    "checks": [CHECK],
    "measures": Each(_NUMBER),
    "loss": [{"attribute": str, "ncp": _NUMBER}],
    "output": {"sha256": SHA256, "files": Optional([PLAIN])},
}
# what a manifest of a version says that did not have these parameters
_UNASKED = {
    name: parameter.default
    for model in MODELS
    for name, parameter in model.parameters().items()
    if model.parameters()[model.name].default is None
}


def stated(statement: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a recipe states, by STATEMENT: None or an empty list for what it does not."""
    lists = {name: list(statement.get(name) or ()) for name in ("assumptions", "review")}
    return {**{name: statement.get(name) or None for name in STATEMENT}, **lists}


def is_required(name: str, level: Any) -> bool:
    """Return whether the level of a privacy model asks for something."""
    if name in _VALUE_MODELS:
        return _VALUE_MODELS[name].asks(level)
    return level is not None


def beside(path: Path) -> Path:
    """Return the path of the manifest of a file or folder."""
    named = path.resolve() if path.name in ("", "..") else path
    return named.parent / (named.name + ENDING)


def make(
    con: duckdb.DuckDBPyConnection,
    tables: tuple[str, str],
    method: str | None,
    parameters: Mapping[str, Any],
    roles: Mapping[str, Any],
    hierarchy: str | None,
    earlier: Mapping[str, Path] | None = None,
) -> dict[str, Any]:
    """Return the manifest of a release, without the hash of its file.

    tables: names of the raw table and of the release. parameters: those of PROMISED, UNIQUE, UNIT,
    LIMIT, STATEMENT and STATE, and ``options``. roles: column names by ROLES. hierarchy: the
    relation, or None. earlier: the files of earlier releases, by relation.
    """
    stated = (*PROMISED, UNIQUE, UNIT, LIMIT, *STATEMENT, "options", *STATE)
    arguments = {
        "raw": tables[0],
        "released": tables[1],
        "method": method,
        **{name: parameters.get(name) for name in stated},
        **{name: roles[name] for name in ROLES},
        "hierarchy": hierarchy,
        "previous": list(earlier) if earlier else None,
    }
    arguments = {name: value for name, value in arguments.items() if value is not None}
    listed = ", ".join(f"{name} := ${name}" for name in arguments)
    ((text,),) = con.execute(
        f"SELECT to_json(made)::VARCHAR FROM anon_manifest({listed}) AS made", arguments
    ).fetchall()
    made: dict[str, Any] = json.loads(text)
    if earlier:
        made["series"]["previous"] = [
            {"name": path.name, "sha256": digest(path)} for path in earlier.values()
        ]
    return made


def is_linked(written: Mapping[str, Any]) -> bool:
    """Return whether a manifest is that of linked tables."""
    return MARK in written


def with_output(made: Mapping[str, Any], released: Path) -> dict[str, Any]:
    """Return a manifest with the hash of its file, or of its folder, whose files it names.

    For linked tables it has the hash of each file.
    """
    if is_linked(made):
        return {
            **made,
            "output": {"files": {f.name: digest(f) for f in sorted(released.iterdir())}},
        }
    output: dict[str, Any] = {"sha256": digest(released)}
    if released.is_dir():
        output["files"] = [file.name for file in files_of(released)]
    return {**made, "output": output}


def write(made: Mapping[str, Any], released: Path, temporary: Path) -> None:
    """Write the manifest of a released file to a path."""
    write_text(with_output(made, released), temporary)


def write_text(complete: Mapping[str, Any], temporary: Path) -> None:
    """Write a manifest, the hashes of its files included, to a path."""
    temporary.write_text(json.dumps(complete, indent=2, ensure_ascii=False) + "\n", "utf-8")


def read_manifest(function: str, path: Path) -> dict[str, Any]:
    """Return the manifest in a file. Raises AnonError of ``function`` for anything else."""
    document = _read_marked(function, path, "manifest")
    for part, names in (("parameters", PROMISED), ("achieved", LEVELS)):
        if isinstance(document.get(part), dict):
            unknown = {name: _UNASKED[name] for name in names if name in _UNASKED}
            document[part] = {**unknown, **document[part]}
    if isinstance(document.get("roles"), dict):
        # earlier versions had no role exclude
        document["roles"] = {"exclude": [], **document["roles"]}
    _require_shape(function, path, document, _SHAPE)
    return document


def read_linked_manifest(function: str, path: Path) -> dict[str, Any] | None:
    """Return the manifest of linked tables in a file, None for another one or for no file.

    Raises AnonError of ``function`` for one that is not as it must be.
    """
    try:
        if not path.is_file() or f'"{MARK}"' not in path.read_text("utf-8"):
            return None
    except UnicodeDecodeError:
        return None
    document = _read_marked(function, path, MARK)
    shape = {**_COMMON, **linked_manifest.SHAPE, "checks": Optional([CHECK])}
    _require_shape(function, path, document, shape)
    wrong = linked_manifest.inconsistency(document)
    if wrong is not None:
        rule = "the parts of the manifest must fit together"
        raise AnonError(function, rule, f"another {wrong} in '{path}'")
    return document


def _read_marked(function: str, path: Path, mark: str) -> dict[str, Any]:
    """Return the JSON of a file that is marked as a manifest of this form.

    Raises AnonError of ``function`` for anything else.
    """
    try:
        document = documents.read_json(path)
    except documents.Odd as wrong:
        raise AnonError(function, _RULE, f"{wrong} in '{path}'") from None
    if (
        not isinstance(document, dict)
        or documents.misfit(document, {mark: int})
        or document[mark] != FORM
    ):
        raise AnonError(function, _RULE, f"another in '{path}'")
    return document


def _require_shape(
    function: str, path: Path, document: Mapping[str, Any], shape: Mapping[str, Any]
) -> None:
    """Raise AnonError for a manifest with a part of another shape, which is named."""
    wrong = documents.misfit(document, shape)
    if wrong is not None:
        raise AnonError(function, _RULE, f"one with another {wrong} in '{path}'")


def require_hierarchy(
    function: str, written: Mapping[str, Any], hierarchy: object, hint: str = "pass --hierarchy"
) -> None:
    """Raise AnonError if a release was made with hierarchies and labels are compared without."""
    if written["parameters"]["hierarchy"] and not hierarchy:
        rule = "a release made with a hierarchy needs it again"
        raise AnonError(function, rule, None, hint)


def other_versions(con: duckdb.DuckDBPyConnection, written: Mapping[str, Any]) -> str | None:
    """Return what a release was made with and what is here, in a sentence; None for the same.

    Manifests of earlier versions state no version of the row hash.
    """
    ((version,),) = con.execute("SELECT version()").fetchall()
    here = {"anon_sql": VERSION, "duckdb": version, "row_hash": ROW_HASH}
    made = written["versions"]
    if made == here:
        return None
    return f"made with {_version_sentence(made)}; verified with {_version_sentence(here)}"


def _version_sentence(versions: Mapping[str, Any]) -> str:
    hash_version = (
        f"row hash {versions['row_hash']}" if "row_hash" in versions else "no version of row hash"
    )
    return f"anon_sql {versions['anon_sql']}, DuckDB {versions['duckdb']} and {hash_version}"
