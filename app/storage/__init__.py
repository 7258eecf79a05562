"""Runs, journals, results, drafts and settings of one learner, in one SQLite file. No Qt."""

from app.storage.branches import StoredBranch
from app.storage.problems import ProblemKind, StorageProblem
from app.storage.profile import Profile, open_profile
from app.storage.results import Record, ResultRow, records
from app.storage.runs import JournalLine, RunId, StateHash, UnfinishedRun
from app.storage.settings import SettingKey

__all__ = [
    "JournalLine",
    "ProblemKind",
    "Profile",
    "Record",
    "ResultRow",
    "RunId",
    "SettingKey",
    "StateHash",
    "StorageProblem",
    "StoredBranch",
    "UnfinishedRun",
    "open_profile",
    "records",
]
