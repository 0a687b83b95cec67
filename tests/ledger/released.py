"""Enter releases of persons into a ledger."""

KEY = "0123456789 a secret key"


def enter(con, raw, name, entity="person", key=KEY, ledger="anon_ledger"):
    """Enter a table as the release of its persons."""
    con.execute(
        f"INSERT INTO {ledger} FROM ledger_entry($raw, $raw, $name, entity := $entity, "
        "manifest := '{}', key := $key)",
        {"raw": raw, "name": name, "entity": entity, "key": key},
    )
