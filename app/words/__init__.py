"""Texts for people: the catalog, sentences for events and refusals, numbers and units. No Qt."""
