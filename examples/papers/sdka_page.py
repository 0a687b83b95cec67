"""The page on SDkA: claims, findings and a table per measure."""

import assessed
import measured
from assessed import MAJORITY, MEASURES, PRINTED_ATTACKS
from page import Claim, Page
from sdka_data import CTGAN, DATA, LEARNED, NAMES, OURS, PLAIN, SDKA, Data, file_of
from verdicts import NOTHING, Verdict, lower, most, span

from anon_sql.core.names import literal


def means(con, data: Data, measure: str) -> measured.Means:
    """Return name → k → mean, without the raw table."""
    found = measured.grouped(assessed.spreads(con, data.name, measure))
    return {name: of for name, of in found.items() if name in NAMES}


def claims(con, data: Data) -> list[Claim]:
    made = []
    for attack, printed in zip(PRINTED_ATTACKS, data.printed.attacks, strict=True):
        for measure in (attack, MAJORITY) if attack == "background knowledge" else (attack,):
            of = means(con, data, measure)
            made.append(
                Claim(
                    f"{data.name}: “better privacy for most k values”, {measure}",
                    f"{-printed} %",
                    lower(of[SDKA], of[PLAIN], -printed, most),
                    lower(of[SDKA], of[OURS], -printed, most),
                    headline=measure != "background knowledge" and any(of[PLAIN].values()),
                )
            )
    of, printed = means(con, data, "accuracy"), data.printed.accuracy
    made.append(
        Claim(
            f"{data.name}: forest “accuracy … higher than most of the baseline methods”",
            f"+{printed} % (ImSKA)",
            lower(of[SDKA], of[PLAIN], -printed, most, sign=-1),
            lower(of[SDKA], of[OURS], -printed, most, sign=-1),
            headline=True,
        )
    )
    for measure in ("ILoss", "ILoss per row"):
        of = means(con, data, measure)
        made.append(
            Claim(
                f"{data.name}: “lower ILoss”" + (" per row" if "per" in measure else ""),
                "–",
                lower(of[SDKA], of[PLAIN]),
                lower(of[SDKA], of[OURS]),
                headline=measure == "ILoss",
            )
        )
    for said, measures, printed, scale in (
        ("attacks vary less over the releases", PRINTED_ATTACKS, data.printed.table_1, 1),
        ("accuracy varies less over the releases", ["accuracy"], data.printed.deviation, 100),
    ):
        found = assessed.deviations(con, data.name, measures)
        of = {name: {0: scale * found[name]} for name in NAMES}
        fall = 100 * (printed[0] / printed[1] - 1)
        made.append(
            Claim(
                f"{data.name}: {said}",
                "{} against {}".format(*printed),
                *(varied(of, rival, fall) for rival in (PLAIN, OURS)),
            )
        )
    return made


def varied(of: measured.Means, rival: str, printed: float) -> Verdict:
    """Judge that a standard deviation is below another."""
    told = lower(of[SDKA], of[rival], printed)
    text = f"{of[SDKA][0]:.2f} against {of[rival][0]:.2f}"
    return told._replace(measured=text) if told is not NOTHING else told


def write(con, given) -> None:
    page = Page(given.into, "sdka", "SDkA: synthetic records, then k-means")
    counts = {
        file_of(data): con.execute(f"SELECT count(*) FROM {file_of(data)}").fetchall()[0][0]
        for data in DATA
    }
    page.template("setting", **counts, seeds=min(given.seeds, DATA[0].seeds))
    page.claims([claim for data in DATA for claim in claims(con, data)])
    page.heading("Findings")
    page.template("findings", **told(con))
    page.heading("ImSKA and KACPC")
    page.template("imska")
    write_ctgan(con, page, given)
    for data in DATA:
        write_data(con, page, data)
    page.write()


def told(con) -> dict[str, str]:
    """Return the figures in the text of the findings."""
    adult, diabetes = DATA
    guessed = means(con, adult, MAJORITY)
    found = {
        f"majority_{word}": f"{sum(guessed[name].values()) / len(guessed[name]):.1f}"
        for word, name in (("plain", PLAIN), ("sdka", SDKA))
    }
    for word, measure in (("total", "ILoss"), ("row", "ILoss per row")):
        for data in (adult, diabetes):
            of = means(con, data, measure)
            found[f"{word}_{file_of(data)}"] = span(of[SDKA], of[PLAIN])
    return found


def write_ctgan(con, page: Page, given) -> None:
    page.heading("CTGAN as the generator")
    names = [CTGAN, *NAMES]
    cells = ", ".join(f"any_value(figure) FILTER (name = {literal(name)})" for name in names)
    rows = []
    for data in [*DATA, *LEARNED]:
        for measure, k, *figures in con.execute(
            f"SELECT measure, k, {cells} FROM figures WHERE data = ? AND seed = 1 "
            "GROUP BY ALL HAVING count(*) FILTER (name = ?) > 0 ORDER BY min(rowid), k",
            [data.name, CTGAN],
        ).fetchall():
            title, digits = MEASURES[measure]
            rows.append([data.name, title, str(k), *(f"{at:,.{digits}f}" for at in figures)])
    if not rows:
        page.text("No release of this page was made with CTGAN.")
        return
    page.template("ctgan", epochs=given.epochs)
    page.rows(["data", "figure", "k", *names], rows)


def write_data(con, page: Page, data: Data) -> None:
    """Write a table per measure, a chart per figure of the paper, and table 1."""
    for measure, (title, digits) in MEASURES.items():
        page.heading(f"{data.name}: {title}")
        cells = (
            f"SELECT k, name, spread(figure, {digits}) AS cell FROM figures WHERE k > 0 AND "
            f"data = {literal(data.name)} AND measure = {literal(measure)} GROUP BY ALL"
        )
        page.table(measured.pivoted(con, cells, "k", NAMES))
        raw = [
            at for name, _, at in assessed.spreads(con, data.name, measure) if name == "raw table"
        ]
        if raw:
            page.text(f"From the raw table it is {raw[0]:.3f}.")
        if measure in (*PRINTED_ATTACKS, MAJORITY, "accuracy", "ILoss"):
            file = measure.replace(",", "").replace(" ", "_").lower()
            series = measured.series(means(con, data, measure))
            page.chart(f"{file_of(data)}_{file}", f"{data.name}: {title}", "k", measure, series)
    page.heading(f"{data.name}: standard deviations over the releases (table 1)")
    page.text(
        "Each count's deviation over k, as a mean over the seeds, summed over the four attacks."
    )
    found = assessed.deviations(con, data.name, PRINTED_ATTACKS)
    page.rows(["method", "total"], [(name, found[name]) for name in NAMES])
