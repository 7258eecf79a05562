"""File from another person: its contents, before anything of it runs."""

from app.views.quarantine.facts import Fact, facts_of
from app.views.quarantine.items import BundleItem
from app.views.quarantine.page import Quarantine

__all__ = ["BundleItem", "Fact", "Quarantine", "facts_of"]
