"""Tests of the command line as the README documents it: standard output, standard error, exit codes."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import engine.published.fidelity
from app import cli, doctor, golden_run, qt_probe
from app.__main__ import main
from app.cli import bench
from app.exit_codes import INTERRUPTED
from app.files import generated_drills, journal_file, scenario_files
from app.files.learning_paths import load_learning_paths
from engine.drill.authoring.scenario import Scenario
from engine.drill.par.certificate_types import ParCertificate
from engine.published.figure_rows import FigureClass, FigureRow
from tests.engine.drill.texts import SMALL_TEXT, change_text

POWER_OFF_LINE = "30 power-off SERVER_A\n"


def fail_on_window(scenario: Scenario | None) -> int:
    raise AssertionError("this command opens no window")


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Any:
    def run_command(*arguments: str) -> tuple[int, str, str]:
        code = cli.main(arguments, fail_on_window)
        streams = capsys.readouterr()
        return code, streams.out, streams.err

    return run_command


@pytest.fixture
def inputs(tmp_path: Path) -> str:
    file = tmp_path / "inputs.txt"
    file.write_text(POWER_OFF_LINE)
    return str(file)


# --- run ----------------------------------------------------------------------------------------------------


def test_run_lab_reports_one_automatic_failover(call: Any, inputs: str) -> None:
    code, output, err = call("run", "lab", "--inputs", inputs, "--json", "-")
    assert (code, err) == (0, "")
    report = json.loads(output)
    (failover,) = report["failovers"]
    assert (failover["kind"], failover["from_server"], failover["to_server"]) == (
        "automatic",
        "SERVER_A",
        "SERVER_B",
    )
    steps = ["failed_t_s", "detected_t_s", "redo_done_t_s", "decided_t_s", "online_t_s", "undo_done_t_s"]
    stamps = [failover[step] for step in steps]
    assert stamps == sorted(stamps)
    assert failover["failover_s"] == pytest.approx(2.6, rel=0.25)
    assert failover["published_s"] == 2.6
    assert report["scenario"] == "lab"
    assert report["ended_at_s"] == 150.0


def test_output_is_the_same_in_two_processes_and_from_standard_input() -> None:
    def compute_state_hash() -> str:
        command = [sys.executable, "-m", "app", "run", "lab", "--inputs", "-", "--json", "-"]
        ran = subprocess.run(
            command, input=POWER_OFF_LINE, capture_output=True, text=True, check=True, cwd=ROOT
        )
        assert ran.stderr == ""
        return str(json.loads(ran.stdout)["state_hash"])

    assert compute_state_hash() == compute_state_hash()


ROOT = Path(__file__).parents[2]


def test_run_to_a_file_prints_nothing(call: Any, inputs: str, tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    assert call("run", "lab", "--inputs", inputs, "--json", str(file)) == (0, "", "")
    assert json.loads(file.read_text())["scenario"] == "lab"


def test_options_seed_and_until_work(call: Any, inputs: str) -> None:
    _, output, _ = call("run", "lab", "--inputs", inputs, "--seed", "9", "--until", "31.5", "--json", "-")
    report = json.loads(output)
    assert (report["seed"], report["ended_at_s"]) == (9, 31.5)
    _, output, _ = call("run", "lab", "--inputs", inputs, "--until", "20", "--json", "-")
    assert json.loads(output)["failovers"] == []


def test_a_missed_goal_exits_with_1(call: Any) -> None:
    code, output, _ = call("run", "isolated-principal")
    assert code == 1
    assert "[ ]" in output


def test_the_solution_exits_with_0(call: Any) -> None:
    code, output, _ = call("run", "isolated-principal", "--solution")
    assert code == 0
    assert "[x]" in output
    assert "score 100" in output


def test_text_output_names_the_failover_and_its_published_time(call: Any, inputs: str) -> None:
    _, output, _ = call("run", "lab", "--inputs", inputs)
    assert "automatic failover SERVER_A -> SERVER_B (power-off)" in output
    assert "published 2.6 s" in output


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("30 power-of SERVER_A", "did you mean power-off"),
        ("30 power-off SERVER_X", "SERVER_X"),
        ("soon power-off SERVER_A", "line 1"),
        ("30", "line 1"),
    ],
)
def test_unusable_inputs_are_refused(call: Any, tmp_path: Path, lines: str, message: str) -> None:
    file = tmp_path / "bad.txt"
    file.write_text(f"{lines}\n")
    code, output, err = call("run", "lab", "--inputs", str(file), "--json", "-")
    assert (code, output) == (2, "")
    assert message in err
    assert "Traceback" not in err


def test_inputs_are_read_from_standard_input(call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1 note hello\n")))
    _, output, _ = call("run", "lab", "--inputs", "-", "--json", "-")
    assert [event["text"] for event in json.loads(output)["events"]] == ["hello"]


def test_a_refused_line_is_reported_and_the_run_continues(call: Any, tmp_path: Path) -> None:
    file = tmp_path / "inputs.txt"
    file.write_text("1 workload Sales Nothing\n2 note on\n")
    code, output, err = call("run", "lab", "--inputs", str(file), "--until", "3", "--json", "-")
    assert code == 0
    assert "1 workload Sales Nothing: workload" in err
    assert [event["text"] for event in json.loads(output)["events"]] == ["on"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "no-such"),
        ("run", "lab", "--seed", "-1"),
        ("run", "lab", "--seed", "x"),
        ("run", "lab", "--until", "-5"),
        ("run", "lab", "--until", "nan"),
        ("run", "lab", "--solution"),
        ("run", "lab", "--solution", "--inputs", "-"),
        ("run", "lab", "--inputs", "/no/such/file"),
        ("run", "lab", "--json", "/no/such/folder/file"),
        ("run",),
        ("dance",),
        ("check", "no-such.toml"),
        ("check",),
        ("drill", "no-such"),
    ],
)
def test_unusable_arguments_are_refused(call: Any, arguments: tuple[str, ...]) -> None:
    code, output, err = call(*arguments)
    assert code == 2
    assert output == ""
    assert err
    assert "Traceback" not in err


# --- list, check, drill -------------------------------------------------------------------------------------


def test_list_names_shipped_and_user_scenarios(call: Any, profile_folder: Path) -> None:
    own_folder = profile_folder / "scenarios"
    own_folder.mkdir(parents=True)
    (own_folder / "small.toml").write_text(SMALL_TEXT)
    code, output, _ = call("list", "--json")
    listed = {entry["name"]: entry for entry in json.loads(output)}
    assert code == 0
    assert listed["lab"]["shipped"]
    assert not listed["small"]["shipped"]
    assert {"title", "minutes", "level", "skills", "sources"} <= set(listed["small"])
    assert {entry["technology"] for entry in listed.values()} == set(load_learning_paths())
    assert all(entry["path"] and entry["version"] for entry in listed.values())
    assert (listed["small"]["technology"], listed["small"]["path_place"]) == ("mirroring", None)
    _, output, _ = call("list")
    assert "Small (yours)" in output
    assert call("run", "small", "--until", "1")[0] == 1


def test_the_course_lists_every_ag_and_cluster_drill_once_and_migration_last(call: Any) -> None:
    code, output, _ = call("list", "--course", "--json")
    listed = [entry["name"] for entry in json.loads(output)]
    assert code == 0
    prefixes = ("ag-", "fci-", "wsfc-", "fcm-")
    shipped = {file.name for file in scenario_files.list_all_files()[0] if file.shipped}
    assert {name for name in shipped if name.startswith(prefixes)} - {"ag-lab", "fci-lab"} <= set(listed)
    # no drill of the course is missing
    assert len(set(listed)) == len(listed) == len(journal_file.load_course_drills())
    assert listed[-1] == "mirror-to-group"
    _, output, _ = call("list", "--course")
    assert (
        output.index("1. Availability group roles")
        < output.index("ag-planned-move")
        < output.index("9. From mirroring to availability groups")
    )


def test_list_reports_broken_user_scenarios_and_lists_the_others(call: Any, profile_folder: Path) -> None:
    own_folder = profile_folder / "scenarios"
    own_folder.mkdir(parents=True)
    (own_folder / "broken.toml").write_text("title = 3\n")
    (own_folder / "other.toml").write_bytes(b"\x80")
    code, output, err = call("list")
    assert code == 1
    assert "lab" in output
    assert "broken.toml:1:" in err
    assert "UTF-8" in err


def test_check_accepts_a_valid_file(call: Any, tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    file.write_text(SMALL_TEXT)
    assert call("check", str(file)) == (0, "1 file: no problem\n", "")
    code, output, complaint = call("check", "nowhere-1", str(file), "nowhere-2")
    assert (code, output) == (2, "1 file: no problem\n")
    assert "nowhere-1" in complaint
    assert "nowhere-2" in complaint


def test_check_reports_every_problem_with_its_position(call: Any, tmp_path: Path) -> None:
    first_file, two = tmp_path / "one.toml", tmp_path / "two.toml"
    first_file.write_text(change_text(("minutes = 5", "minuts = 5"), ("points = 40", "points = 4")))
    two.write_text(change_text(("+5 power-on SERVER_A", "+5 note done")))
    code, output, _ = call("check", str(first_file), str(two))
    assert code == 1
    line = SMALL_TEXT[: SMALL_TEXT.index("minutes = 5")].count("\n") + 1
    assert f"{first_file}:{line}:1: minuts: unknown key 'minuts'; expected minutes?" in output
    assert f"{two}:" in output
    code, output, _ = call("check", str(first_file), "--json")
    problems = json.loads(output)
    assert code == 1
    assert set(problems[0]) == {"file", "line", "column", "where", "text", "expected"}


def test_the_json_schema_is_printed(call: Any) -> None:
    code, output, _ = call("check", "--schema")
    assert code == 0
    assert "rubric" in json.loads(output)["properties"]


def test_drill_opens_the_window_on_that_scenario() -> None:
    scenarios: list[Scenario | None] = []

    def window(scenario: Scenario | None) -> int:
        scenarios.append(scenario)
        return 0

    assert cli.main(["drill", "mirror-lost"], window) == 0
    assert cli.main([], window) == 0
    assert scenarios[0] is not None
    assert scenarios[0].name == "mirror-lost"
    assert scenarios[1] is None


def test_command_line_work_never_imports_qt() -> None:
    program = "import sys; from app import cli; cli.main(['run', 'lab', '--until', '1'], lambda s: 0); \
sys.exit(any(name.startswith('PySide6') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True).returncode == 0


def test_an_impossible_file_name_is_refused() -> None:
    with pytest.raises(scenario_files.ScenarioNotFoundError):
        scenario_files.find_scenario_file("x" * 5000)


# --- fidelity, bench ----------------------------------------------------------------------------------------


def build_row(verdict: str, reason: str | None = None) -> FigureRow:
    return FigureRow(
        "T1.x", "", "table 1", "log rate", 720.0, 700.0, "KB/s", FigureClass.PREDICTED, verdict, reason=reason
    )


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([build_row("pass")], 0),
        ([build_row("fail", "known")], 0),
        ([build_row("pass"), build_row("fail")], 1),
    ],
)
def test_fidelity_fails_on_a_failure_without_a_reason(
    call: Any, monkeypatch: pytest.MonkeyPatch, rows: list[FigureRow], expected: int
) -> None:
    monkeypatch.setattr(engine.published.fidelity, "build_fidelity_rows", lambda: rows)
    code, output, _ = call("fidelity", "--json", "-")
    assert code == expected
    assert json.loads(output)["rows"][0]["published"] == 720.0
    assert "log rate" in call("fidelity")[1]


def test_bench_prints_each_figure_with_its_reference(call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    figure = bench.BenchmarkFigure("engine, 1 databases", 161500.0, "simulated s/s", "real time", 161500.0)
    monkeypatch.setattr(bench, "measure_figures", lambda: [figure])
    assert json.loads(call("bench", "--json", "-")[1]) == {"figures": [figure.as_json()]}
    assert "real time" in call("bench")[1]


# --- doctor -------------------------------------------------------------------------------------------------


def test_doctor_finds_no_problem_here(call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # Another test checks whether the file is up to date.
    monkeypatch.setattr(golden_run, "load_recorded_hashes", golden_run.play_golden_run)
    code, output, _ = call("doctor")
    assert code == 0, output
    assert {line.split()[1].rstrip(":") for line in output.splitlines()} == {
        "version", "window", "fonts", "storage", "profile", "simulation", "replay", "class",
    }  # fmt: skip


def test_doctor_reports_an_uncreatable_profile(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Not even root can create a folder below a file."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("MIRRORDRILL_PROFILE", str(tmp_path / "file" / "folder"))
    finding = {finding.name: finding for finding in doctor.run_checks()}["profile"]
    assert not finding.is_ok
    assert "cannot create" in finding.text


def test_the_recorded_run_belongs_to_this_version() -> None:
    """If this fails after an engine change: mirrordrill doctor --renew-replay assets/golden.json"""
    assert golden_run.play_golden_run() == golden_run.load_recorded_hashes()


def test_doctor_fails_if_replay_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(golden_run, "load_recorded_hashes", lambda: golden_run.GoldenHashes("other", "other"))
    assert not {finding.name: finding for finding in doctor.run_checks()}["replay"].is_ok


@pytest.mark.parametrize(
    ("qt_error", "environment", "expected"),
    [
        (
            "ImportError: libEGL.so.1: cannot open shared object file: No such file",
            {},
            "libEGL.so.1 is missing",
        ),
        ("ModuleNotFoundError: No module named 'PySide6'", {}, "PySide6 is not installed"),
        ("qt.qpa.xcb: could not connect to display", {}, "no display"),
        ("qt.qpa.xcb: could not connect to display :9", {"DISPLAY": ":9"}, ":9"),
        ("This application failed: no Qt platform plugin could be initialized.", {}, "platform plugin"),
        ("Something else\nlast words\n", {}, "last words"),
        ("", {}, "nothing"),
    ],
)
def test_the_reason_why_qt_cannot_start_is_printed(
    qt_error: str, environment: dict[str, str], expected: str
) -> None:
    sentence = qt_probe.explain_qt_failure(qt_error, environment)
    assert expected in sentence
    assert "\n" not in sentence


def test_the_printed_command_lists_each_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qt_probe, "_can_load", lambda library: library != "libglib-2.0.so.0")
    monkeypatch.setattr("shutil.which", lambda name: None)
    sentence = qt_probe.explain_qt_failure("libglib-2.0.so.0: cannot open shared object file", {})
    command = "apt-get update && apt-get install -y --no-install-recommends libglib2.0-0"
    assert sentence.endswith(f"su -c '{command}'")


def test_a_window_without_a_display_ends_with_one_message() -> None:
    environment = {"PATH": "/usr/bin:/bin", "QT_QPA_PLATFORM": "xcb", "HOME": "/nonexistent"}
    ran = subprocess.run(
        [sys.executable, "-m", "app"], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 2
    assert len(ran.stderr.strip().splitlines()) == 1
    assert ran.stderr.startswith("Qt cannot start")


# --- agents -------------------------------------------------------------------------------------------------


def test_agents_are_ranked_in_order(call: Any) -> None:
    code, output, err = call("agents", "isolated-principal", "--seed", "7")
    assert (code, err) == (0, "")
    assert output.endswith("Scenarios: 1, no problems\n")


def test_agents_fails_if_the_wrong_players_get_points(call: Any, tmp_path: Path) -> None:
    file = tmp_path / "bad.toml"
    file.write_text(change_text(("+5 power-on SERVER_A", "+5 note done")))
    code, output, _ = call("agents", str(file), "--json", "-")
    assert code == 1
    (ranking,) = json.loads(output)
    assert "the reference earns" in ranking["wrong"][0]
    assert {standing["agent"] for standing in ranking["standings"]} >= {"reference", "nothing", "worst"}


# --- debriefs -----------------------------------------------------------------------------------------------


def test_run_writes_debriefs(call: Any, inputs: str, tmp_path: Path, qapp: object) -> None:
    files = {kind: tmp_path / f"debrief.{kind}" for kind in ("html", "pdf")}
    arguments = [word for kind, file in files.items() for word in (f"--{kind}", str(file))]
    arguments += ["--csv", str(tmp_path / "tables"), "--runbook", str(tmp_path / "runbook.sql")]
    code, _, err = call("run", "lab", "--inputs", inputs, "--until", "60", *arguments)
    assert (code, err) == (0, "")
    assert files["html"].read_text().startswith("<!DOCTYPE html>")
    assert files["pdf"].read_bytes().startswith(b"%PDF")
    assert {file.name for file in (tmp_path / "tables").iterdir()} == {
        "events.csv",
        "readings.csv",
        "run.csv",
        "score.csv",
    }
    assert "Manual step: SERVER_A ▸ Power off" in (tmp_path / "runbook.sql").read_text()


def test_an_unwritable_debrief_is_reported(call: Any, inputs: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    code, _, err = call(
        "run", "lab", "--inputs", inputs, "--until", "31", "--html", str(tmp_path / "file" / "x.html")
    )
    assert code == 2
    assert "cannot be written" in err


# --- replay, record -----------------------------------------------------------------------------------------


@pytest.fixture
def recorded_run(call: Any, tmp_path: Path) -> Path:
    """Record a run in which a server is powered off and on again."""
    lines, file = tmp_path / "lines.txt", tmp_path / "run.json"
    lines.write_text("30 power-off SERVER_A\n+40 power-on SERVER_A\n")
    assert call("run", "lab", "--inputs", str(lines), "--until", "300", "--json", str(file))[0] == 0
    return file


def test_losses_of_a_recorded_run_are_printed(call: Any, tmp_path: Path) -> None:
    inputs, run = tmp_path / "in.txt", tmp_path / "run.json"
    inputs.write_text("40 power-off SERVER_B\n")
    call("run", "automatic-failover", "--inputs", str(inputs), "--json", str(run))
    code, output, _ = call("regret", str(run))
    assert code == 0
    (row,) = (line for line in output.splitlines() if line.endswith("power-off SERVER_B"))
    assert "blunder" in row
    assert "all goals could be reached until 40 s" in output
    assert output.splitlines()[-1].endswith(" power-on SERVER_A")
    assert output.count("100.0 points were possible at the start, 0.0 were reached") == 1
    assert (
        len([line for line in output.splitlines() if line.startswith("    ") and "power-on SERVER_A" in line])
        == 1
    )


def test_a_recorded_run_replays_to_the_same_states(call: Any, recorded_run: Path) -> None:
    code, output, err = call("replay", str(recorded_run))
    assert (code, err) == (0, "")
    assert json.loads(recorded_run.read_text())["state_hash"] in output


def test_the_first_divergence_of_a_replay_is_named(call: Any, recorded_run: Path) -> None:
    report = json.loads(recorded_run.read_text())
    changed_hash = next(entry for entry in report["hashes"] if entry["t_s"] == 70.0)
    changed_hash["hash"] = "0" * 32
    recorded_run.write_text(json.dumps(report))
    code, output, _ = call("replay", str(recorded_run))
    assert code == 1
    assert (
        "the states are identical until 1:00.00; the first difference is at 1:10.00, "
        "after these inputs: 70 power-on SERVER_A"
    ) in output


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"inputs": 1}, "inputs is missing or has the wrong type"),
        ({"mode": "swim"}, "unknown mode 'swim'"),
        ({"hashes": [1]}, "the file contains invalid hashes or events"),
        ({"seed": -1}, "out of range"),
        ({"scenario_text": "title = 1"}, "title"),
        ({"inputs": ["nonsense"]}, "nonsense"),
    ],
)
def test_a_file_that_is_not_a_run_is_refused_with_a_message(
    call: Any, recorded_run: Path, change: dict[str, Any], message: str
) -> None:
    recorded_run.write_text(json.dumps({**json.loads(recorded_run.read_text()), **change}))
    code, output, err = call("replay", str(recorded_run))
    assert (code, output) == (2, "")
    assert message in err


def test_a_run_without_its_scenario_finds_it_by_name(call: Any, recorded_run: Path) -> None:
    report = json.loads(recorded_run.read_text())
    del report["scenario_text"]
    recorded_run.write_text(json.dumps(report))
    assert call("replay", str(recorded_run))[0] == 0


def test_a_run_becomes_a_scenario_solved_by_its_solution(
    call: Any, recorded_run: Path, tmp_path: Path
) -> None:
    drill_file = tmp_path / "my-drill.toml"
    code, output, _ = call("record", str(recorded_run), "--as", str(drill_file))
    assert code == 0
    assert "must still be replaced" in output
    assert call("run", str(drill_file), "--solution")[0] == 0
    assert call("check", str(drill_file))[0] == 1  # These are the placeholders that the author must replace.
    assert call("record", str(recorded_run), "--as", str(tmp_path / "My Drill.toml"))[0] == 2


# --- par ----------------------------------------------------------------------------------------------------


def test_the_par_plan_replays_to_the_same_total_and_state(call: Any, tmp_path: Path) -> None:
    file, plan = tmp_path / "small.toml", tmp_path / "plan.txt"
    file.write_text(change_text(), encoding="utf-8")
    code, output, err = call("par", str(file), "--seconds", "0", "--json", "-")
    assert (code, err) == (0, "")
    document = json.loads(output)
    plan.write_text("\n".join(document["par"]["plan"]), encoding="utf-8")
    report = json.loads(call("run", str(file), "--inputs", str(plan), "--json", "-")[1])
    assert report["score"]["total"] == document["par"]["score"] > 0
    assert report["state_hash"] == document["hashes"]["par"]
    assert document["optimal"] is (document["complete"] or document["par"]["score"] == 100.0)
    assert ("and no plan can score higher" in call("par", str(file), "--seconds", "0")[1]) is document[
        "optimal"
    ]


@pytest.mark.parametrize(("wanted_level", "code"), [("intermediate", 0), ("expert", 1)])
def test_a_generated_drill_is_printed_with_its_measured_level(
    wanted_level: str, code: int, call: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    proved: ParCertificate = {
        "par": {"score": 100.0},
        "nodes": 90,
        "blunder_share": 0.2,
        "acts_tried": 40,
        "choices": 2,
    }

    def generate_drill(candidates: Any, level: str) -> Any:
        yield 0.5
        assert level == wanted_level
        return generated_drills.GeneratedDrill(next(candidates)[0], 7, proved)

    monkeypatch.setattr(generated_drills, "generate_drill", generate_drill)
    exit_code, output, _ = call("new", wanted_level)
    assert exit_code == code
    result_line, hint = output.splitlines()
    assert ", intermediate. Checked with 90 simulated runs" in result_line
    assert hint.startswith("mirrordrill run random-trouble-")
    assert hint.endswith(" --seed 7 --speed 1")
    assert json.loads(call("new", wanted_level, "--json")[1])["seed"] == 7


def test_par_needs_a_score(call: Any) -> None:
    code, _, err = call("par", "lab")
    assert code == 2
    assert "not scored" in err


@pytest.mark.parametrize("is_working", [True, False], ids=["at-work", "still-read"])
def test_ctrl_c_ends_a_command_without_a_traceback(
    is_working: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def raise_interrupt(*_: object) -> int:
        raise KeyboardInterrupt

    class InterruptedFinder:
        def find_spec(self, name: str, *_: object) -> None:
            if name == "app.cli":
                raise KeyboardInterrupt

    monkeypatch.setattr("sys.argv", ["mirrordrill", "list"])
    if is_working:
        monkeypatch.setattr("app.cli.lists.scenario_files.list_all_files", raise_interrupt)
    else:
        monkeypatch.delitem(sys.modules, "app.cli")
        monkeypatch.delattr("app.cli")
        monkeypatch.setattr(sys, "meta_path", [InterruptedFinder(), *sys.meta_path])
    assert main() == INTERRUPTED
    assert capsys.readouterr() == ("", "mirrordrill: interrupted\n")
