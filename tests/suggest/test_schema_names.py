"""What names of columns in public schemas say, against the roles that a reader gave them.

The schemas are of hospitals, insurers, shops, clubs and employers, in five languages. The words in
``column_words.csv`` were written before the first list was read. They were then mended by the kinds
of its misses, and measured on the second list, which changed nothing. docs/look-up/suggested-roles.md prints
the figures.
"""

import pytest

from anon_sql.suggest.names import meaning

pytestmark = pytest.mark.quick
FIRST = {
    "identifier": """
        username password fname lname npi pid pubpid street phone_home providerID
        policy_number subscriber_fname subscriber_lname PatientID Name VisitID
        Contact_Details First_Name Phone_Number Next_Of_Kin Visit_ID CELL CNIC TOKEN strasse
        hausnummer qr_iban kunde_id person_id versand_token entscheidung_ip
        oeffentliche_notizen nachname vorname telefon email seriennummer geraetepasswort
        personalnummer MitarbeiterID mnr persnr m_name m_vorname passwort id_paziente nome
        cognome id_visita codice_fiscale telefono password_hash usr psw cod_utenza cf
        Numero_di_telefono Indirizzo NominativoContattoEmergenza TelefonoContattoEmergenza
        ID_medico codice_paziente codice_accesso operatore_id nome_cognome pin_hash
        note_anamnesi idPaciente nombre idMedico id_doctor apellidos observaciones
        paciente_id nombre_completo documento_identidad NomPaciente DirPaciente TelPaciente
        NumSegSocial DNIMedicoSus NumDeColegiMedicoSus ID_ADHERENT NOM PRENOM TEL AUTEUR
        idAdherent adresse mail numLicence nom_Ad prenom_Ad ID_Coach ID_Parrain rue
        idEntraineur login mot_de_passe mobile_number adress adherent_passw texte
    """,
    "quasi": """
        facility_id DOB sex city state postal_code subscriber_DOB Age Gender VisitDate
        TestDate Village Parish Sub_County County Coordinates Facility_Name Date_Of_Birth
        Date_Added Facility_ID APPOINTMENT Admission_Date plz ort abholdatum start_datum
        erstellt_am geburtsdatum abteilung gebdat verstorben ausleihdat rueckgabedat
        eingestellt einst_datum abt_nr anno_nascita provincia asl data_visita peso
        data_nascita ddn sesso Genere RelazioneContattoEmergenza RESIDENZA Data_Creazione
        Data_Prescrizione professione fecha_nacimiento lugar genero fecha_ingreso estado
        FecAltaMedicoSus ProvMedicoSus PoblaMedicoSus datenaissance datePaiement
        date_abonnement date_inscription date_naiss ville cp sexe codepostal heureDebut
    """,
    "sensitive": """
        Diagnosis TreatmentDetails TestResult diseases heart_rate Treatment_Name symptome
        gehalt glicemia posologia allergie_intolleranze patologie_pregresse
        interventi_chirurgici terapie_farmacologiche_croniche alcol fumo alergias
        condiciones_clinicas
    """,
    "other": """
        specialty TestType temperature Population Malaria_Risk_Level Health_Facilities_Count
        Reported_Cases Dosage Admission_Status No_of_Samples Last_Result_Value ITN_Coverage
        Capacity Facility_Type_ID Outcome_Description aufgaben kostenvoranschlag geraet
        distanz reichweite TeamID urlaubsanspruch ist_ceo treuepunkte buchnr seiten
        unterschriftsseite abflugzeit pressione_min email_confermata consenso_termini admin
        cod_reparto qta Specializzazione nome_reparto Ruolo Prezzo_Unitario somministrato
        durata_settimane stato descrizione prioridad_atencion especialidad horario
        numero_cama TITRE PARUTION categorie prix etatDuPaiement marque type_abonnement
        duree_pret_jour nb_jour_prolongement quota_livre id_type_abonnement une_categorie_id
        AbonnementActif ISBN
    """,
}
SECOND = {
    "identifier": """
        user_login user_email display_name post_author customer_id user_id email username
        first_name last_name post_content Id SSN DRIVERS PASSPORT FIRST MIDDLE LAST MAIDEN
        ADDRESS PATIENT PROVIDER ENCOUNTER matricule nom prenom id_personne telephone
        id_salarie nom_salarie prenom_salarie sal_nom sal_id id_client idSalarie idDemande
        Num_tel Num_Rue Num_secu immatriculation CedulaEmpleado Nombre Apellido IdTelefono
        NumeroTelefono IdCliente IdEmpleado IdVenta empleado_id nombre_usuario direccion
        apellidos contacto_email apellido_p apellido_m correo_electronico foto lider_id cf
        nome cognome indirizzo numero_carta id_cliente ClienteID Telefono PrenotazioneID
        autore
    """,
    "quasi": """
        user_registered post_date date_last_active date_registered country postcode city
        state BIRTHDATE DEATHDATE PREFIX SUFFIX MARITAL RACE ETHNICITY GENDER BIRTHPLACE
        COUNTY FIPS ZIP LAT LON ORGANIZATION DATE START STOP date_debut date_fin
        ville_chantier fonction date_embauche date_intervention site nationalite_pays_id
        entreprise_id CP date_naissance dateDebut FechaNacimiento Fecha Cargo municipio
        sucursal_id fecha_alta departamento_id ubicacion_local fecha_nacimiento
        puesto_ocupado cargo_id empresa_id fecha_ingreso sexo sesso data_nascita citta
        provincia cap StazionePartenza StazioneArrivo
    """,
    "sensitive": """
        INCOME HEALTHCARE_EXPENSES HEALTHCARE_COVERAGE REASONDESCRIPTION salario
        fascia_reddito saldo
    """,
    "other": """
        post_title post_status post_type orders_count total_spent discount_amount coupon_id
        product_id is_snoozable layout icon PAYER ENCOUNTERCLASS CODE DESCRIPTION
        BASE_ENCOUNTER_COST TOTAL_CLAIM_COST PAYER_COVERAGE CATEGORY UNITS TYPE DISPENSES
        echelle kilometrage montant libelle quantite prix_ht designation matiere ref_produit
        nb_heures type_contrat_id type_salarie_id statut Duree_travail Type_Rue
        disponibilite id_competence AniosTrabajados Precio Stock Cantidad PrecioUnitario
        tipo_cuenta articulo_codigo stock_inicial categoria es_matriz rol activo
        umbral_stock nivel_id tipo_empleado modalidad IdProducto scadenza_carta
        nome_prodotto costo_prodotto prezzo genere Durata Prezzo Classe Capacità Servizi
        Importo id_prodotto nomeprodotto
    """,
}


def counted(names):
    """Return how many names are said to be identifiers, how many of them are, and how many of all
    identifiers and quasi-identifiers are not kept or released as they are."""
    said = {role: [meaning(name) for name in of.split()] for role, of in names.items()}
    roles = {role: [m.role if m else None for m in of] for role, of in said.items()}
    called = sum(of.count("identifier") for of in roles.values())
    hidden = sum(role in ("identifier", "quasi") for role in roles["quasi"])
    right = roles["identifier"].count("identifier")
    return called, right, len(roles["identifier"]), hidden, len(roles["quasi"])


@pytest.mark.parametrize(
    ("names", "figures"),
    [(FIRST, (100, 99, 103, 61, 68)), (SECOND, (63, 60, 68, 49, 59))],
    ids=["first", "second"],
)
def test_figures(names, figures):
    assert counted(names) == figures
