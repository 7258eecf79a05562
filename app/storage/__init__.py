"""Runs, journals, results, drafts and settings of one learner in one SQLite file. Without Qt."""

from app.storage.profile import Profile, open_profile
from app.storage.results import ResultRow, ScenarioResults, group_results_by_scenario
from app.storage.runs import CheckpointHash, JournalLine, RunId, StoredBranch, UnfinishedRun
from app.storage.settings import SettingKey
from app.storage.storage_errors import StorageError, StorageProblemKind

__all__ = [
    "CheckpointHash",
    "JournalLine",
    "Profile",
    "ResultRow",
    "RunId",
    "ScenarioResults",
    "SettingKey",
    "StorageError",
    "StorageProblemKind",
    "StoredBranch",
    "UnfinishedRun",
    "group_results_by_scenario",
    "open_profile",
]  # fmt: skip
