"""Tests of the support bundle: it contains useful facts, and does not identify a person."""

from __future__ import annotations

import json
import platform
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from hypothesis import example, given, settings, strategies

from app import cli, doctor
from app.doctor import CheckResult
from app.exit_codes import INVALID_USE
from app.files import support_bundle
from app.files.support_bundle import NameMasks, redact_finding, redact_input, redact_sql
from app.storage import SettingKey, open_profile


def _read_bundle(folder: Path, file: Path) -> dict[str, str]:
    with open_profile(folder) as profile:
        profile.settings.set(SettingKey("sound", True), False)
        profile.settings.set(SettingKey("learner", ""), "Gerda Sand")
        profile.settings.set(SettingKey("quarantine/accepted", ""), "[]")
        for number in (1, 2):
            run = profile.begin_run("lab", "text", "hash", 1, "0.1.0", "lab")
            profile.append_line(run, 0, f"0 note call Gerda on {number}")
            profile.append_line(
                run, 100, f"1 sql SERVER_A BACKUP LOG Sales TO DISK='/home/gerda/{number}.trn' -- GERDA"
            )
        findings = [
            CheckResult("profile", False, "/srv/Gerda Sand/profile is intact; finished runs: 12"),
            CheckResult("window", True, "Qt 6.8.1 starts on xcb"),
            CheckResult("profile", False, "Tree 5 page 7: btreeInitPage() returns error code 11 for gerda_s"),
        ]
        names = support_bundle.write_support_bundle(file, findings, profile)
    with zipfile.ZipFile(file) as bundle:
        assert bundle.namelist() == names
        return {name: bundle.read(name).decode() for name in names}


def test_the_bundle_does_not_name_the_sender(profile_folder: Path, tmp_path: Path) -> None:
    members = _read_bundle(profile_folder, tmp_path / "bundle.zip")
    assert "gerda" not in "".join(members.values()).lower()
    assert "call" not in members["journal.txt"]


def test_the_bundle_contains_journal_findings_settings_and_versions(
    profile_folder: Path, tmp_path: Path
) -> None:
    members = _read_bundle(profile_folder, tmp_path / "bundle.zip")
    assert members["journal.txt"].splitlines() == [
        "0 note …",
        "1 sql SERVER_A BACKUP LOG Sales TO DISK='…' --…",
    ]
    assert members["findings.txt"].splitlines() == [
        "FAIL profile: … is intact; finished runs: 12",
        "ok   window: Qt 6.8.1 starts on xcb",
        "FAIL profile: Tree 5 page 7: btreeInitPage() returns error code 11 for …",
    ]
    assert json.loads(members["settings.json"]) == {
        "name_1": False,
        "name_2": "<text of 10 characters>",
        "quarantine/accepted": "<text of 2 characters>",
    }
    assert json.loads(members["versions.json"])["numpy"]


SCRIPT_STRUCTURES = {
    "ALTER DATABASE [Sales] SET PARTNER = N'TCP://sand:5022'": "ALTER DATABASE [Sales] SET PARTNER = '…'",
    "CREATE LOGIN [CORP\\Ada] FROM WINDOWS": "CREATE LOGIN [name_1] FROM WINDOWS",
    "SELECT ada.x FROM Ada": "SELECT name_1.name_2 FROM name_1",
    "PRINT 'it''s Ada' + [Grant]": "PRINT '…' + [name_1]",
    "SELECT 1 /* Ada\nknows /* me */ + 2 */ -- ask her\nGO": "SELECT 1 /*…*/ + 2 */ --…\n    GO",
    'SELECT name AS "Ada\n" WHERE x = \'Ada': "SELECT name AS \"name_1\" WHERE name_2 = '…'",
    "SELECT database_id FROM sys.databases AS [d]": "SELECT database_id FROM sys.databases AS [name_1]",
    ":connect SAND -U ada -P Secret\nGO 5": ":connect …\n    GO 5",
    "SELECT 1\n  :SETVAR Password 12345": "SELECT 1\n    :setvar …",
    "!!net use \\\\sand\\x 123": "!! …",
    "DECLARE @ada INT; SET @ada = @@SERVERNAME": "DECLARE @name_1 INT; SET @name_1 = @@SERVERNAME",
    "SELECT * FROM 10.1.2.3.ada; KILL 52": "SELECT * FROM …; KILL 52",
    "PRINT $(ada)": "PRINT $(name_1)",
    "SELECT 0x536563726574, 1.5": "SELECT …, 1.5",
}


@pytest.mark.parametrize("text", SCRIPT_STRUCTURES)
def test_only_the_structure_of_a_script_is_included(text: str) -> None:
    assert redact_sql(text, NameMasks()) == SCRIPT_STRUCTURES[text].replace("\n    ", "\n")


INPUT_STRUCTURES = {
    "1 power-off SERVER_A": "1 power-off SERVER_A",
    "1.25 power-off ADAS-PC": "1.25 power-off name_1",
    "2 degrade SERVER_A ADA rtt_ms=5": "2 degrade SERVER_A name_1 rtt_ms=5",
    "2 set-service-account SERVER_A ACME\\ada": "2 set-service-account SERVER_A …",
    "2 create-linked-server SERVER_A ADA": "2 create-linked-server SERVER_A name_1",
    "2 copy-file SERVER_A SERVER_B \\\\ada\\c$": "2 copy-file SERVER_A SERVER_B …",
    "3 sql SERVER_A#2 SELECT 1": "3 sql SERVER_A#2 SELECT 1",
    "3 sql ADA#x SELECT 1": "3 sql name_1#… SELECT 1",
    "3 upgrade SERVER_A 2012 Enterprise": "3 upgrade SERVER_A 2012 Enterprise",
    "3 ada was here": "3 …",
    "ada": "… …",
    "4 answer ada ada": "4 answer name_1 …",
    "5 rewind 41 ada": "5 rewind 41 …",
}


@pytest.mark.parametrize("line", INPUT_STRUCTURES)
def test_only_the_verb_of_an_input_is_included(line: str) -> None:
    assert redact_input(line, NameMasks()) == INPUT_STRUCTURES[line]


COMMON_WORD_NAMES = ("Will", "Mark", "Grant", "Frank", "Rose", "May", "Page", "Bill", "Cell")
"""Names of people that are also words."""
SECRET_STRATEGY = strategies.one_of(
    strategies.from_regex(r"[A-Za-z][a-z]{1,6}zq[a-z_.-]{0,5}", fullmatch=True),
    strategies.text(
        strategies.characters(min_codepoint=0xC0, max_codepoint=0x24F, categories=("Ll", "Lu")),
        min_size=6,
        max_size=9,
    ),
)
SQL_TEMPLATES = (
    "SELECT * FROM {}", "SELECT * FROM [{}].[{} x].dbo.t", 'SELECT "{}"', "PRINT N'{}'", "-- {}", "/* {}",
    ":setvar Password {}", ":connect {} -U {} -P {}", "!!ping {}", "CREATE LOGIN {} WITH PASSWORD = '{}'",
    "EXEC sp_addlinkedserver @server = {}", "SELECT 1 AS #{}",
    "BACKUP LOG Sales TO DISK = '\\\\{}\\x'", "$({})", "@@{}",
    "PRINT '\n:connect {}\n{}'", "[{}\n]{}", "{}", "N'{}", "'{}''{}", "GO {}", "¿{}", "5{}", "0x{}",
)  # fmt: skip
INPUT_TEMPLATES = (
    "note {}", "power-off {}", "cut {} {}", "create-linked-server {} {}", "set-service-account {} ACME\\{}",
    "copy-file {} {} \\\\{}\\share", "enable-jobs {} {}", "workload {} {}", "expire-certificate {} {}", "{} {}",
    "add-drive {} {}", "answer {} {}", "sql {}#{} SELECT 1", "close-firewall {} {}", "rewind {} {}", "upgrade {} 2012",
)  # fmt: skip
FINDING_TEMPLATES = (
    "/srv/{}/profile is sound", "C:\\Users\\{}\\{} x is damaged ({})", "Qt starts on {}", "{}@{}: no", "{}",
    "on {}.local", "Qt cannot start: {}", "lib{}.so.1 is missing", "'{}'", "~{}/x holds 3 {} run(s)",
)  # fmt: skip


@given(
    SECRET_STRATEGY,
    strategies.sampled_from(SQL_TEMPLATES),
    strategies.sampled_from(INPUT_TEMPLATES),
    strategies.sampled_from(FINDING_TEMPLATES),
)
@example("Ada_Sand", SQL_TEMPLATES[0], INPUT_TEMPLATES[0], FINDING_TEMPLATES[0])
@settings(max_examples=300, deadline=None)
def test_no_secret_is_included_from_any_place(secret: str, script: str, line: str, finding: str) -> None:
    names = NameMasks()
    texts = [
        redact_sql(script.replace("{}", secret), names),
        redact_input(f"1 sql {secret} {script.replace('{}', secret)}", names),
        redact_input(f"1 {line.replace('{}', secret)}", names),
        redact_input(f"{secret} {line.replace('{}', secret)}", names),
        redact_finding(finding.replace("{}", secret)),
    ]
    assert not [text for text in texts if secret.casefold() in text.casefold()]


@pytest.mark.parametrize("name", COMMON_WORD_NAMES)
def test_a_name_that_is_a_common_word_is_masked(name: str) -> None:
    texts = [
        redact_input(f"1 power-off {name}", NameMasks()),
        redact_input(f"1 set-service-account SERVER_A {name}", NameMasks()),
        redact_sql(f":setvar Password {name}\nPRINT '{name}' -- {name}\nSELECT 1 FROM [{name}]", NameMasks()),
        redact_finding(f"C:\\My {name} x\\file is sound"),
    ]
    assert not [text for text in texts if name in text]


def test_complete_bundles_contain_no_secret(
    profile_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "wzqxkj"
    monkeypatch.setattr(platform, "release", lambda: f"6.1.0-{secret}")
    monkeypatch.setattr(platform, "machine", lambda: secret)
    monkeypatch.setattr(metadata, "version", lambda _: f"1.2.3+{secret}")
    with open_profile(profile_folder) as profile:
        profile.settings.set(SettingKey(f"layout/{secret}", ""), secret)
        run = profile.begin_run(secret, secret, secret, 1, secret, "lab")
        for tick, line in enumerate([*INPUT_TEMPLATES, *(f"sql {{}} {text}" for text in SQL_TEMPLATES)]):
            profile.append_line(run, tick, f"{tick} {line.replace('{}', secret)}")
        findings = [CheckResult(secret, False, text.replace("{}", secret)) for text in FINDING_TEMPLATES]
        support_bundle.write_support_bundle(tmp_path / "b.zip", findings, profile)
    with zipfile.ZipFile(tmp_path / "b.zip") as bundle:
        assert len(bundle.read("journal.txt").splitlines()) >= len(INPUT_TEMPLATES) + len(SQL_TEMPLATES)
        for member in bundle.infolist():
            assert secret not in bundle.read(member).decode() + str(member)


def test_the_command_writes_the_bundle_and_exports(
    profile_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "run_checks", lambda: iter([CheckResult("all", True, "well")]))
    bundle, export = tmp_path / "b.zip", tmp_path / "e.json"

    def run_doctor(*arguments: str) -> int:
        return cli.main(["doctor", *arguments], lambda scenario: 9)

    assert run_doctor("--bundle", str(bundle)) == 0  # The command also runs without a profile.
    assert not profile_folder.exists()
    assert run_doctor("--export", str(export)) == INVALID_USE
    open_profile(profile_folder).close()
    assert run_doctor("--bundle", str(bundle)) == 0
    assert "settings.json" in capsys.readouterr().out
    assert run_doctor("--export", str(export)) == 0
    assert json.loads(export.read_text())["format"]
    assert run_doctor("--bundle", str(tmp_path)) == INVALID_USE
