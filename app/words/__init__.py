"""What people read: the catalogue of words, sentences of events and refusals, numbers and units. No Qt."""
