"""The support bundle says what helps and not who sent it."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from app import cli, doctor, support
from app.doctor import Finding
from app.exit_codes import UNUSABLE
from app.storage import SettingKey, open_profile


@pytest.fixture(autouse=True)
def somebody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/gerda")
    monkeypatch.setenv("USERPROFILE", "/home/gerda")
    monkeypatch.setattr(support.getpass, "getuser", lambda: "gerda")
    monkeypatch.setattr(support.platform, "node", lambda: "gerdas-laptop")


def _bundle(folder: Path, file: Path) -> dict[str, str]:
    with open_profile(folder) as profile:
        profile.settings.set(SettingKey("sound", True), False)
        profile.settings.set(SettingKey("learner", ""), "Gerda Sand")
        for number in (1, 2):
            run = profile.begin_run("lab", "text", "hash", 1, "0.1.0", "lab")
            profile.append(run, 0, f"0 note call Gerda on {number}")
            profile.append(
                run, 100, f"1 sql SERVER_A BACKUP LOG Sales TO DISK='/home/gerda/{number}.trn' -- GERDA"
            )
        findings = [Finding("profile", False, "/home/gerda/.local is damaged on gerdas-laptop")]
        names = support.write_bundle(file, findings, profile)
    with zipfile.ZipFile(file) as bundle:
        assert bundle.namelist() == names
        return {name: bundle.read(name).decode() for name in names}


def test_nothing_in_it_names_the_sender(profile_folder: Path, tmp_path: Path) -> None:
    members = _bundle(profile_folder, tmp_path / "bundle.zip")
    assert "gerda" not in "".join(members.values()).lower()
    assert "call" not in members["journal.txt"]


def test_it_holds_what_helps(profile_folder: Path, tmp_path: Path) -> None:
    members = _bundle(profile_folder, tmp_path / "bundle.zip")
    assert members["journal.txt"].splitlines() == [
        "0 note …",
        "1 sql SERVER_A BACKUP LOG Sales TO DISK='…' --…",
    ]
    assert members["findings.txt"].startswith("FAIL profile: <home>/.local is damaged on <computer>")
    assert json.loads(members["settings.json"]) == {"sound": False, "learner": "<text of 10 characters>"}
    assert json.loads(members["versions.json"])["numpy"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("CREATE LOGIN [CORP\\Ada] FROM WINDOWS", "CREATE LOGIN […] FROM WINDOWS"),
        ("PRINT 'it''s Ada' + [x]", "PRINT '…' + [x]"),
        ("SELECT 1 /* Ada\n    knows */ + 2 -- ask her\n    GO", "SELECT 1 /*…*/ + 2 --…\n    GO"),
        ('SELECT name AS "Ada\n" WHERE x = \'Ada', "SELECT name AS \"…\" WHERE x = '…'"),
        ("SELECT 'a' -- ' Ada", "SELECT '…' --…"),
        ("ALTER DATABASE [Sales] SET PARTNER FAILOVER", "ALTER DATABASE [Sales] SET PARTNER FAILOVER"),
    ],
)
def test_of_a_script_only_what_it_does_is_told(
    text: str, shown: str, profile_folder: Path, tmp_path: Path
) -> None:
    with open_profile(profile_folder) as profile:
        run = profile.begin_run("lab", "text", "hash", 1, "0.1.0", "lab")
        profile.append(run, 100, f"1 sql SERVER_A {text}")
        support.write_bundle(tmp_path / "b.zip", [], profile)
    with zipfile.ZipFile(tmp_path / "b.zip") as bundle:
        assert bundle.read("journal.txt").decode() == f"1 sql SERVER_A {shown}\n"


def test_the_command_writes_it_and_exports(
    profile_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "examine", lambda: iter([Finding("all", True, "well")]))
    bundle, export = tmp_path / "b.zip", tmp_path / "e.json"

    def run(*arguments: str) -> int:
        return cli.main(["doctor", *arguments], lambda scenario: 9)

    assert run("--bundle", str(bundle)) == 0  # no profile yet
    assert not profile_folder.exists()
    assert run("--export", str(export)) == UNUSABLE
    open_profile(profile_folder).close()
    assert run("--bundle", str(bundle)) == 0
    assert "settings.json" in capsys.readouterr().out
    assert run("--export", str(export)) == 0
    assert json.loads(export.read_text())["format"]
    assert run("--bundle", str(tmp_path)) == UNUSABLE
