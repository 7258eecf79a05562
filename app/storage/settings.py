"""Permanent settings and unsaved query texts of a profile."""

import json
from typing import Generic, TypeVar

from msgspec import Struct

from app.storage.database import ProfileDatabase

Value = TypeVar("Value", bool, int, float, str)


class SettingKey(Struct, Generic[Value], frozen=True):
    """Name and default value of a setting. The default determines the type."""

    name: str
    default: Value


class ProfileSettings(Struct, frozen=True):
    """Settings in the profile's database."""

    _database: ProfileDatabase

    def get(self, key: SettingKey[Value]) -> Value:
        """Return the stored value; the default if the value is missing, unreadable or of another type."""
        with self._database.run_transaction() as db:
            row = db.execute("SELECT value_json FROM setting WHERE key = ?", (key.name,)).fetchone()
        value = _parse_value(row["value_json"]) if row else key.default
        return value if type(value) is type(key.default) else key.default

    def read_all(self) -> dict[str, object]:
        """Return all stored values by name, for the support bundle. An unreadable value is None."""
        with self._database.run_transaction() as db:
            return {
                row["key"]: _parse_value(row["value_json"]) for row in db.execute("SELECT * FROM setting")
            }

    def set(self, key: SettingKey[Value], value: Value) -> None:
        """Store the value of a setting."""
        if type(value) is not type(key.default):
            raise TypeError(f"setting {key.name} is {type(key.default).__name__}, not {type(value).__name__}")
        with self._database.run_transaction() as db:
            db.execute("REPLACE INTO setting (key, value_json) VALUES (?, ?)", (key.name, json.dumps(value)))


def _parse_value(value_json: str) -> object:
    """Return the value of a JSON text; None if the text is not valid JSON or is nested too deeply."""
    try:
        return json.loads(value_json)
    except (ValueError, RecursionError):
        return None


class DraftStore(Struct, frozen=True):
    """Store of unsaved query texts. The window chooses the keys."""

    _database: ProfileDatabase

    def save(self, key: str, text: str) -> None:
        """Store a draft."""
        with self._database.run_transaction() as db:
            db.execute("REPLACE INTO draft (key, text) VALUES (?, ?)", (key, text))

    def load(self, key: str) -> str | None:
        """Return a draft; None if there is none."""
        with self._database.run_transaction() as db:
            row = db.execute("SELECT text FROM draft WHERE key = ?", (key,)).fetchone()
        return row["text"] if row else None

    def delete(self, key: str) -> None:
        """Delete a draft."""
        with self._database.run_transaction() as db:
            db.execute("DELETE FROM draft WHERE key = ?", (key,))

    def list_keys(self) -> list[str]:
        """Return the keys of all drafts."""
        with self._database.run_transaction() as db:
            return [row["key"] for row in db.execute("SELECT key FROM draft ORDER BY key")]
