"""What column names say, in several languages and spellings, and that the list is sound."""

import csv
from importlib.resources import files

import pytest

from anon_sql.suggest.names import is_quantity, meaning, parts, spellings

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
        drug_name illness medication credit balance convicted alcohol BMI hiv_status cause_of_death
        cause_deces causa_muerte causa_de_defuncion causa_morte Todesursache""",
    None: "x q17 target y split valid paid 12 姓 grouping oldpeak averages",
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
    assert meaning("weird_id").part
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
    known = {True: set(), False: set()}  # of measures, which other terms may be, too
    for row in rows:
        letters = {"".join(words) for words in spellings(row["term"])}
        added = letters - known[row["strength"] == "measure"]
        assert added, row["term"]
        known[row["strength"] == "measure"] |= added
        for term in letters:
            assert parts(term.replace("*", "")) == [term.replace("*", "")], term
            assert "*" not in term or " " not in row["term"], term
        assert row["role"] in ("identifier", "quasi", "sensitive", "keep")
        assert row["strength"] in ("full", "part", "always", "kind", "measure")
        assert row["meaning"]
    assert {row["language"] for row in rows} >= {"en", "de", "fr", "es", "it"}


@pytest.mark.parametrize(
    "name",
    "phone_type email_verified device_type_id type_adresse tipo_documento login_count".split(),
)
def test_a_kind_of_something_is_not_the_thing(name):
    assert meaning(name).role == "keep"


@pytest.mark.parametrize(
    ("name", "role"),
    {
        "customeremail": "identifier",
        "PATIENTBIRTHDATE": "quasi",
        "shiptoaddress": "identifier",
        "outpatient": "keep",
        "number_outpatient": "keep",
        "health_plan_no": "identifier",
        "nombre_enfants": "quasi",
        "nombre_jours": "keep",
        "nom_commune": "quasi",
        "numero_de_dossier": "identifier",
        "diagnosis_date": "quasi",
    }.items(),
)
def test_words_that_run_together_counts_and_articles(name, role):
    assert meaning(name).role == role


def test_quantities():
    names = "income monthly_income Umsatz betrag_eur montant importo_totale num_visits age weight_g"
    assert [name for name in names.split() if not is_quantity(name)] == []
    names = "income_id plan_no ward weight_code customer"
    assert [name for name in names.split() if is_quantity(name)] == []
