"""Tests that a person's reflection is stored with a run and deleted with it."""

from __future__ import annotations

from app.learning.reflection import Reflection
from app.storage import Profile
from tests.app.storage.test_results import record_run


def test_a_reflection_is_stored_replaced_and_deleted_with_its_run(profile: Profile) -> None:
    first, second = record_run(profile, "lab", 80.0), record_run(profile, "lab", 90.0)
    assert profile.read_reflection(first) is None
    profile.store_reflection(first, Reflection("the witness was gone", "look first", 70.0))
    profile.store_reflection(first, Reflection("the witness was gone", "", None))
    assert profile.read_reflection(first) == Reflection("the witness was gone", "", None)
    assert profile.read_reflection(second) is None
    assert profile.find_data_faults() == []
    profile.delete_finished_runs([first])
    assert profile.read_reflection(first) is None
