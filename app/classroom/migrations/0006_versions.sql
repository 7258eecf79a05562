-- Version of the program at each seat; empty if it was never reported.
ALTER TABLE seat ADD COLUMN version VARCHAR NOT NULL DEFAULT '';
