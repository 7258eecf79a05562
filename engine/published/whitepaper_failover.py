"""Tables 4 to 6, figure 5 and the failure scenarios of the 2005 white paper, each compared with runs."""

from functools import cache
from typing import Final

import numpy as np
from msgspec import Struct

from engine.constants import TICKS_PER_S
from engine.model import Failover, Safety, World
from engine.protocol import group_policies, serving
from engine.published.figure_rows import FigureRow, build_published_number_row, build_statement_row
from engine.published.measurements import MIRROR, PRINCIPAL, WITNESS, build_lab_world, play_script

SEED_COUNT: Final = 200

FAILURE_TIME_S: Final = 1.0
"""Time of the failure. Any value gives the same result, because the phase of the checkpoints is random."""

FAULT_LINES: Final = {
    "manual": f"sql {PRINCIPAL} ALTER DATABASE Sales SET PARTNER FAILOVER",
    "shutdown-nowait": f"sql {PRINCIPAL} SHUTDOWN WITH NOWAIT",
    "stop-service": f"stop-service {PRINCIPAL}",
    "shutdown-server": f"shutdown-server {PRINCIPAL}",
    "power-off": f"power-off {PRINCIPAL}",
    "pull-cable": f"pull-cable {PRINCIPAL}",
}
"""Cause of a failover in table 6 -> input line that produces it."""


class FailoverRuns(Struct, frozen=True):
    """Durations of SEED_COUNT failovers by phase, in seconds. As in the paper, detection is separate."""

    failover_s: tuple[float, ...]
    to_decision_s: tuple[float, ...]
    to_role_s: tuple[float, ...]


def build_rows() -> list[FigureRow]:
    """Return the rows of tables 4 to 6, figure 5 and the failure scenarios."""
    return [
        *_build_table_4_rows(),
        *_build_table_5_rows(),
        *_build_table_6_rows(),
        *_build_figure_5_rows(),
        *_build_loss_rows(),
    ]


@cache
def simulate_failovers(cause: str, loaded: bool) -> FailoverRuns:
    """Run the same failure with SEED_COUNT seeds, and return the durations of the failovers.

    *cause*: key of FAULT_LINES. *loaded*: the database has the load of Workload1.
    """
    total_times, decision, role = [], [], []
    for seed in range(SEED_COUNT):
        failover = _simulate_failover(cause, loaded, seed)
        assert failover.online_tick is not None
        assert failover.decided_tick is not None
        total_times.append((failover.online_tick - failover.detected_tick) / TICKS_PER_S)
        decision.append((failover.decided_tick - failover.detected_tick) / TICKS_PER_S)
        role.append((failover.online_tick - failover.decided_tick) / TICKS_PER_S)
    return FailoverRuns(tuple(total_times), tuple(decision), tuple(role))


def _simulate_failover(cause: str, loaded: bool, seed: int) -> Failover:
    world = build_lab_world(seed, workload="Workload1" if loaded else "none")
    play_script(world, f"{FAILURE_TIME_S} {FAULT_LINES[cause]}", 90.0)
    finished_failovers = [failover for failover in world.failovers if failover.online_tick is not None]
    assert finished_failovers, f"no failover after {FAULT_LINES[cause]!r} with seed {seed}"
    return finished_failovers[0]


def _compute_percentiles(values: tuple[float, ...]) -> tuple[float, float, float]:
    """Return the 5th, 50th and 95th percentile."""
    low, middle, high = np.percentile(values, [5, 50, 95]).tolist()
    return low, middle, high


def _build_table_6_rows() -> list[FigureRow]:
    rows_found, slower = [], []
    for cause in FAULT_LINES:
        medians = []
        for under_load in (False, True):
            low, middle, high = _compute_percentiles(simulate_failovers(cause, under_load).failover_s)
            rows_found.append(
                build_published_number_row(
                    f"T6.{cause}.{'loaded' if under_load else 'idle'}", middle, (low, high)
                )
            )
            medians.append(middle)
        slower.append(medians[1] / medians[0])
    return [
        *rows_found,
        build_statement_row("T6.load", min(slower) > 1.0, " / ".join(f"x{ratio:.2f}" for ratio in slower)),
        build_statement_row(
            "T6.manual",
            _compute_percentiles(simulate_failovers("manual", True).failover_s)[1]
            > max(
                _compute_percentiles(simulate_failovers(cause, True).failover_s)[1]
                for cause in FAULT_LINES
                if cause != "manual"
            ),
            "the longest of six, with load and without",
        ),
    ]


def _build_table_5_rows() -> list[FigureRow]:
    """Return rows that compare the paper's trace with our runs of a power failure under load."""
    runs = simulate_failovers("power-off", True)
    table_5 = []
    for id, published, values in (
        ("T5.decision", 0.61, runs.to_decision_s),
        ("T5.role", 2.02, runs.to_role_s),
    ):
        low, middle, high = _compute_percentiles(values)
        table_5.append(
            build_statement_row(
                id, low <= published <= high, f"5 to 95%: {low:.2f} to {high:.2f} s, median {middle:.2f} s"
            )
        )
    world = build_lab_world(1)
    events = play_script(world, f"1 {FAULT_LINES['power-off']}", 30.0)
    traces = [event.text for event in events if event.kind == "trace" and event.server == MIRROR]
    state_names = ("Connection with Principal Lost", "Automatic Failover", "Principal Running Exposed")
    ends = [text for text in traces if any(text.endswith(end) for end in state_names)]
    table_5.append(
        build_statement_row(
            "T5.trace",
            len(ends) == 3 and all(t.endswith(end) for t, end in zip(ends, state_names, strict=True)),
            "; ".join(traces),
        )
    )
    return table_5


def _build_figure_5_rows() -> list[FigureRow]:
    failover = _simulate_failover("power-off", True, 1)
    steps = (
        failover.failed_tick,
        failover.detected_tick,
        failover.redo_done_tick,
        failover.decided_tick,
        failover.online_tick,
        failover.undo_done_tick,
    )
    seconds = [(tick - failover.failed_tick) / TICKS_PER_S for tick in steps if tick is not None]
    detected = (failover.detected_tick - failover.failed_tick) / TICKS_PER_S
    return [
        build_statement_row(
            "F5.order",
            len(seconds) == len(steps) and seconds == sorted(seconds),
            " / ".join(f"{second:.2f}" for second in seconds) + " s",
        ),
        build_statement_row("F5.detection", 0.5 <= detected <= 1.5, f"{detected:.2f} s"),
    ]


def _build_table_4_rows() -> list[FigureRow]:
    """Return the rows about failovers in the three operating modes."""
    table_4 = []
    cases = (("auto", Safety.FULL, True), ("noauto", Safety.FULL, False), ("off", Safety.OFF, False))
    for id, safety, witness in cases:
        world = build_lab_world(1, safety=safety, witness=witness)
        play_script(world, f"1 power-off {PRINCIPAL}", 30.0)
        has_taken_over = serving.is_serving(world, (MIRROR, "Sales"))
        table_4.append(
            build_statement_row(
                f"T4.{id}",
                has_taken_over == witness,
                "the mirror serves" if has_taken_over else "no server serves",
            )
        )
    for id, safety, allowed in (("manual", Safety.FULL, True), ("off.manual", Safety.OFF, False)):
        world = build_lab_world(1, safety=safety, witness=False)
        play_script(world, f"1 {FAULT_LINES['manual']}", 90.0)
        has_taken_over = serving.is_serving(world, (MIRROR, "Sales"))
        table_4.append(
            build_statement_row(
                f"T4.{id}", has_taken_over == allowed, "roles swapped" if has_taken_over else "refused"
            )
        )
    world = build_lab_world(1, safety=Safety.OFF, witness=False)
    force = f"sql {MIRROR} ALTER DATABASE Sales SET PARTNER FORCE_SERVICE_ALLOW_DATA_LOSS"
    play_script(world, f"1 power-off {PRINCIPAL}\n15 {force}", 60.0)
    forced = serving.is_serving(world, (MIRROR, "Sales"))
    table_4.append(
        build_statement_row("T4.forced", forced, "the mirror serves" if forced else "no server serves")
    )
    return table_4


def _build_loss_rows() -> list[FigureRow]:
    """Return the rows about the loss of the mirror, of the witness, and of both."""
    mirror = _play_script(f"1 power-off {MIRROR}")
    witness = _play_script(f"1 power-off {WITNESS}")
    world = _play_script(f"1 power-off {MIRROR}\n20 power-off {WITNESS}")
    after_witness = build_lab_world(1)
    play_script(after_witness, f"1 power-off {WITNESS}\n20 power-off {PRINCIPAL}", 60.0)
    principal_key = (PRINCIPAL, "Sales")
    return [
        build_statement_row(
            "loss.mirror",
            serving.is_serving(mirror, principal_key) and _get_mirroring_state(mirror) == "DISCONNECTED",
            _get_state(mirror),
        ),
        build_statement_row(
            "loss.witness",
            serving.is_serving(witness, principal_key)
            and _get_mirroring_state(witness) == "SYNCHRONIZED"
            and not serving.is_serving(after_witness, (MIRROR, "Sales")),
            f"{_get_state(witness)}; no failover when the principal is lost too",
        ),
        build_statement_row("loss.both", not serving.is_serving(world, principal_key), _get_state(world)),
    ]


def _play_script(script: str) -> World:
    world = build_lab_world(1)
    play_script(world, script, 60.0)
    return world


def _get_mirroring_state(world: World) -> str:
    copy = world.copies[PRINCIPAL, "Sales"]
    return group_policies.get_policy(copy).get_state(copy)


def _get_state(world: World) -> str:
    serves = serving.is_serving(world, (PRINCIPAL, "Sales"))
    return f"{_get_mirroring_state(world) or 'no session'}, {'serves' if serves else 'does not serve'}"


# --- table 6 of the first white paper ---------------------------------------------------------------------
# Table 6 lists failover times by cause for synchronous mirroring with a witness, with Workload1.

REFERENCE: Final = "Database Mirroring Best Practices and Performance Considerations (2006), Table 6"

PUBLISHED_FAILOVER_TIMES_S: Final[dict[str, tuple[str, float, float]]] = {
    # cause: (row of the table, no load s, normal load s)
    "manual": ("ALTER DATABASE FAILOVER (manual failover)", 20.5, 32.2),
    "shutdown-nowait": ("SHUTDOWN WITH NOWAIT", 5.7, 8.5),
    "stop-service": ("Stop SQL Server service on principal", 3.2, 10.8),
    "shutdown-server": ("Shutdown principal server", 10.2, 15.8),
    "power-off": ("Power OFF principal server", 2.2, 2.6),
    "pull-cable": ("Pull network cable on principal connecting to mirror and witness", 1.9, 3.1),
}
"""Failover times of table 6 in seconds, without detection. The paper measured each once."""
