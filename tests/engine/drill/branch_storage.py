"""Functions that list the branches of a run as stored, and restore them."""

from collections.abc import Sequence

from engine.drill.authoring.scenario import Scenario
from engine.drill.running.drill import Drill
from engine.drill.time.branches import Branch, BranchTree
from engine.drill.time.cooperative_tasks import replay_inputs
from engine.drill.time.history import History
from engine.generators import run_to_completion
from engine.inputs import InputError
from engine.verbs.input_lines import parse_script


def list_stored_branches(branches: BranchTree) -> list[Branch]:
    """Return all branches of the tree as stored, each branch after its parent."""
    stored_branches = []
    for name in branches.list_names():
        drill, root = branches.get_history(name).drill, branches.get_branch_point(name)
        lines = tuple(item.line for item in drill.journal[root.inputs :])
        stored_branches.append(Branch(name, root, drill.mode, lines, drill.tick))
    return stored_branches


def restore_branches(scenario: Scenario, seed: int, stored: Sequence[Branch]) -> BranchTree:
    """Restore the tree from *stored* and replay its first branch. Raises InputError for a branch of another
    drill.
    """
    first_branch = stored[0]
    inputs, problems = parse_script("\n".join(first_branch.lines))
    if problems:
        raise InputError("; ".join(problems))
    history = History(Drill(scenario, seed, first_branch.mode))
    return BranchTree(
        run_to_completion(replay_inputs(history, inputs, first_branch.until_tick)), stored, first_branch.name
    )
