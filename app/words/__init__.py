"""Texts for users: translation, announcements of events, and formatting of numbers and units. Without Qt."""
