import anon_sql


def model(dbt, session):
    dbt.config(materialized="table")
    dbt.ref("adult")
    return anon_sql.recipe(session, "adult_red.toml")
