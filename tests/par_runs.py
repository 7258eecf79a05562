"""Search for par that stops after a number of nodes."""

from collections.abc import Iterable, Sequence
from itertools import takewhile

from engine.drill.par.search import ParSearch
from engine.inputs import Input


def run_search(search: ParSearch, node_limit: int, seeds: Iterable[Sequence[Input]] = ()) -> ParSearch:
    """Search until *node_limit* nodes are visited, and return the search."""
    for _ in takewhile(lambda _: search.node_count < node_limit, search.run_steps(seeds)):
        pass
    return search
