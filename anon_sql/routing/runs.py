"""Put batches of rows together to runs, in which text with few distinct values is a dictionary."""

from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa

FEW = 0.1  # distinct values of a column, as a share of the rows, that a dictionary may have


def runs(batches: Iterable[pa.RecordBatch], most: int, size: int) -> Iterator[pa.Table]:
    """Give the rows of batches in tables; one is complete at ``most`` rows or ``size`` bytes."""
    held: list[pa.RecordBatch] = []
    rows = held_size = 0
    for batch in batches:
        held.append(batch)
        rows, held_size = rows + batch.num_rows, held_size + batch.nbytes
        if rows >= most or held_size >= size:
            yield pa.Table.from_batches(held)
            held, rows, held_size = [], 0, 0
    if rows:
        yield pa.Table.from_batches(held)


def repeated(run: pa.Table, few: float = FEW) -> list[str]:
    """Return the columns of text with at most ``few`` distinct values, as a share of the rows."""
    return [
        field.name
        for field in run.schema
        if pa.types.is_string(field.type)
        and len(run.column(field.name).unique()) <= few * run.num_rows
    ]


def coded(run: pa.Table, text: Sequence[str]) -> dict[str, pa.Array]:
    """Return the columns of a run by name; text: those that become dictionaries."""
    columns = {name: run.column(name).combine_chunks() for name in run.column_names}
    return columns | {name: columns[name].dictionary_encode() for name in text}


def whole(tables: Sequence[pa.Table], text: Iterable[str]) -> pa.Table:
    """Return the rows of several runs as one table.

    Dictionaries, which have the values of all runs, are left to columns of ``text`` that have one
    in every run.
    """
    alike = {
        name
        for name in text
        if all(pa.types.is_dictionary(table.schema.field(name).type) for table in tables)
    }
    return together([_plain(table, alike) for table in tables])


def together(tables: Sequence[pa.Table]) -> pa.Table:
    """Return rows of several tables as one, whose dictionaries hold the values of all."""
    return pa.concat_tables(tables).unify_dictionaries().combine_chunks()


def _plain(table: pa.Table, kept: Iterable[str]) -> pa.Table:
    """Return a table without dictionaries in other columns than ``kept``."""
    fields = [
        pa.field(field.name, field.type.value_type)
        if pa.types.is_dictionary(field.type) and field.name not in kept
        else field
        for field in table.schema
    ]
    return table.cast(pa.schema(fields))
