"""Settings that must last, and unsaved texts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Generic, TypeVar

from sqlalchemy import delete, select
from sqlalchemy.orm import Session, sessionmaker

from app.storage.models import Draft, Setting

Value = TypeVar("Value", bool, int, float, str)


@dataclass(frozen=True, slots=True)
class SettingKey(Generic[Value]):
    """A setting's name, and its value until somebody chooses another; the default's type is the setting's."""

    name: str
    default: Value


@dataclass(frozen=True, slots=True)
class Settings:
    _begin: sessionmaker[Session]

    def get(self, key: SettingKey[Value]) -> Value:
        """The stored value; the default where there is none, one of another type, or one that cannot be read."""
        with self._begin.begin() as session:
            row = session.get(Setting, key.name)
            value = _read(row.value_json) if row else key.default
        return value if type(value) is type(key.default) else key.default

    def everything(self) -> dict[str, object]:
        """All stored values by name, None for what cannot be read, for the support bundle."""
        with self._begin.begin() as session:
            return {row.key: _read(row.value_json) for row in session.scalars(select(Setting))}

    def set(self, key: SettingKey[Value], value: Value) -> None:
        if type(value) is not type(key.default):
            raise TypeError(f"setting {key.name} is {type(key.default).__name__}, not {type(value).__name__}")
        with self._begin.begin() as session:
            session.merge(Setting(key=key.name, value_json=json.dumps(value)))


def _read(value_json: str) -> object:
    """The value; None if it is not JSON, or too deep for it."""
    try:
        return json.loads(value_json)
    except (ValueError, RecursionError):
        return None


@dataclass(frozen=True, slots=True)
class Drafts:
    """Query texts that nobody saved, by a key that the window chooses."""

    _begin: sessionmaker[Session]

    def save(self, key: str, text: str) -> None:
        with self._begin.begin() as session:
            session.merge(Draft(key=key, text=text))

    def load(self, key: str) -> str | None:
        with self._begin.begin() as session:
            row = session.get(Draft, key)
            return row.text if row else None

    def delete(self, key: str) -> None:
        with self._begin.begin() as session:
            session.execute(delete(Draft).where(Draft.key == key))

    def keys(self) -> list[str]:
        with self._begin.begin() as session:
            return list(session.scalars(select(Draft.key).order_by(Draft.key)))
