"""A file from another person: what it holds, before anything of it runs."""

from app.views.quarantine.facts import Fact, facts_of
from app.views.quarantine.items import Item
from app.views.quarantine.page import Quarantine

__all__ = ["Fact", "Item", "Quarantine", "facts_of"]
