"""Plugs a run of the learner's profile into a session."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from app.recording import NotRecorded
from app.storage import Profile, RunId, StorageProblem
from engine.constants import TICKS_PER_S
from engine.drill.drill import Drill
from engine.drill.report import program_version


class ProfileRecorder:
    """A Recorder that writes into one run of a profile."""

    def __init__(self, profile: Profile, run_id: RunId) -> None:
        self.run_id = run_id
        self._profile = profile

    def line(self, tick: int, line: str) -> None:
        with _as_not_recorded():
            self._profile.append(self.run_id, tick, line)

    def heartbeat(self, tick: int) -> None:
        with _as_not_recorded():
            self._profile.heartbeat(self.run_id, tick)

    def checkpoint(self, tick: int, state_hash: str) -> None:
        with _as_not_recorded():
            self._profile.checkpoint(self.run_id, tick, state_hash)

    def finish(self, report: Mapping[str, Any]) -> None:
        score = report["score"]
        tick = round(report["ended_at_s"] * TICKS_PER_S)
        with _as_not_recorded():
            total = score["total"] if score["scored"] else None
            self._profile.finish(self.run_id, tick, report["state_hash"], json.dumps(report), total)


def begin(profile: Profile, drill: Drill) -> ProfileRecorder:
    """A new run in *profile* for *drill*, with whatever its journal already holds. Raises NotRecorded."""
    text = drill.scenario.text
    with _as_not_recorded():
        run_id = profile.begin_run(
            scenario_name=drill.scenario.name,
            scenario_text=text,
            scenario_hash=hashlib.sha256(text.encode()).hexdigest(),
            seed=drill.seed,
            engine_version=program_version(),
            mode=drill.mode.value,
        )
    recorder = ProfileRecorder(profile, run_id)
    for item in drill.journal:
        recorder.line(item.tick, item.line)
    recorder.heartbeat(drill.tick)
    return recorder


@contextmanager
def _as_not_recorded() -> Iterator[None]:
    try:
        yield
    except StorageProblem as problem:
        raise NotRecorded(str(problem)) from problem
