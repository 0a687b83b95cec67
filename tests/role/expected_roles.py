"""The roles that a knowledgeable person would choose for real tables, written before the code.

A column with two roles separated by ``|`` may have either. Where the name of a column says nothing
(``oldpeak``, ``G1``), any role but identifier is right, if the columns that are kept do not single
rows out together, which is tested on its own.
"""

OPEN = "quasi|sensitive|keep"


def _each(role: str, names: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), role)


EXPECTED: dict[str, dict[str, str]] = {
    "adult": {
        **_each("quasi", "age workclass education education_num marital_status occupation"),
        **_each("quasi", "relationship race sex native_country"),
        "income": "sensitive",
        **_each("sensitive|quasi", "capital_gain capital_loss"),
        "fnlwgt": "quasi|identifier",  # a weight that is different for most rows
        **_each("quasi|keep", "hours_per_week split"),
    },
    "diabetes": {
        **_each("identifier", "encounter_id patient_nbr"),
        **_each("quasi", "race gender age"),
        "weight": "quasi|sensitive",
        **_each("sensitive", "diag_1 diag_2 diag_3 diabetesMed insulin"),
        **_each("quasi|keep", "admission_type_id discharge_disposition_id admission_source_id"),
        **_each(OPEN, "time_in_hospital payer_code medical_specialty num_lab_procedures"),
        **_each(OPEN, "num_procedures num_medications number_outpatient number_emergency"),
        **_each(OPEN, "number_inpatient number_diagnoses max_glu_serum A1Cresult metformin"),
        **_each(OPEN, "repaglinide nateglinide chlorpropamide glimepiride acetohexamide"),
        **_each(OPEN, "glipizide glyburide tolbutamide pioglitazone rosiglitazone acarbose"),
        **_each(OPEN, "miglitol troglitazone tolazamide examide citoglipton"),
        **_each(OPEN, "glyburide_metformin glipizide_metformin glimepiride_pioglitazone"),
        **_each(OPEN, "metformin_rosiglitazone metformin_pioglitazone change readmitted"),
    },
    "bank_full": {
        **_each("quasi", "age job marital education"),
        **_each("sensitive", "default balance loan"),
        **_each("sensitive|quasi", "housing"),
        **_each("quasi|keep", "contact day month duration campaign pdays previous poutcome"),
        "y": OPEN,
    },
    "heart_cleveland": {
        **_each("quasi", "age sex"),
        **_each("sensitive", "chol"),
        **_each(OPEN, "cp trestbps fbs restecg thalach exang oldpeak slope ca thal target"),
    },
    "student_mat": {
        **_each("quasi", "school sex age address famsize Pstatus Medu Fedu Mjob Fjob guardian"),
        **_each("sensitive|quasi", "health absences failures"),
        **_each(OPEN, "traveltime studytime famrel freetime goout Dalc Walc G1 G2 G3"),
        **_each(OPEN, "reason schoolsup famsup paid activities nursery higher internet romantic"),
    },
    "brfss2015": {
        **_each("quasi", "Sex Age Education"),
        **_each("sensitive", "Diabetes_binary HighBP HighChol Smoker Stroke"),
        **_each("sensitive", "HeartDiseaseorAttack HvyAlcoholConsump GenHlth MentHlth PhysHlth"),
        **_each("sensitive", "Income"),
        **_each("sensitive|quasi", "BMI"),
        **_each(OPEN, "CholCheck PhysActivity Fruits Veggies AnyHealthcare NoDocbcCost DiffWalk"),
    },
}
EXPECTED["bank"] = EXPECTED["bank_full"]
EXPECTED["student_por"] = EXPECTED["student_mat"]
# The table that test_suggest_roles.py makes. The names of the first columns say nothing.
PLANTED = {
    **_each("identifier", "alpha beta gamma delta epsilon zeta eta theta iota kappa"),
    **_each("identifier", "contact_name Kundennummer nom PRENOM dirección phoneHome SSN"),
    **_each("quasi", "geburtsdatum PLZ sexe edad Beruf stamp"),
    **_each("sensitive", "Diagnose salaire religion"),
    **_each("keep", "flag level constant nothing"),
}
