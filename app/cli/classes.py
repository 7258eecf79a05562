"""Commands `mirrordrill class …`: host a class, take part in a class, verify and export its results."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import closing
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec.structs import asdict

from app.cli.command_helpers import UsageError, load_named_scenario, write_json
from app.exit_codes import NEGATIVE_ANSWER, SUCCESS
from app.files import atomic_write
from app.files.folders import get_profile_folder
from app.words import language
from app.words.language import tr
from engine.localization import format_duration, format_run_time

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.classroom.join import PlayRun
    from app.classroom.messages.replies import LogVerdict, SeatReport
    from app.classroom.models import ClassPart
    from app.classroom.record import ClassRecord
    from app.classroom.team.world import TeamSimulation

DEFAULT_DATABASE_FILE: Final = "class.sqlite"
SEATS_PER_PROCESS: Final = 4
"""Number of seats per worker process of a report. Assumed."""


COMPARED_OPTIONS: Final = ("lesson", "pre", "post", "retention")
"""Options that each name the file of an exported class."""


def _locate_database(options: argparse.Namespace) -> str:
    if options.database is not None:
        return str(options.database)
    folder = get_profile_folder()
    folder.mkdir(parents=True, exist_ok=True)
    return str(folder / DEFAULT_DATABASE_FILE)


def _print_invitation(code: str) -> None:
    """Print the invitation as a line. In a terminal, also print it as a QR code."""
    print(code, flush=True)
    if sys.stderr.isatty():
        import segno

        segno.make(code, micro=False).terminal(out=sys.stderr, compact=True)


def _run_host(options: argparse.Namespace) -> int:
    from app.classroom import service
    from app.classroom.bus import BusUnavailableError
    from app.classroom.lesson_plan import InvalidPlanError, LessonPlan, read_plan
    from app.classroom.record import ClassRecord, RecordUnavailableError

    plan: LessonPlan | None = None
    text = ""
    try:
        if options.plan is not None:
            if options.scenario is not None or options.mode is not None or options.seed is not None:
                raise UsageError("a plan contains scenario, mode and seed: omit them with --plan")
            plan, text = read_plan(Path(options.plan))
        elif options.scenario is not None:
            plan = LessonPlan(scenario=options.scenario, mode=options.mode or "practice", seed=options.seed)
        part_list = service.create_parts(plan, text, load_named_scenario) if plan is not None else []
        with closing(ClassRecord(_locate_database(options))) as record:
            if options.nats is not None and not record.is_shared:
                raise UsageError(
                    "several hosts need one database: --database postgresql+psycopg://USER@HOST/NAME"
                )
            the_class = service.find_or_create_class(record, part_list, plan)
            if the_class is None:
                raise UsageError("name a scenario, or a plan with --plan FILE")
            if text and text != the_class.plan:
                print(
                    "mirrordrill: the class keeps the plan with which it began; send new instructions at the console",
                    file=sys.stderr,
                )
            input_stream = sys.stdin if options.end_with_input else None
            service.serve_class(
                record, the_class, options.listen, _print_invitation, options.nats, input_stream
            )
    except (
        InvalidPlanError,
        RecordUnavailableError,
        BusUnavailableError,
        service.ListenAddressError,
        service.ClassMismatchError,
        ValueError,
    ) as problem:
        raise UsageError(str(problem)) from problem
    return SUCCESS


def _run_team(options: argparse.Namespace) -> int:
    from app.classroom.join import JoinFailedError
    from app.classroom.join_code import InvalidJoinCodeError, parse_invitation
    from app.classroom.seat_log import (
        InvalidSeatLogError,
        SeatAssignment,
        SeatLog,
        get_seat_folder,
        shorten_file_stem,
    )
    from app.classroom.service import ListenAddressError
    from app.classroom.team import team_server
    from app.classroom.team import world as team_world

    try:
        if "@" in options.what:
            if options.mode is not None or options.seed is not None:
                raise UsageError("mode and seed come from the class: omit them with its code")
            invited, name = parse_invitation(options.what), options.name or "Team"
            folder = get_seat_folder(invited) / shorten_file_stem(f"team-{name.encode().hex()}")
            world = _build_team_world(folder, options)
            attended = team_server.run_team_server(
                folder, world, lambda: team_world.play_in_class(invited, name, world, options.speed), options.listen,
                partial(print, flush=True),
            )  # fmt: skip
        else:
            scenario = load_named_scenario(options.what)
            if not scenario.team:
                raise UsageError(f"{options.what} has no team")
            name = options.name or f"{datetime.now():%Y-%m-%d %H-%M-%S}"
            seed = scenario.seed if options.seed is None else options.seed
            seat = SeatAssignment(1, name, scenario.name, scenario.text, seed, options.mode or "practice")
            folder = get_profile_folder() / "teams" / scenario.name / shorten_file_stem(name.encode().hex())
            world = _build_team_world(folder, options)
            log = SeatLog(folder, name)
            attended = team_server.run_team_server(
                folder, world, lambda: team_world.play_without_class(log, seat, world, options.speed), options.listen,
                partial(print, flush=True),
            )  # fmt: skip
    except (
        InvalidJoinCodeError,
        JoinFailedError,
        InvalidSeatLogError,
        ListenAddressError,
        OSError,
    ) as problem:
        raise UsageError(str(problem)) from problem
    if options.json is not None:
        write_json(attended.report, options.json)
    else:
        print("\n".join(_format_report(attended.report)))
    return NEGATIVE_ANSWER if attended.unacknowledged_count or attended.refusal_reason else SUCCESS


def _build_team_world(folder: Path, options: argparse.Namespace) -> TeamSimulation:
    """Create the shared simulation of a team, whose roles are stored in *folder*.

    With --end-with-input, the simulation ends when standard input ends. Standard input is then a pipe from
    the process that started the team.
    """
    from app.classroom.team import team_server
    from app.classroom.team.world import RoleTable, TeamSimulation

    world = TeamSimulation(RoleTable(folder / "roles.json"), options.wait)
    if options.end_with_input:
        team_server.stop_on_pipe_end(sys.stdin, world)
    return world


def _run_member(options: argparse.Namespace) -> int:
    """Execute `class join --role`: take a role in the shared simulation of a team."""
    from app.classroom.join import JoinFailedError
    from app.classroom.join_code import InvalidJoinCodeError, parse_invitation
    from app.classroom.team.member import TeamConnection, play_role
    from app.cli.runs import read_input_lines

    if options.player is not None or options.speed is not None:
        raise UsageError("--player and --speed cannot be used with --role")
    if not options.role:
        raise UsageError("--role needs the key of a role, such as dba")
    lines, problems = read_input_lines(options.inputs) if options.inputs is not None else ([], [])
    if problems:
        raise UsageError("\n".join(f"{options.inputs}: {problem}" for problem in problems))
    output = sys.stderr if options.json == "-" else sys.stdout
    try:
        member = TeamConnection(parse_invitation(options.code), options.name, options.role, options.take_over)
        member.start()
        noticed, verdict = play_role(
            member,
            lines if options.inputs is not None else sys.stdin,
            lambda text: print(text, file=output, flush=True),
        )
    except (InvalidJoinCodeError, JoinFailedError) as problem:
        raise UsageError(str(problem)) from problem
    if options.json is not None:
        write_json({"role": options.role, "noticed": noticed, "verdict": verdict}, options.json)
    return SUCCESS


def _run_join(options: argparse.Namespace) -> int:
    if options.role is not None:
        return _run_member(options)
    from app.classroom.join import JoinFailedError, play_in_class_seat
    from app.classroom.join_code import InvalidJoinCodeError, parse_invitation
    from app.classroom.players import SolutionNotFoundError
    from app.classroom.seat_log import SEAT_FILE_SUFFIX, InvalidSeatLogError, read_handout

    output = sys.stderr if options.json == "-" else sys.stdout
    speed = options.speed if options.speed or options.inputs or options.player else 1.0
    try:
        file = Path(options.code)
        if file.suffix == SEAT_FILE_SUFFIX and not file.is_file():
            raise UsageError(f"{options.code} does not exist")
        attended = play_in_class_seat(
            read_handout(file) if file.is_file() else parse_invitation(options.code),
            options.name,
            _build_player(options),
            speed,
            lambda message: print(message.text, file=output, flush=True),
            options.consent,
        )
    except (InvalidJoinCodeError, JoinFailedError, InvalidSeatLogError, SolutionNotFoundError) as problem:
        raise UsageError(str(problem)) from problem
    if options.json is not None:
        write_json(attended.report, options.json)
    else:
        print("\n".join(_format_report(attended.report)))
    if attended.refusal_reason:
        print(f"mirrordrill: the host has refused this seat: {attended.refusal_reason}", file=sys.stderr)
    elif (
        attended.has_host
        and not attended.unacknowledged_count
        and attended.report["class"]["verdict"] is None
    ):
        print(
            "mirrordrill: the host has all inputs, but no result yet; join again to get it",
            file=sys.stderr,
        )
    if not attended.has_host:
        print(f"hand in {attended.log_file}", file=output)
        return SUCCESS
    if attended.unacknowledged_count:
        print(
            f"mirrordrill: {attended.unacknowledged_count} actions did not reach the host; hand in {attended.log_file}",
            file=sys.stderr,
        )
    return NEGATIVE_ANSWER if attended.unacknowledged_count or attended.refusal_reason else SUCCESS


def _build_player(options: argparse.Namespace) -> PlayRun:
    from app.classroom import players
    from app.cli.runs import read_input_lines

    if options.inputs is not None:
        inputs, problems = read_input_lines(options.inputs)
        if problems:
            raise UsageError("\n".join(f"{options.inputs}: {problem}" for problem in problems))
        return players.create_input_player(inputs)
    if options.player is not None:
        return players.play_reference
    return players.create_typing_player(
        sys.stdin, lambda message: print(message, file=sys.stderr, flush=True)
    )


def _format_report(report: SeatReport) -> list[str]:
    verdict = report["class"]["verdict"]
    lines = [
        f"{report['scenario']}, seed {report['seed']}: ended after {format_duration(report['ended_at_s'])}"
    ]
    if verdict is not None and verdict["score"] is not None:
        lines.append(f"score {verdict['score']:g} of 100, computed by the host")
    return lines


def _run_verify(options: argparse.Namespace) -> int:
    from app.classroom.class_files import check_class_file
    from app.classroom.seat_log import InvalidSeatLogError
    from app.files.run_files import RunFileError

    log_checks = []
    for file in options.files:
        try:
            log_checks += list(check_class_file(Path(file)))
        except (InvalidSeatLogError, RunFileError) as problem:
            raise UsageError(str(problem)) from problem
    if options.json is not None:
        write_json([asdict(log_check) for log_check in log_checks], options.json)
    if options.json != "-":
        for log_check in log_checks:
            print(
                f"{log_check.file}: {log_check.name}: {log_check.problem or _describe_verdict(log_check.verdict)}"
            )
    return NEGATIVE_ANSWER if any(log_check.problem for log_check in log_checks) else SUCCESS


def _describe_verdict(verdict: LogVerdict | None) -> str:
    if verdict is None:
        return "nothing was played"
    score = "" if verdict["score"] is None else f", score {verdict['score']:g} of 100"
    return f"matches its inputs, up to {format_run_time(verdict['t_s'], 2)}{score}"


def _run_export(options: argparse.Namespace) -> int:
    from app.classroom.class_files import build_class_archive

    return _write_output(options, lambda record: build_class_archive(record, options.seat))


def _run_hand_out(options: argparse.Namespace) -> int:
    from app.classroom.class_files import build_handout

    return _write_output(options, build_handout)


def _run_report(options: argparse.Namespace) -> int:
    from joblib import Parallel, delayed
    from joblib.externals.loky import get_reusable_executor

    from app.classroom import debrief, group_comparison, report
    from app.classroom.join_code import SECRET_LENGTH
    from app.classroom.seat_log import InvalidSeatLogError

    def review_part(
        record: ClassRecord, part: ClassPart, is_only_part: bool
    ) -> tuple[bytes, debrief.ClassReview] | None:
        """Return the report (ZIP) and the review of *part*; None if no seat has played it."""
        logs = debrief.read_seat_logs(record, options.names, None if is_only_part else part)
        if not logs:
            return None
        jobs = (
            delayed(debrief.review_seat)(log, options.pdf, options.seconds, options.language) for log in logs
        )
        processes = max(1, min(len(logs) // SEATS_PER_PROCESS, os.cpu_count() or 1))
        seats = []
        try:
            for seat in Parallel(n_jobs=processes, return_as="generator")(jobs):
                seats.append(seat)
                progress_text = tr("{n} of {all} seats").format(n=len(seats), all=len(logs))
                print(f"\r{progress_text}", end="", file=sys.stderr, flush=True)
        finally:
            print(file=sys.stderr)
            if processes > 1:
                # the processes and the thread of joblib would otherwise remain
                get_reusable_executor().shutdown()
        key = part.code[SECRET_LENGTH:].lower() + ("" if is_only_part else f"/{part.id}")
        marks = debrief.list_marks(record, options.names, None if is_only_part else part)
        review = debrief.review_class(logs, seats, marks, part.clock_at)
        return report.build_report_archive(review, key, options.names, options.pdf), review

    def build_report(record: ClassRecord) -> bytes:
        the_class = record.read_class()
        parts = record.read_parts()[: the_class.id] if the_class is not None else []
        reviews = [(part, review) for part in parts if (review := review_part(record, part, not part.part))]
        if not reviews:
            raise InvalidSeatLogError("the class has no seats")
        if not parts[0].part:
            return reviews[0][1][0]
        people = group_comparison.collect_person_scores(
            {part.part: review.seats for part, (_, review) in reviews}
        )
        sheets = {
            "people.csv": group_comparison.format_person_scores_csv(people, with_names=True),
            "analysis.csv": group_comparison.format_comparisons_csv(group_comparison.compare_groups(people)),
        }
        return report.merge_archives(
            {f"{part.id}-{part.part}": zipped for part, (zipped, _) in reviews}, sheets
        )

    before = language.get_current_language()
    language.use_language(options.language)
    try:
        return _write_output(options, build_report)
    finally:
        language.use_language(before)


def _run_compare(options: argparse.Namespace) -> int:
    from app.classroom import group_comparison
    from app.classroom.seat_log import InvalidSeatLogError
    from app.files.run_files import RunFileError

    files = {name: Path(file) for name in COMPARED_OPTIONS if (file := getattr(options, name)) is not None}
    if options.file is not None if files else options.file is None:
        raise UsageError("name one exported class with several parts, or --pre, --lesson and --post")
    if files and len(files.keys() - {"retention"}) < 3:
        raise UsageError("--pre, --lesson and --post are needed; a class of several parts is one file")
    try:
        participants = (
            group_comparison.read_person_scores(**files)
            if files
            else group_comparison.read_class_person_scores(Path(options.file))
        )
        atomic_write.write_atomically(
            Path(options.out),
            group_comparison.format_comparisons_csv(group_comparison.compare_groups(participants)),
        )
        if options.people is not None:
            atomic_write.write_atomically(
                Path(options.people),
                group_comparison.format_person_scores_csv(participants, options.names),
            )
    except (InvalidSeatLogError, RunFileError) as problem:
        raise UsageError(str(problem)) from problem
    except OSError as problem:
        raise UsageError(f"{options.out} cannot be written: {problem.strerror}") from problem
    return SUCCESS


def _run_erase(options: argparse.Namespace) -> int:
    from app.classroom.record import ClassRecord, RecordUnavailableError
    from app.classroom.service import has_live_host

    if options.all == bool(options.seats):
        raise UsageError("give the numbers of seats, or --all")
    try:
        with closing(ClassRecord(_locate_database(options), create=False)) as record:
            the_class, seats = record.read_class(), {seat.id: seat.name for seat in record.read_seats()}
            seat_numbers = sorted(seats if options.all else set(options.seats))
            unknown = [number for number in seat_numbers if number not in seats]
            if the_class is None or unknown:
                raise UsageError(
                    f"there is no seat {', '.join(map(str, unknown))}" if unknown else "there is no class"
                )
            if has_live_host(the_class):
                raise UsageError("the class is open: close it first")
            people = ", ".join(f"{number} ({seats[number]})" for number in seat_numbers)
            if not options.yes:
                print(f"Erase seats {people}? This cannot be undone. Type yes: ", end="", flush=True)
                if sys.stdin.readline().strip().lower() != "yes":
                    print("nothing was erased")
                    return NEGATIVE_ANSWER
            record.erase_people(seat_numbers)
    except RecordUnavailableError as problem:
        raise UsageError(str(problem)) from problem
    print(
        f"erased: {len(seat_numbers)} of {len(seats)} seats; files that were exported earlier are unchanged"
    )
    return SUCCESS


def _write_output(options: argparse.Namespace, build_content: Callable[[ClassRecord], bytes]) -> int:
    """Call *build_content* with the class record, and write the result to the file of the option --out."""
    from app.classroom.record import ClassRecord, RecordUnavailableError
    from app.classroom.seat_log import InvalidSeatLogError

    try:
        with closing(ClassRecord(_locate_database(options), create=False)) as record:
            content = build_content(record)
        atomic_write.write_atomically(Path(options.out), content)
    except (RecordUnavailableError, InvalidSeatLogError) as problem:
        raise UsageError(str(problem)) from problem
    except OSError as problem:
        raise UsageError(f"{options.out} cannot be written: {problem.strerror}") from problem
    return SUCCESS


def _run_console(options: argparse.Namespace) -> int:
    from app.classroom.console import HostUnavailableError, run_console
    from app.classroom.debrief import find_divergence_times
    from app.classroom.record import ClassRecord, RecordUnavailableError

    try:
        with closing(ClassRecord(_locate_database(options), create=False)) as record:
            the_class = record.read_class()
            if the_class is None:
                raise UsageError("the database contains no class")
            run_console(
                the_class, sys.stdin, partial(print, flush=True), partial(find_divergence_times, record)
            )
    except (RecordUnavailableError, HostUnavailableError) as problem:
        raise UsageError(str(problem)) from problem
    return SUCCESS


COMMANDS: Final = {
    "class host": _run_host, "class join": _run_join, "class team": _run_team, "class console": _run_console,
    "class hand-out": _run_hand_out, "class verify": _run_verify, "class export": _run_export,
    "class report": _run_report, "class compare": _run_compare, "class erase": _run_erase,
}  # fmt: skip
