"""Runs, journals, results, drafts and settings of one learner in one SQLite file. Without Qt."""

from app.storage.problems import ProblemKind, StorageError
from app.storage.profile import Profile, open_profile
from app.storage.results import ResultRow, ScenarioResults, compute_records
from app.storage.runs import CheckpointHash, JournalLine, RunId, StoredBranch, UnfinishedRun
from app.storage.settings import SettingKey

__all__ = [
    "CheckpointHash", "JournalLine", "ProblemKind", "Profile", "ResultRow", "RunId", "ScenarioResults",
    "SettingKey", "StorageError", "StoredBranch", "UnfinishedRun", "compute_records", "open_profile",
]  # fmt: skip
