"""Tree of runs with a common past. A branch has a parent, a branch point, and its own later inputs."""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from engine.drill.authoring.schema import Scenario
from engine.drill.running.drill import Drill
from engine.drill.running.modes import DrillMode
from engine.drill.time.cooperative_tasks import CooperativeTask, replay_inputs, scale_progress
from engine.drill.time.history import History
from engine.generators import run_to_completion
from engine.inputs import InputError
from engine.localization import build_message
from engine.model import Tick
from engine.verbs.input_lines import parse_script

MAIN_BRANCH_NAME: Final = "main"
"""Name of the first branch, unless it was renamed."""

BRANCHES_MAX: Final = 100
"""Maximum number of branches in a tree. Assumed: a learner compares fewer."""

BRANCH_NAME_CHARACTERS_MAX: Final = 60
"""Maximum characters of a branch name."""


class BranchError(ValueError):
    """Error in an operation on branches. The text is one sentence."""


class BranchPoint(Struct, frozen=True):
    """Point at which a branch leaves its parent: the tick, and the number of inputs that both share."""

    parent: str | None = None
    """Name of the parent; None for the first branch."""
    tick: Tick = 0
    inputs: int = 0
    """Number of inputs that the branch shares with its parent."""


class Branch(Struct, frozen=True):
    """Stored branch, without the past that it shares with its parent."""

    name: str
    root: BranchPoint
    mode: DrillMode
    lines: tuple[str, ...]
    """Journal of the branch from its branch point on."""
    until_tick: Tick
    """Last played tick of the branch."""


class BranchTree:
    """Tree of runs of one scenario with one seed. Only the current branch can be continued."""

    def __init__(
        self, history: History, stored: Sequence[Branch] = (), current: str = MAIN_BRANCH_NAME
    ) -> None:
        """Begin with *history*, the run of the branch *current*.

        Other branches in *stored* are replayed on demand.
        """
        self._histories: dict[str, History | Branch] = {branch.name: branch for branch in stored}
        self._histories[current] = history
        self._roots: dict[str, BranchPoint] = (
            {MAIN_BRANCH_NAME: BranchPoint()} if not stored else {b.name: b.root for b in stored}
        )
        self.current = current

    @property
    def history(self) -> History:
        """History of the current branch."""
        return self.get_history(self.current)

    def list_names(self) -> list[str]:
        """Return the names of all branches. A parent is before its children."""
        return list(self._histories)

    def get_history(self, name: str) -> History:
        """Return the history of a branch. A stored branch is replayed first.

        Raises BranchError, or InputError if a stored branch belongs to another drill.
        """
        return run_to_completion(self._replay_branch(name))

    def replay_stored_branches(self, *names: str) -> CooperativeTask[None]:
        """Replay the stored branches *names*, or all stored branches without *names*. Runs in slices.

        Afterward, `get_history` returns their histories immediately.
        """
        stored = [name for name in names or self._histories if isinstance(self._find_branch(name), Branch)]
        for number, name in enumerate(stored):
            yield from scale_progress(
                self._replay_branch(name), number / len(stored), (number + 1) / len(stored)
            )

    def _replay_branch(self, name: str) -> CooperativeTask[History]:
        history = self._find_branch(name)
        if isinstance(history, Branch):
            lines = self._list_journal_lines(name)[: self._roots[name].inputs]
            any_drill = self._any_drill
            history = yield from _replay_stored_branch(any_drill.scenario, any_drill.seed, history, lines)
            self._histories[name] = history
        return history

    def _list_journal_lines(self, name: str) -> list[str]:
        """Return the complete journal of a branch, which may be replayed or only stored."""
        branch, root = self._find_branch(name), self._roots[name]
        if isinstance(branch, History):
            return [item.line for item in branch.drill.journal]
        parent_lines = [] if root.parent is None else self._list_journal_lines(root.parent)[: root.inputs]
        return [*parent_lines, *branch.lines]

    def _find_branch(self, name: str) -> History | Branch:
        if name not in self._histories:
            raise BranchError(build_message("Branch {name!r} does not exist.", name=name))
        return self._histories[name]

    @property
    def _any_drill(self) -> Drill:
        return next(h.drill for h in self._histories.values() if isinstance(h, History))

    def get_branch_point(self, name: str) -> BranchPoint:
        """Return the branch point of a branch: its parent, tick and shared inputs. Raises BranchError."""
        self._find_branch(name)
        return self._roots[name]

    # --- change ---------------------------------------------------------------------------------------------

    def fork(self, tick: Tick, name: str | None = None, before_inputs: bool = False) -> History:
        """Fork the current branch at *tick*. The new branch becomes the current branch.

        *before_inputs*: True for the state before the inputs of *tick*. Hints and answers that any
        branch has revealed stay revealed. Raises BranchError if the name is in use, and InputError in an
        exam that has not ended.
        """
        return run_to_completion(self.fork_in_slices(tick, name, before_inputs))

    def fork_in_slices(
        self, tick: Tick, name: str | None = None, before_inputs: bool = False
    ) -> CooperativeTask[History]:
        """Run `fork` in slices. Only the last slice changes the tree."""
        name = self._choose_free_name() if name is None else self._check_name(name)
        if len(self._histories) >= BRANCHES_MAX:
            raise BranchError(
                build_message("A run can have at most {n} branches. Remove one first.", n=BRANCHES_MAX)
            )
        yield from scale_progress(self.replay_stored_branches(), 0.0, 0.5)
        other_drills = [
            self.get_history(other_name).drill
            for other_name in self.list_names()
            if other_name != self.current
        ]
        forked = yield from scale_progress(
            self.history.fork_in_slices(tick, before_inputs, other_drills), 0.5, 1.0
        )
        shared = len(forked.drill.journal) - 1
        parent = self.current
        while (ancestor := self._roots[parent].parent) is not None and shared <= self._roots[parent].inputs:
            parent = (
                ancestor  # the fork is before this branch's own branch point, so it belongs to the parent
            )
        self._histories[name] = forked
        self._roots[name] = BranchPoint(parent, forked.drill.tick, shared)
        self.current = name
        return forked

    def switch_branch(self, name: str) -> History:
        """Make another branch the current branch, at its last position. Raises BranchError."""
        history = self.get_history(name)
        self.current = name
        return history

    def rename(self, name: str, new_name: str) -> None:
        """Rename a branch.

        Raises BranchError if the branch does not exist, or if the new name is in use or empty.
        """
        self._find_branch(name)
        if new_name == name:
            return
        new = self._check_name(new_name)
        new_names = {
            other_history: new if other_history == name else other_history
            for other_history in self._histories
        }
        self._histories = {
            new_names[branch_name]: history for branch_name, history in self._histories.items()
        }
        self._roots = {
            new_names[branch_name]: replace(root, parent=new_names.get(root.parent or ""))
            for branch_name, root in self._roots.items()
        }
        self.current = new_names[self.current]

    def remove_branch(self, name: str) -> None:
        """Remove a branch and its descendants.

        Raises BranchError for the first branch, and if the current branch would be removed.
        """
        if self.get_branch_point(name).parent is None:
            raise BranchError(
                build_message("You cannot remove the first branch because all others start from it.")
            )
        removed_names = {name}
        for branch_name, root in self._roots.items():  # a parent comes before its children in this dictionary
            if root.parent in removed_names:
                removed_names.add(branch_name)
        if self.current in removed_names:
            raise BranchError(
                build_message("You cannot remove the current branch. Switch to another branch first.")
            )
        for branch_name in sorted(removed_names):
            del self._histories[branch_name], self._roots[branch_name]

    def _choose_free_name(self) -> str:
        numbers = range(1, len(self._histories) + 1)
        return next(name for n in numbers if (name := f"branch {n}") not in self._histories)

    def _check_name(self, name: str) -> str:
        name = " ".join(name.split())
        if not name or len(name) > BRANCH_NAME_CHARACTERS_MAX:
            raise BranchError(
                build_message(
                    "A branch name must have 1 to {most} characters.", most=BRANCH_NAME_CHARACTERS_MAX
                )
            )
        if name in self._histories:
            raise BranchError(build_message("Branch {name!r} already exists.", name=name))
        return name


def _replay_stored_branch(
    scenario: Scenario, seed: int, branch: Branch, shared_lines: Iterable[str]
) -> CooperativeTask[History]:
    inputs, problems = parse_script("\n".join([*shared_lines, *branch.lines]))
    if problems:
        raise InputError("; ".join(problems))
    history = History(Drill(scenario, seed, branch.mode))
    return (yield from replay_inputs(history, inputs, branch.until_tick))
