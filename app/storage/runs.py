"""Runs and their journals: what must be known to play a drill again to the bit."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, NewType
from zlib import crc32

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.storage.mark import Mark
from app.storage.models import ABANDONED, RUNNING, Checkpoint, Line, Run
from app.words.language import tr

RunId = NewType("RunId", int)


@dataclass(frozen=True, slots=True)
class JournalLine:
    tick: int
    text: str


@dataclass(frozen=True, slots=True)
class StateHash:
    tick: int
    state_hash: str


@dataclass(frozen=True, slots=True)
class UnfinishedRun:
    """A run that neither ended nor was given up: its process was killed."""

    run_id: RunId
    scenario_name: str
    scenario_text: str
    scenario_hash: str
    seed: int
    engine_version: str
    mode: str
    started_at: datetime
    tick: int
    """Where it was: play to here, with *lines*."""
    lines: tuple[JournalLine, ...]
    checkpoints: tuple[StateHash, ...]
    problem: str | None
    """Why it cannot be resumed, as a sentence; None if it can."""


TICK_MAX: Final = 100_000_000
"""A million seconds, after which no input can be: to play a run to a turned bit far beyond would never end."""


def utc_now() -> datetime:
    """The time to store: UTC without a zone, as SQLite keeps it."""
    return datetime.now(UTC).replace(tzinfo=None)


def begin(
    session: Session,
    *,
    scenario_name: str,
    scenario_text: str,
    scenario_hash: str,
    seed: int,
    engine_version: str,
    mode: str,
) -> RunId:
    if not 0 <= seed < 2**63:
        raise ValueError(f"seed {seed} is not in 0 ... 2**63 - 1, the range that the profile can store")
    run = Run(
        scenario_name=scenario_name,
        scenario_text=scenario_text,
        scenario_hash=scenario_hash,
        seed=seed,
        engine_version=engine_version,
        mode=mode,
        started_at=utc_now(),
    )
    session.add(run)
    session.flush()
    return RunId(run.id)


def append(session: Session, run_id: RunId, tick: int, text: str) -> int:
    """Returns how many lines the run has now."""
    run = running(session, run_id)
    run.line_count += 1
    run.line_chain = _link(run.line_chain, tick, text)
    run.tick = max(run.tick, tick)
    session.add(Line(run_id=run_id, number=run.line_count, tick=tick, text=text))
    return run.line_count


def reach(session: Session, run_id: RunId, tick: int) -> None:
    run = running(session, run_id)
    run.tick = max(run.tick, tick)


def checkpoint(session: Session, run_id: RunId, tick: int, state_hash: str) -> None:
    reach(session, run_id, tick)
    session.merge(Checkpoint(run_id=run_id, tick=tick, state_hash=state_hash))


def abandon(session: Session, run_id: RunId) -> None:
    running(session, run_id).status = ABANDONED


def running(session: Session, run_id: RunId) -> Run:
    """The run, which must not have ended: whoever writes to an ended run would change history."""
    run = session.get_one(Run, run_id)
    if run.status != RUNNING:
        raise ValueError(f"run {run_id} is {run.status}")
    return run


def unfinished(session: Session, marked: Mark | None = None) -> list[UnfinishedRun]:
    """Runs to offer for a resume, newest first; one that is shorter than it was *marked* has a problem."""
    runs = session.scalars(select(Run).where(Run.status == RUNNING).order_by(Run.id.desc()))
    return [_read(session, run, marked) for run in runs]


def lost(session: Session, marked: Mark) -> list[str]:
    """A sentence if the marked run is missing altogether."""
    if session.get(Run, marked.run_id) is not None:
        return []
    return [
        tr(
            "Run {id}, with {count} lines, is missing: the disk has lost confirmed writes, or an "
            "older copy of the profile was put in place."
        ).format(id=marked.run_id, count=marked.lines)
    ]


def played(session: Session, scenario_name: str) -> bool:
    """Whether a run of that scenario was ever begun."""
    return session.scalar(select(Run.id).where(Run.scenario_name == scenario_name).limit(1)) is not None


def begun(session: Session) -> frozenset[str]:
    """Names of the scenarios of which a run was ever begun."""
    return frozenset(session.scalars(select(Run.scenario_name).distinct()))


def text_of(session: Session, run_id: RunId) -> str:
    """The scenario file that a run was played with."""
    return session.get_one(Run, run_id).scenario_text


def last(session: Session) -> RunId | None:
    found = session.scalar(select(Run.id).order_by(Run.id.desc()).limit(1))
    return None if found is None else RunId(found)


def journal(session: Session, run_id: RunId) -> tuple[JournalLine, ...]:
    found = session.scalars(select(Line).where(Line.run_id == run_id).order_by(Line.number))
    return tuple(JournalLine(line.tick, line.text) for line in found)


def damaged(session: Session) -> list[str]:
    """One sentence for each run whose journal is not the one that was written."""
    problems = [_problem(run, journal(session, RunId(run.id))) for run in session.scalars(select(Run))]
    return [problem for problem in problems if problem]


def _read(session: Session, run: Run, marked: Mark | None) -> UnfinishedRun:
    run_id = RunId(run.id)
    lines = journal(session, run_id)
    hashes = session.scalars(select(Checkpoint).where(Checkpoint.run_id == run_id).order_by(Checkpoint.tick))
    return UnfinishedRun(
        run_id=run_id,
        scenario_name=run.scenario_name,
        scenario_text=run.scenario_text,
        scenario_hash=run.scenario_hash,
        seed=run.seed,
        engine_version=run.engine_version,
        mode=run.mode,
        started_at=run.started_at.replace(tzinfo=UTC),
        tick=run.tick,
        lines=lines,
        checkpoints=tuple(StateHash(row.tick, row.state_hash) for row in hashes),
        problem=_problem(run, lines, marked.lines if marked is not None and marked.run_id == run.id else 0),
    )


def _link(chain: int, tick: int, text: str) -> int:
    """The chain's next value: the CRC of everything so far and this line."""
    return crc32(f"{tick} {text}\n".encode(), chain)


def _problem(run: Run, lines: tuple[JournalLine, ...], at_least: int = 0) -> str | None:
    """A shorter or other journal would play another drill and say nothing, so it is refused."""
    where = tr("The journal of run {id} ({scenario})").format(id=run.id, scenario=run.scenario_name)
    every = max(run.line_count, at_least)
    if len(lines) != every:
        return tr("{where} holds {count} of {all} lines: the file was damaged or changed.").format(
            where=where, count=len(lines), all=every
        )
    chain = 0
    for line in lines:
        chain = _link(chain, line.tick, line.text)
    if chain != run.line_chain or run.seed < 0 or not 0 <= run.tick <= TICK_MAX:
        return tr("{where} differs from the one that was written: the file was damaged or changed.").format(
            where=where
        )
    return None
