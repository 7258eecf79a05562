-- The instructor marks times. SQLite changes no constraint of an existing table.
CREATE TABLE instruction_new (
    number INTEGER NOT NULL PRIMARY KEY,
    part INTEGER DEFAULT 1 NOT NULL,
    seat_id INTEGER REFERENCES seat (id),
    group_name VARCHAR,
    tick INTEGER,
    kind VARCHAR NOT NULL,
    text VARCHAR NOT NULL,
    CONSTRAINT instruction_kind_known CHECK (kind IN ('message', 'inject', 'back', 'mark'))
);
INSERT INTO instruction_new (number, part, seat_id, group_name, tick, kind, text)
    SELECT number, part, seat_id, group_name, tick, kind, text FROM instruction;
DROP TABLE instruction;
ALTER TABLE instruction_new RENAME TO instruction;
