"""Write the pictures of the studio and of a summary: ``python -m tests.apps.studio.pictures``.

With a folder, write every screen at two sizes, light and dark, there, to be looked at.
"""

import shutil
import sys
import tempfile
from pathlib import Path

import anon_sql
from anon_sql import datasets
from tests.apps.studio.visitor import ROOT, running
from tests.command import run

SHOWN = {"roles": "studio-roles", "protect": "studio-protect", "check": "studio-check"}
SCREENS = ("table", "roles", "protect", "check", "sign")
LOOKED_AT = [(1440, 900), (1024, 700)]


def main(folder=None):
    """Make a table, choose as the page does, and take pictures of the screens."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as start, sync_playwright() as playwright:
        con = anon_sql.connect()
        datasets.adult(con)
        con.execute(f"COPY adult TO '{start}/adult.parquet'")
        datasets.adult(con, 5000, seed=2, table="control")
        con.execute(f"COPY control TO '{start}/control.parquet'")
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        with running(Path(start), "adult.parquet") as studio:
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.goto(studio.address)
            page.wait_for_selector("[data-source]")
            studio.key = page.get_attribute("meta[name=studio-key]", "content")
            (cookie,) = page.context.cookies()
            studio.cookie = f"{cookie['name']}={cookie['value']}"
            studio.page("/data/roles")
            studio.choose("read", True, con.table("adult").columns)
            for name, value in {"k": 10, "l": 2, "t": "0.2"}.items():
                studio.choose(name, value)
            studio.page("/data/preview?run=yes")
            studio.page("/data/attacks")
            if folder is None:
                take(page, studio, SHOWN, ROOT / "docs", {})
                summarize(page, Path(start))
            else:
                for width, height in LOOKED_AT:
                    for scheme in ("light", "dark"):
                        page.set_viewport_size({"width": width, "height": height})
                        page.emulate_media(color_scheme=scheme)
                        names = {name: f"{width}-{scheme}-{name}" for name in SCREENS}
                        take(page, studio, names, Path(folder), {"full_page": True})
        browser.close()


def summarize(page, folder):
    """Release the table by its suggested recipe, and write a picture of the report's summary."""
    recipe, raw, safe = (
        str(folder / name) for name in ("adult.toml", "adult.parquet", "safe.parquet")
    )
    said = {
        "confirmed = false": "confirmed = true",
        'purpose = ""': 'purpose = "A course on data protection"',
        'recipient = ""': 'recipient = "Students, under a contract"',
    }
    run("roles", raw, "--recipe", recipe)
    text = Path(recipe).read_text("utf-8")
    for old, new in said.items():
        text = text.replace(old, new)
    Path(recipe).write_text(text, "utf-8")
    run("release", recipe, safe)
    run("report", raw, safe, "--control", folder / "control.parquet", "-o", f"{folder}/report.html")
    page.set_viewport_size({"width": 860, "height": 1200})
    page.goto(f"file://{folder}/report.html")
    page.locator("section.summary").screenshot(path=ROOT / "docs" / "summary.png")


def take(page, studio, names, folder, options):
    """Write a picture of each screen."""
    for name, file in names.items():
        page.goto(f"http://{studio.host}/{name}")
        if name == "check":
            page.wait_for_selector("[data-key=r], [aria-label=Audit]")
            page.keyboard.press("r")
            page.wait_for_selector("[aria-label=Audit]", timeout=120_000)
        page.wait_for_function(
            "() => !document.querySelector('[aria-busy=true], #running:not([hidden])')",
            timeout=120_000,
        )
        page.screenshot(path=folder / f"{file}.png", **options)


if __name__ == "__main__":
    main(*sys.argv[1:])
