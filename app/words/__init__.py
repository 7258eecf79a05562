"""Texts for users: the catalog, sentences for events and refusals, numbers and units. Without Qt."""
