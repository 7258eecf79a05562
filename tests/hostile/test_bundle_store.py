"""Tests of imported bundles: only the selected content, only in the profile, without replacement, and
removable.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app import cli
from app.files import bundle, bundle_store, scenario_files
from app.files.bundle import Bundle
from app.files.bundle_store import BundleStoreError
from app.files.scenario_files import ScenarioNotFoundError
from engine.drill.running.drill import Drill
from tests.hostile.bundles import (
    DRILL_TEXT,
    ArchiveEntry,
    build_archive,
    build_drill_entry,
    build_manifest,
    build_valid_archive,
)
from tests.shipped_scenarios import load_shipped_scenario

OTHER_DRILL = DRILL_TEXT.replace("Small", "Another", 1)
INVALID_DRILL = DRILL_TEXT.replace('level = "beginner"', 'level = "none"', 1)


def build_bundle(**scenarios: str) -> Bundle:
    raw = bundle.build_bundle("A course", scenarios, {}, "Ada L.", "CC0-1.0")
    return bundle.parse_bundle(raw, "course.mirrordrill")


def run_bundle_command(*arguments: object) -> int:
    return cli.main(["bundle", *map(str, arguments)], lambda scenario: 9)


def test_an_imported_bundle_is_found_with_its_origin() -> None:
    imported = build_bundle(small=DRILL_TEXT, other=OTHER_DRILL)
    (file,) = bundle_store.import_bundle(imported, ["small"])
    assert file == scenario_files.get_bundles_folder() / imported.sha256[:16] / "small.toml"
    listed = {
        drill_file.name: drill_file.origin
        for drill_file in scenario_files.list_all_files()[0]
        if not drill_file.shipped
    }
    assert listed == {"small": "A course"}
    assert load_shipped_scenario("small").title == "Small"
    assert [offer.exists_here for offer in bundle_store.list_bundled_drills(imported)] == [False, True]
    (imported_bundle,) = bundle_store.list_imported_bundles()
    assert (
        imported_bundle.title,
        imported_bundle.author,
        imported_bundle.licence,
        imported_bundle.sha256,
    ) == (
        "A course",
        "Ada L.",
        "CC0-1.0",
        imported.sha256,
    )


def test_a_second_import_adds_only_new_files() -> None:
    imported = build_bundle(small=DRILL_TEXT, other=OTHER_DRILL)
    bundle_store.import_bundle(imported, ["small"])
    assert [file.stem for file in bundle_store.import_bundle(imported, ["small", "other"])] == ["other"]
    assert bundle_store.import_bundle(imported, ["small", "other"]) == []


def test_an_import_never_replaces_a_file() -> None:
    own_folder = scenario_files.get_user_scenario_folder()
    own_folder.mkdir(parents=True)
    (own_folder / "small.toml").write_text(OTHER_DRILL, encoding="utf-8")
    lab = scenario_files.find_scenario_file("lab").text.replace("Database mirroring lab", "My lab", 1)
    imported = build_bundle(small=DRILL_TEXT, lab=lab, broken=INVALID_DRILL)
    hindrances = {offer.name: offer.import_obstacle for offer in bundle_store.list_bundled_drills(imported)}
    assert "You already have" in hindrances["small"]
    assert "shipped" in hindrances["lab"]
    assert "Not playable" in hindrances["broken"]
    for name in hindrances:
        with pytest.raises(ValueError, match=name):
            bundle_store.import_bundle(imported, [name])
    assert (own_folder / "small.toml").read_text(encoding="utf-8") == OTHER_DRILL
    assert not scenario_files.get_bundles_folder().exists()


def test_another_bundle_with_the_same_name_is_refused() -> None:
    first, second = build_bundle(small=DRILL_TEXT), build_bundle(small=OTHER_DRILL)
    bundle_store.import_bundle(first, ["small"])
    (offer,) = bundle_store.list_bundled_drills(second)
    assert "Remove that bundle first" in offer.import_obstacle
    bundle_store.remove_bundle(first.sha256[:16])
    assert bundle_store.import_bundle(second, ["small"])
    assert scenario_files.find_scenario_file("small").text == OTHER_DRILL


def test_an_own_drill_of_the_same_name_wins_and_this_is_reported() -> None:
    bundle_store.import_bundle(build_bundle(small=DRILL_TEXT), ["small"])
    (scenario_files.get_user_scenario_folder() / "small.toml").write_text(OTHER_DRILL, encoding="utf-8")
    files, problems = scenario_files.list_all_files()
    assert [file.text for file in files if file.name == "small"] == [OTHER_DRILL]
    assert ["A course" in problem for problem in problems] == [True]
    assert scenario_files.find_scenario_file("small").text == OTHER_DRILL


@pytest.mark.parametrize(
    "key", ["", ".", "..", "../..", "0123456789abcdef", "*", "0123456789ABCDEF", "a" * 16 + "/.."]
)
def test_only_bundles_can_be_removed(key: str) -> None:
    bundle_store.import_bundle(build_bundle(small=DRILL_TEXT), ["small"])
    with pytest.raises(ScenarioNotFoundError):
        bundle_store.remove_bundle(key)
    assert len(bundle_store.list_imported_bundles()) == 1


def test_a_link_instead_of_a_bundle_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "x.toml").write_text("")
    scenario_files.get_bundles_folder().mkdir(parents=True)
    (scenario_files.get_bundles_folder() / ("a" * 16)).symlink_to(tmp_path / "mine")
    with pytest.raises(ScenarioNotFoundError):
        bundle_store.remove_bundle("a" * 16)
    assert (tmp_path / "mine" / "x.toml").exists()


@pytest.mark.parametrize("raw", [b"", b"\xff", b"title = 3", b"a." * 30_000, b"title = [" * 5000, b"x = 'y'"])
def test_a_damaged_label_loses_only_the_title(raw: bytes) -> None:
    imported = build_bundle(small=DRILL_TEXT)
    bundle_store.import_bundle(imported, ["small"])
    (
        scenario_files.get_bundles_folder() / imported.sha256[:16] / scenario_files.BUNDLE_LABEL_FILE
    ).write_bytes(raw)
    assert [imported_bundle.title for imported_bundle in bundle_store.list_imported_bundles()] == [
        imported.sha256[:16]
    ]
    assert scenario_files.find_scenario_file("small").origin == imported.sha256[:16]


def test_an_unwritable_folder_is_reported() -> None:
    scenario_files.get_user_scenario_folder().mkdir(parents=True)
    scenario_files.get_bundles_folder().write_text("a file in the way")
    with pytest.raises(BundleStoreError, match="cannot be written"):
        bundle_store.import_bundle(build_bundle(small=DRILL_TEXT), ["small"])


# --- the command line ---------------------------------------------------------------------------------------


def test_a_course_is_passed_on_as_a_bundle(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lab = Drill(load_shipped_scenario("lab"), 5)
    lab.advance_to(300)
    lab.apply_line("power-off SERVER_B")
    lab.apply_line("finish")
    (tmp_path / "small.toml").write_text(DRILL_TEXT, encoding="utf-8")
    (tmp_path / "My run.json").write_text(
        json.dumps(lab.build_report() | {"scenario_text": lab.scenario.text})
    )
    bundle_file = tmp_path / "course.mirrordrill"
    assert (
        run_bundle_command(
            "make", bundle_file, tmp_path / "small.toml", tmp_path / "My run.json", "--title", "Week 1"
        )
        == 0
    )
    assert run_bundle_command("make", bundle_file, tmp_path / "small.toml") == 2  # the file exists already
    assert run_bundle_command("show", bundle_file) == 0
    assert not scenario_files.get_user_scenario_folder().exists()
    output = capsys.readouterr().out
    assert "power-off × 1" in output
    assert bundle.read_bundle(bundle_file).sha256 in output
    assert cli.main(["check", str(bundle_file)], lambda scenario: 9) in (0, 1)
    assert run_bundle_command("add", bundle_file) == 0
    assert run_bundle_command("add", bundle_file) == 0
    (imported_bundle,) = bundle_store.list_imported_bundles()
    assert (imported_bundle.drills, [file.name for file in imported_bundle.runs]) == (
        ("small",),
        ["my-run.json"],
    )
    assert cli.main(["replay", str(imported_bundle.runs[0])], lambda scenario: 9) == 0
    assert run_bundle_command("list") == 0
    assert imported_bundle.key in capsys.readouterr().out
    assert run_bundle_command("remove", imported_bundle.key) == 0
    assert bundle_store.list_imported_bundles() == []


def test_a_refused_file_is_reported_and_the_rest_imported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle_file = tmp_path / "x.mirrordrill"
    bundle_file.write_bytes(
        bundle.build_bundle("x", {"small": DRILL_TEXT, "broken": INVALID_DRILL}, {"bad": b"[]"})
    )
    assert run_bundle_command("add", bundle_file, "--only", "nobody") == 2
    assert run_bundle_command("add", bundle_file) == 1
    assert [imported_bundle.drills for imported_bundle in bundle_store.list_imported_bundles()] == [
        ("small",)
    ]
    capsys.readouterr()
    assert cli.main(["check", str(bundle_file)], lambda scenario: 9) == 1
    output = capsys.readouterr().out
    assert f"{bundle_file}/scenarios/broken.toml:" in output
    assert "runs/bad.json" in output


def test_a_hostile_bundle_is_refused_with_every_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle_file = tmp_path / "x.mirrordrill"
    bundle_file.write_bytes(
        build_archive(
            [
                build_manifest([build_drill_entry()]),
                build_drill_entry(mode=0o120777),
                ArchiveEntry(b"../../.bashrc", b"x"),
            ]
        )
    )
    for doing in ("show", "add"):
        assert run_bundle_command(doing, bundle_file) == 2
        errors = capsys.readouterr().err
        assert "a link" in errors
        assert "path outside" in errors
    assert not scenario_files.get_user_scenario_folder().exists()


WATCHED_IMPORT_SCRIPT = """
import os, sys
from app import cli
written = []
def note(event, arguments):
    if event == "open":
        path, mode, flags = arguments
        if isinstance(path, str) and (flags or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            written.append(path)
    elif event in ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.symlink", "os.link", "os.chmod",
                   "shutil.rmtree", "tempfile.mkstemp", "tempfile.mkdtemp", "sqlite3.connect", "subprocess.Popen"):
        folder = arguments[1] if event in ("os.remove", "os.rmdir") and arguments[1] >= 0 else None
        start = os.readlink(f"/proc/self/fd/{folder}") if folder is not None else ""
        written.append(os.path.join(start, str(arguments[0])))
        if event in ("os.rename", "os.link"):
            written.append(str(arguments[1]))
sys.addaudithook(note)
from app.files import bundle, bundle_store
for file in sys.argv[1:]:
    for doing in ("show", "add"):
        cli.main(["bundle", doing, file], lambda scenario: 9)
    cli.main(["check", file], lambda scenario: 9)
for one in bundle_store.list_imported_bundles():
    bundle_store.remove_bundle(one.key)
print("\\n".join(path for path in written if "__pycache__" not in path), file=sys.stderr)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="names below an open folder are looked up in /proc")
def test_import_writes_only_below_the_profile(tmp_path: Path, profile_folder: Path) -> None:
    """Python's audit hook observes every opened, moved and removed file during imports of valid and hostile
    bundles.
    """
    raws = [
        build_valid_archive(build_drill_entry()),
        build_valid_archive(build_drill_entry(b"scenarios/../../x.toml")),
        build_valid_archive(build_drill_entry(mode=0o120777)),
        build_valid_archive(build_drill_entry(b"/tmp/escaped.toml")),
        build_valid_archive(build_drill_entry(), ArchiveEntry(b"runs/a.json", b"[]")),
    ]
    files = [tmp_path / f"{number}.mirrordrill" for number in range(len(raws))]
    for file, raw in zip(files, raws, strict=True):
        file.write_bytes(raw)
    words = [sys.executable, "-c", WATCHED_IMPORT_SCRIPT, *map(str, files)]
    process = subprocess.run(words, capture_output=True, text=True, timeout=120, env=dict(os.environ))
    assert process.returncode == 0, process.stderr
    error_lines = {line for line in process.stderr.splitlines() if line and ":1:1:" not in line}
    assert any(name.endswith("small.toml") for name in error_lines), "the audit sees nothing"
    assert [name for name in error_lines if not Path(name).is_relative_to(profile_folder)] == []


FULL_DISK_SCRIPT = """
import resource, signal, sys
from app import cli
from app.files import bundle, bundle_store
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
found = bundle.read_bundle(__import__("pathlib").Path(sys.argv[1]))
resource.setrlimit(resource.RLIMIT_FSIZE, (300, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
sys.exit(cli.main(["bundle", "add", sys.argv[1]], lambda scenario: 9))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_FSIZE and SIGXFSZ")
def test_a_full_disk_leaves_no_partial_drill(tmp_path: Path) -> None:
    """The disk has space for the label file, but not for the drill."""
    file = tmp_path / "x.mirrordrill"
    file.write_bytes(build_valid_archive(build_drill_entry()))
    words = [sys.executable, "-c", FULL_DISK_SCRIPT, str(file)]
    process = subprocess.run(words, capture_output=True, text=True, timeout=60, env=dict(os.environ))
    assert process.returncode == 2
    assert "cannot be written" in process.stderr
    assert "Traceback" not in process.stderr
    assert [path.name for path in scenario_files.get_user_scenario_folder().rglob("*") if path.is_file()] == [
        "bundle.label"
    ]
    assert scenario_files.list_all_files()[1] == []
