"""Tests with inputs that fuzz.py found: each is parsed or refused, without unexpected exceptions."""

from __future__ import annotations

import asyncio

from tests.app.serve.fuzz import CORPUS, build_targets, run_input


def test_any_client_bytes_are_read_or_refused() -> None:
    inputs = [file.read_bytes() for file in sorted(CORPUS.iterdir())]
    with asyncio.Runner() as runner:
        all_targets = build_targets(runner.get_loop())
        assert {data[0] % len(all_targets) for data in inputs if data} == set(range(len(all_targets)))
        for data in inputs:
            run_input(data, all_targets)
