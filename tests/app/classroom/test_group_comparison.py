"""Tests of the random assignment of seats to groups, and of group results before, after and weeks after the
lesson.
"""

from __future__ import annotations

import csv
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from app import cli
from app.classroom import class_files
from app.classroom.group_comparison import PersonScores, compare_groups, read_person_scores
from app.classroom.lesson_plan import InvalidPlanError, LessonPlan, read_plan
from app.classroom.log_entries import LogEntry
from app.classroom.models import Seat
from app.classroom.record import ClassRecord
from app.classroom.seat_log import InvalidSeatLogError
from engine.drill.running.drill import Drill
from tests.class_process import RawClient, build_class, join, run_host
from tests.shipped_scenarios import load_shipped_scenario

PLAN_TEXT = """
scenario = "planned-failover"
mode = "practice"
draw_groups = true
[[group]]
name = "maps"
people = ["Zoe"]
[[group]]
name = "lists"
"""


def build_plan() -> LessonPlan:
    return LessonPlan.model_validate(
        {"scenario": "x", "mode": "lab", "draw_groups": True, "group": [{"name": "a"}, {"name": "b"}]}
    )


@pytest.mark.parametrize("key", ["one", "two", "three"])
def test_group_sizes_differ_by_at_most_two(key: str) -> None:
    groups_drawn = [build_plan().draw_group(key, place) for place in range(41)]
    for end in range(len(groups_drawn)):
        count = Counter(groups_drawn[:end])
        assert abs(count["a"] - count["b"]) <= 2
    assert groups_drawn == [build_plan().draw_group(key, place) for place in range(41)], (
        "a host that begins again goes on"
    )
    assert groups_drawn != [build_plan().draw_group(f"{key}'", place) for place in range(41)]
    assert build_plan().model_copy(update={"draw_groups": False}).draw_group(key, 0) == ""


@pytest.mark.parametrize("name", ["", "two words", "@blue", "x" * 31])
@pytest.mark.parametrize(
    "section", ["[[group]]\nname = {}", "[[message]]\nat = '1s'\ntext = 'hello'\ngroup = {}"]
)
def test_a_plan_with_an_unusable_group_name_is_refused(tmp_path: Path, section: str, name: str) -> None:
    file = tmp_path / "plan.toml"
    file.write_text(f'scenario = "lab"\nmode = "practice"\n{section.format(repr(name))}\n')
    with pytest.raises(InvalidPlanError, match="pattern"):
        read_plan(file)


def test_seats_are_assigned_to_groups_on_joining_and_stay_there(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(PLAN_TEXT)
    database = tmp_path / "class.sqlite"

    def join_seats(*names: str) -> None:
        for name in names:
            with RawClient(host.invited) as seat:
                seat.request_reply(join(host.invited, name, f"{name:x<32}"), "welcome")

    def read_groups() -> dict[str, str]:
        record = ClassRecord(str(database), create=False)
        groups_by_name = {seat.name: seat.group_name for seat in record.read_seats()}
        record.close()
        return groups_by_name

    with run_host(database, "--plan", tmp_path / "plan.toml") as host:
        join_seats("Zoe", "p1", "p2", "p3")
        before = read_groups()
        host.kill()
        host.start()
        join_seats("p1", "p4")
    assert read_groups() | before == read_groups()
    assert read_groups()["Zoe"] == "maps", "by name"
    assert Counter(group for name, group in read_groups().items() if name != "Zoe") == {"maps": 2, "lists": 2}


def test_a_difference_is_reported_with_effect_size_and_probability() -> None:
    people_far_apart = [PersonScores(f"a{n}", "a", 50.0, 60.0 + n, None) for n in range(6)]
    people_far_apart += [PersonScores(f"b{n}", "b", 50.0, 80.0 + n, None) for n in range(6)]
    results_by_measure = {result.measure: result for result in compare_groups(people_far_apart)}
    assert set(results_by_measure) == {"pre", "post", "gain"}
    assert results_by_measure["post"].difference == pytest.approx(20.0)
    assert results_by_measure["post"].standardised == pytest.approx(20.0 / 1.8708 * (1 - 3 / 39), rel=1e-3)
    # 12 people in two groups of 6
    assert results_by_measure["post"].p_value == pytest.approx(2 / 924, abs=0.002)
    assert (results_by_measure["pre"].standardised, results_by_measure["pre"].p_value) == (None, 1.0)
    assert compare_groups(people_far_apart[:7]) == [], "one person has no spread"


def export_class(folder: Path, name: str, seconds: dict[str, int], group: dict[str, str]) -> Path:
    """Write the export of a class in which every seat fails over at a different time, as `class export` does."""
    scenario = load_shipped_scenario("planned-failover")
    record = ClassRecord(str(folder / f"{name}.sqlite"))
    record.store_new_class(build_class(scenario, LessonPlan(scenario=scenario.name, mode="practice"), ""))
    for person, second in seconds.items():
        seat = Seat(name=person, token_hash=person, group_name=group.get(person, ""))
        record.store_seats_and_entries([seat], {})
        drill, acts = Drill(scenario), list[LogEntry]()
        for at_s, line in (
            (second, "sql SERVER_A ALTER DATABASE Northwind SET PARTNER OFF"),
            (second + 1, "finish"),
        ):
            drill.advance_to(at_s * 100)
            drill.apply_line(line)
            acts.append(LogEntry(len(acts) + 1, drill.tick, line, drill.compute_state_hash(), 0))
        record.store_seats_and_entries([], {seat.id: acts})
    file = folder / f"{name}.zip"
    file.write_bytes(class_files.build_class_archive(record))
    record.close()
    return file


def test_exported_classes_become_two_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["Ann", "Ben", "Cem", "Dan"]
    group = dict(zip(names, "abab", strict=True))
    files = [
        export_class(tmp_path, name, dict.fromkeys(names, 10), group) for name in ("lesson", "pre", "post")
    ]
    csv_file, rows = tmp_path / "analysis.csv", tmp_path / "people.csv"
    words = [f"--{name}={file}" for name, file in zip(("lesson", "pre", "post"), files, strict=True)]
    assert cli.main(["class", "compare", *words, f"--out={csv_file}", f"--people={rows}"], lambda _: 0) == 0
    table = list(csv.DictReader(rows.read_text().splitlines()))
    assert [row["group"] for row in table] == ["a", "b", "a", "b"]
    assert not any(name in rows.read_text() for name in names)
    analysis = list(csv.DictReader(csv_file.read_text().splitlines()))
    assert [row["measure"] for row in analysis] == ["pre", "post", "gain"]
    assert {row["difference"] for row in analysis} == {"0.0"}
    class_without = export_class(tmp_path, "without", {"Ann": 10}, {})
    with pytest.raises(InvalidSeatLogError, match="no seat has a group"):
        read_person_scores(class_without, class_without, class_without)
    forged = tmp_path / "forged.zip"
    with zipfile.ZipFile(files[2]) as old, zipfile.ZipFile(forged, "w") as new:
        for member in old.namelist():
            new.writestr(member, old.read(member).replace(b'"score": ', b'"score": 1'))
    assert (
        cli.main(["class", "compare", *words[:2], f"--post={forged}", f"--out={csv_file}"], lambda _: 0) == 2
    )
    assert "dashboard" in capsys.readouterr().err
