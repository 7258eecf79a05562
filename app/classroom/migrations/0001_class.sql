-- A class, its seats, their actions and the instructor's instructions.
CREATE TABLE alembic_version (
    version_num VARCHAR(32) NOT NULL,
    CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
CREATE TABLE class (
    id INTEGER NOT NULL PRIMARY KEY,
    code VARCHAR NOT NULL,
    secret VARCHAR NOT NULL,
    certificate VARCHAR NOT NULL,
    "key" VARCHAR NOT NULL,
    address VARCHAR NOT NULL,
    scenario_name VARCHAR NOT NULL,
    scenario_text VARCHAR NOT NULL,
    scenario_hash VARCHAR NOT NULL,
    mode VARCHAR NOT NULL,
    seed BIGINT NOT NULL,
    plan VARCHAR NOT NULL,
    state VARCHAR NOT NULL,
    CONSTRAINT class_state_known CHECK (state IN ('running', 'frozen', 'over'))
);
CREATE TABLE seat (
    id INTEGER NOT NULL PRIMARY KEY,
    token_hash VARCHAR NOT NULL UNIQUE,
    name VARCHAR NOT NULL,
    consent BOOLEAN NOT NULL,
    acknowledged INTEGER NOT NULL,
    tick INTEGER NOT NULL
);
CREATE TABLE act (
    seat_id INTEGER NOT NULL REFERENCES seat (id),
    number INTEGER NOT NULL,
    tick INTEGER NOT NULL,
    line VARCHAR NOT NULL,
    digest VARCHAR NOT NULL,
    instruction INTEGER NOT NULL,
    PRIMARY KEY (seat_id, number)
);
CREATE TABLE instruction (
    number INTEGER NOT NULL PRIMARY KEY,
    seat_id INTEGER REFERENCES seat (id),
    tick INTEGER,
    kind VARCHAR NOT NULL,
    text VARCHAR NOT NULL,
    CONSTRAINT instruction_kind_known CHECK (kind IN ('message', 'inject'))
);
