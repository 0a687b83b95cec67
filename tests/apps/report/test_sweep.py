"""The page of a sweep: methods, constraints, attacks, and releases that could not be made."""

import re

import anon_sql
from anon_sql.methods.method import release_methods
from tests.apps.report.pages import ROLES, drawn, page
from tests.command import refused, run


def swept(folder, *options):
    call = ["sweep", folder / "people.parquet", *ROLES, "-o", folder / "sweep.html"]
    result = run(*call, "--overwrite", *options)
    assert result.exit_code == 0, result.output
    return result.stdout, page(folder, "sweep.html")


def test_methods_and_releases_that_could_not_be_made(folder):
    said, text = swept(folder, "--methods", "mondrian,oka,datafly", "--ks", "5,20,900")
    assert said.endswith("4 releases compared, 5 that could not be made, none written\n")
    assert "4 of 9 releases could be made; the notes below say why" in text
    for method in ("mondrian", "oka", "datafly"):
        assert text.count(f'<th scope="row">{method}</th>') == 3
    assert len(drawn(text)) == text.count(" alt=") == 4
    assert not [svg for svg in drawn(text) if "datafly" in svg]
    assert not re.search(r"secret\d|illness\d|<b>", text)


def left_out(text):
    section = text[text.index("<h2>Methods that did not run</h2>") :]
    return dict(re.findall(r"<dt>(\w+)</dt><dd>([^<]*)</dd>", section))


def test_methods_that_did_not_run_have_a_reason(folder):
    _, text = swept(folder, "--methods", "mondrian", "--ks", 5)
    reasons = left_out(text)
    assert set(reasons) == set(release_methods()) - {"mondrian"}
    assert set(reasons.values()) == {"it was not asked for (--methods)"}
    _, text = swept(folder, "--ks", 30)
    reasons = left_out(text)
    assert reasons == {
        "canon": "needs: numbers only",
        "datafly": "needs: hierarchy for each quasi-identifier",
        "sdka": "it adds rows, of which no loss is measured",
    }


def test_constraints_and_attacks(folder):
    options = ["--l", 2, "--t", 0.9, "--beta", 2, "--attacks"]
    said, text = swept(folder, "--methods", "mondrian", "--ks", "5,20", *options)
    assert said.endswith("2 releases compared, none written\n")
    assert "l = 2. t = 0.9. beta = 2." in text
    assert len(drawn(text)) == 4
    assert "0 in every release: share of persons whose sensitive value is disclosed" in text
    with anon_sql.connect() as con:
        con.execute(f"CREATE TABLE raw AS FROM '{folder / 'people.parquet'}'")
        roles = "quasi := ['age', 'se<b>x', 'born']"
        con.execute(
            f"CREATE TABLE r AS FROM mondrian('raw', k := 20, {roles}, sensitive := 'illness', "
            "identifiers := ['name'], l := 2, t := 0.9, beta := 2)"
        )
        (row,) = con.execute(
            f"SELECT gcp('raw', 'r', {roles}), reidentified_share, disclosed_share "
            f"FROM attack_linking('raw', 'r', 'illness', {roles})"
        ).fetchall()
    line = re.search(r'mondrian</th><td class="number">20</td>(.*)</tr>', text)[1]
    cells = re.findall(r'<td class="number">([^<]*)</td>', line)
    for figure in row:
        assert f"{figure:.3g}" in cells


def test_what_it_refuses(folder):
    call = ["sweep", folder / "people.parquet", *ROLES, "-o", folder / "sweep.html"]
    assert refused(*call, "--ks", "5,x") == (
        "sweep: --ks must be whole numbers, got '5,x'; write --ks 5,10,25"
    )
    assert "mondrian" in refused(*call, "--methods", "mondrain")
    without = ["sweep", folder / "people.parquet", "--quasi", "age", "--keep", "*"]
    assert refused(*without, "-o", folder / "sweep.html", "--attacks") == (
        "sweep: --attacks needs a sensitive column"
    )
