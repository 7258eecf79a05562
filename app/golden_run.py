"""Reference run with a known result, to check that this machine computes the same states. Without Qt."""

import hashlib
import json
from importlib import resources
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict

from app.files import scenario_files
from engine.drill.running.drill import Drill, play_inputs
from engine.model import to_ticks
from engine.verbs.input_lines import parse_script

GOLDEN_INPUT_LINES: Final = """\
5 sql SERVER_B SELECT mirroring_role_desc, mirroring_state_desc FROM sys.database_mirroring
30 power-off SERVER_A
70 power-on SERVER_A
170 sql SERVER_B ALTER DATABASE Sales SET PARTNER FAILOVER
"""
GOLDEN_RUN_END_S: Final = 240.0
GOLDEN_HASHES_FILE: Final = "golden.json"


class GoldenHashes(Struct, frozen=True):
    """Hashes of the reference run: of all events, and of the final simulated state."""

    events: str
    """Hash of times, kinds and texts of all events."""
    state: str


def play_golden_run() -> GoldenHashes:
    """Play the reference run on this machine and return its hashes."""
    drill = Drill(scenario_files.find_scenario_file("lab").load())
    play_inputs(drill, parse_script(GOLDEN_INPUT_LINES)[0])
    drill.advance_to(to_ticks(GOLDEN_RUN_END_S))
    text = json.dumps([(e.tick, e.kind, e.server, e.database, e.text) for e in drill.events])
    return GoldenHashes(
        hashlib.blake2b(text.encode(), digest_size=16).hexdigest(), drill.compute_state_hash()
    )


def load_recorded_hashes() -> GoldenHashes:
    """Return the hashes of the reference run on the machine that built this version."""
    text = resources.files("assets").joinpath(GOLDEN_HASHES_FILE).read_text(encoding="utf-8")
    return GoldenHashes(**json.loads(text))


def format_hashes(golden: GoldenHashes) -> str:
    """Format hashes of the reference run as they are stored."""
    return json.dumps(asdict(golden), indent=2) + "\n"
