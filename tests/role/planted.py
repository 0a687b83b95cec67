"""A table of people that are made up, with values of every kind that must be found."""

import random
import uuid

import duckdb
import pandas as pd

ROWS = 600


def iban(number: int) -> str:
    """A German IBAN with the right check digits."""
    account = f"{number:018d}"
    return f"DE{98 - int(account + '131400') % 97:02d}{account}"


def card(number: int) -> str:
    """A card number with the right check digit, found by trying all."""
    for check in range(10):
        digits = [int(char) for char in f"4{number:014d}{check}"]
        doubled = [2 * digit for digit in digits[-2::-2]]
        if (sum(digits[-1::-2]) + sum(sum(divmod(each, 10)) for each in doubled)) % 10 == 0:
            return "".join(map(str, digits))
    raise AssertionError


def make(con: duckdb.DuckDBPyConnection, table: str) -> None:
    """Create the table; the columns are those of ``expected_roles.PLANTED``."""
    draw = random.Random(7)
    ids = range(ROWS)

    def some(*values: object) -> list[object]:
        return [draw.choice(values) for _ in ids]

    codes = [f"K{draw.randrange(10**6):06d}" for _ in ids]
    people = pd.DataFrame(
        {
            "alpha": [f"ada.{i}@example.org" if i % 10 == 0 else "none" for i in ids],
            "beta": [f"+49 30 {draw.randrange(10**7):07d}" for _ in ids],
            "gamma": [iban(draw.randrange(10**15)) if i % 20 == 0 else None for i in ids],
            "delta": [card(draw.randrange(10**14)) for _ in ids],
            "epsilon": [f"10.{i % 200}.{i % 7}.1" for i in ids],
            "zeta": [f"https://example.org/people/{i % 50}" for i in ids],
            "eta": [str(uuid.UUID(int=draw.getrandbits(128))) for _ in ids],
            "theta": [*codes[:-20], *codes[:20]],
            "iota": [draw.randrange(10**9) for _ in ids],
            "kappa": [f"she was seen on ward {i} and went home" for i in ids],
            "contact_name": some(*"Ann Bob Cem Dee Eve Fay Gil Hal Ida Jon".split()),
            "Kundennummer": [i // 3 for i in ids],
            "nom": some(*(f"Nom{i}" for i in range(90))),
            "PRENOM": some(*(f"Pre{i}" for i in range(40))),
            "dirección": [f"Calle {i % 99}" for i in ids],
            "phoneHome": some(*(f"{i:05d}" for i in range(200))),
            "SSN": list(ids),
            "geburtsdatum": pd.date_range("1950-01-01", periods=ROWS, freq="31D").date,
            "PLZ": some(*(f"{i:05d}" for i in range(10115, 10215))),
            "sexe": some("f", "m"),
            "edad": some(*range(18, 90)),
            "Beruf": some("Koch", "Lehrer", "Arzt"),
            "stamp": pd.date_range("2024-01-01", periods=ROWS, freq="61min"),
            "Diagnose": some("flu", "gout", "none"),
            "salaire": [1000 + draw.randrange(5000) for _ in ids],
            "religion": some("a", "b", "c", None),
            "flag": some(True, False),
            "level": some(1, 2, 3),
            "constant": ["x"] * ROWS,
            "nothing": pd.array([None] * ROWS, dtype="string"),
        }
    )
    con.register("planted_frame", people)
    con.execute(f"CREATE TABLE {table} AS FROM planted_frame")
    con.unregister("planted_frame")
