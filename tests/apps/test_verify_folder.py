"""verify of a folder names everything in it that the manifest does not name."""

import json
import os
import shutil
import socket

import duckdb
import pytest

from tests.apps.test_release_in_parts import ROLES, source, write  # noqa: F401
from tests.command import refused, run


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A raw file, and beside it the folder of its release with a manifest, to be copied."""
    folder = tmp_path_factory.mktemp("made")
    out = folder / "out"
    said = run("release", write(folder), f"{out}/", "--method", "mondrian", *ROLES, "--manifest")
    assert said.exit_code == 0, said.output
    assert run("verify", out).exit_code == 3
    return folder


@pytest.fixture
def released(made, tmp_path):
    """A folder of a release with its manifest, and the raw file beside it."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path / "out"


def packed(raw, path):
    duckdb.read_parquet(str(raw)).to_csv(str(path), compression="gzip")


COPIES = {
    "raw.PARQUET": shutil.copy,
    "raw.parquet": shutil.copy,
    "release-00001.parquet": shutil.copy,
    "sub/raw.parquet": shutil.copy,
    "sub/deeper/raw.parquet": shutil.copy,
    ".raw.parquet": shutil.copy,
    ".hidden/raw": shutil.copy,
    "raw.parquet.gz": packed,
    "raw.csv": packed,
    "raw": shutil.copy,
    "out.anon.json": shutil.copy,
    "release-00001.parquet ": shutil.copy,
    "a 'b' [c] é.parquet": shutil.copy,
    "link.parquet": lambda raw, path: path.symlink_to(raw),
    "link": lambda raw, path: path.symlink_to(raw.parent),
    "broken": lambda _, path: path.symlink_to("nowhere"),
    "pipe.parquet": lambda _, path: os.mkfifo(path),
    "empty/": lambda _, path: path.mkdir(),
    "folder.parquet/": lambda _, path: path.mkdir(),
}


@pytest.mark.parametrize(("name", "copy"), COPIES.items(), ids=COPIES)
def test_what_the_manifest_does_not_name_fails_by_name(released, source, name, copy):  # noqa: F811
    path = released / name
    path.parent.mkdir(parents=True, exist_ok=True)
    copy(source, path)
    for raw in ([], ["--raw", source]):
        said = refused("verify", released, *raw)
        assert said.startswith(
            "verify: the release must be what its manifest says, got failed: the folder holds "
            "nothing else ("
        )
        assert name in said


def test_a_socket_fails_by_name(released, monkeypatch):
    monkeypatch.chdir(released)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("talk")
        assert "the folder holds nothing else (talk)" in refused("verify", released)


def test_a_released_file_that_is_a_link_to_itself_elsewhere_fails(released, tmp_path):
    file = released / "release-00000.parquet"
    file.rename(tmp_path / "moved.parquet")
    file.symlink_to(tmp_path / "moved.parquet")
    assert "holds nothing else (release-00000.parquet)" in refused("verify", released)


def test_names_that_could_drive_a_terminal_are_escaped_and_only_a_few_are_listed(released):
    for number in range(7):
        (released / f"{number}\n\x1b[2J\udcff").write_text("")
    said = refused("verify", released)
    assert "0 \\x1b[2J\\udcff" in said
    assert said.count("[2J") == 5
    assert "and 2 more)" in said


def test_a_folder_may_be_named_by_a_link_or_from_within(released, tmp_path, monkeypatch):
    (tmp_path / "alias").symlink_to(released)
    shutil.copy(tmp_path / "out.anon.json", tmp_path / "alias.anon.json")
    assert run("verify", f"{tmp_path}/alias/").exit_code == 3
    monkeypatch.chdir(released)
    assert run("verify", ".").exit_code == 3
    (tmp_path / "out.anon.json").unlink()
    assert "OUT must have a manifest beside it" in refused("verify", ".")


def test_a_manifest_that_names_no_files_covers_the_parquet_files(released, source):  # noqa: F811
    path = released.with_name("out.anon.json")
    written = json.loads(path.read_text("utf-8"))
    assert written["output"].pop("files") == ["release-00000.parquet"]
    path.write_text(json.dumps(written), "utf-8")
    assert run("verify", released).exit_code == 3
    shutil.copy(source, released / "more.parquet")
    assert "(another SHA-256)" in refused("verify", released)
    (released / "more.parquet").rename(released / "more.PARQUET")
    assert "nothing else (more.PARQUET)" in refused("verify", released)
    written["output"]["files"] = "release-00000.parquet"
    path.write_text(json.dumps(written), "utf-8")
    assert "with another output.files in" in refused("verify", released)


def test_the_manifest_of_a_file_speaks_of_that_file_alone(source, tmp_path):  # noqa: F811
    safe = tmp_path / "safe.parquet"
    made = run("release", source, safe, "--method", "mondrian", *ROLES, "--manifest")
    assert made.exit_code == 0, made.output
    shutil.copy(source, tmp_path / "raw.parquet")
    assert run("verify", safe).exit_code == 3
