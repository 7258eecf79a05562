"""`mirrordrill par` over processes: what one process finds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from app import cli
from app.cli import par
from app.cli.processes import cluster
from app.cli.trials import over_processes
from app.exit_codes import UNUSABLE
from engine.drill.par.search import Search
from tests.engine.drill import texts


@pytest.mark.slow
def test_two_processes_find_what_one_finds() -> None:
    small = texts.small(('length = "5min"', 'length = "2min"'))
    rules: dict[str, Any] = {"deeds_max": 2, "points_max": 3}
    one = Search(small, small.seed, **rules)
    two = Search(small, small.seed, spread=over_processes(small, small.seed, 2), **rules)
    with cluster("local"):
        for search in (one, two):
            for _ in search.steps():
                pass
            assert search.complete
    assert one.plans == two.plans
    assert (one.best, one.nodes, one.blunders) == (two.best, two.nodes, two.blunders)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--on", "moon"), "neither local nor dask"),
        (("--workers", "0"), "--workers 0 is not from 1 to"),
    ],
)
def test_unusable_places(
    tmp_path: Path, arguments: Sequence[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "small.toml"
    file.write_text(texts.SMALL)
    assert cli.main(["par", str(file), *arguments], lambda scenario: 9) == UNUSABLE
    assert why in capsys.readouterr().err


def test_progress_says_which_search_goes_on() -> None:
    search = Search(texts.small(), 1, fair=False).run(1)
    assert par._progress(search, 3.2, 60.0).startswith(
        "3 s of 60 s: 1 nodes of the clairvoyant search, best "
    )
