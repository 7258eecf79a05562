-- Rewinds are instructions. SQLite changes no constraint of an existing table.
CREATE TABLE instruction_new (
    number INTEGER NOT NULL PRIMARY KEY,
    seat_id INTEGER REFERENCES seat (id),
    group_name VARCHAR,
    tick INTEGER,
    kind VARCHAR NOT NULL,
    text VARCHAR NOT NULL,
    CONSTRAINT instruction_kind_known CHECK (kind IN ('message', 'inject', 'back'))
);
INSERT INTO instruction_new (number, seat_id, group_name, tick, kind, text)
    SELECT number, seat_id, group_name, tick, kind, text FROM instruction;
DROP TABLE instruction;
ALTER TABLE instruction_new RENAME TO instruction;
