-- The parts of a class. SQLite changes no key of an existing table.
ALTER TABLE class ADD COLUMN part VARCHAR DEFAULT '' NOT NULL;
ALTER TABLE class ADD COLUMN current BOOLEAN DEFAULT TRUE NOT NULL;
ALTER TABLE instruction ADD COLUMN part INTEGER DEFAULT 1 NOT NULL;
CREATE TABLE act_new (
    seat_id INTEGER NOT NULL REFERENCES seat (id),
    part INTEGER NOT NULL,
    number INTEGER NOT NULL,
    tick INTEGER NOT NULL,
    line VARCHAR NOT NULL,
    digest VARCHAR NOT NULL,
    instruction INTEGER NOT NULL,
    PRIMARY KEY (seat_id, part, number)
);
INSERT INTO act_new (seat_id, part, number, tick, line, digest, instruction)
    SELECT seat_id, 1, number, tick, line, digest, instruction FROM act;
DROP TABLE act;
ALTER TABLE act_new RENAME TO act;
