-- Rewinds are instructions.
ALTER TABLE instruction DROP CONSTRAINT instruction_kind_known;
ALTER TABLE instruction ADD CONSTRAINT instruction_kind_known CHECK (kind IN ('message', 'inject', 'back'));
