"""Branches of a run as they are stored, and their restoration."""

from collections.abc import Sequence

from engine.drill.authoring.scenario import Scenario
from engine.drill.running.drill import Drill
from engine.drill.time.branches import Branch, Branches
from engine.drill.time.cooperative_tasks import replay_inputs
from engine.drill.time.history import History
from engine.generators import run_to_completion
from engine.inputs import InputError
from engine.verbs.lines import parse_script


def list_stored_branches(branches: Branches) -> list[Branch]:
    """Return the whole tree, each branch after its parent."""
    stored_branches = []
    for name in branches.list_names():
        drill, root = branches.get_history(name).drill, branches.get_root(name)
        lines = tuple(item.line for item in drill.journal[root.inputs :])
        stored_branches.append(Branch(name, root, drill.mode, lines, drill.tick))
    return stored_branches


def restore_branches(scenario: Scenario, seed: int, stored: Sequence[Branch]) -> Branches:
    """Restore the tree in *stored* and replay its first branch. Raises InputError for a branch of another drill."""
    first_branch = stored[0]
    inputs, problems = parse_script("\n".join(first_branch.lines))
    if problems:
        raise InputError("; ".join(problems))
    history = History(Drill(scenario, seed, first_branch.mode))
    return Branches(
        run_to_completion(replay_inputs(history, inputs, first_branch.until_tick)), stored, first_branch.name
    )
