-- Runs with their journals, results, drafts and settings.
PRAGMA application_id = 0x4D524452;  -- as in database.py; repeated, because a migration never changes once released
CREATE TABLE alembic_version (
    version_num VARCHAR(32) NOT NULL,
    CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
CREATE TABLE run (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    scenario_name VARCHAR NOT NULL,
    scenario_text VARCHAR NOT NULL,
    scenario_hash VARCHAR NOT NULL,
    seed INTEGER NOT NULL,
    engine_version VARCHAR NOT NULL,
    mode VARCHAR NOT NULL,
    status VARCHAR NOT NULL,
    started_at DATETIME NOT NULL,
    tick INTEGER NOT NULL,
    line_count INTEGER NOT NULL,
    line_chain INTEGER NOT NULL,
    CONSTRAINT run_status_known CHECK (status IN ('running', 'finished', 'abandoned'))
);
CREATE TABLE line (
    run_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    tick INTEGER NOT NULL,
    text VARCHAR NOT NULL,
    PRIMARY KEY (run_id, number),
    FOREIGN KEY (run_id) REFERENCES run (id)
);
CREATE TABLE checkpoint (
    run_id INTEGER NOT NULL,
    tick INTEGER NOT NULL,
    state_hash VARCHAR NOT NULL,
    PRIMARY KEY (run_id, tick),
    FOREIGN KEY (run_id) REFERENCES run (id)
);
CREATE TABLE result (
    run_id INTEGER NOT NULL,
    finished_at DATETIME NOT NULL,
    state_hash VARCHAR NOT NULL,
    score DOUBLE,
    downtime_s DOUBLE NOT NULL,
    lost_transactions INTEGER NOT NULL,
    report_json VARCHAR NOT NULL,
    PRIMARY KEY (run_id),
    FOREIGN KEY (run_id) REFERENCES run (id)
);
CREATE TABLE draft (
    "key" VARCHAR NOT NULL,
    text VARCHAR NOT NULL,
    PRIMARY KEY ("key")
);
CREATE TABLE setting (
    "key" VARCHAR NOT NULL,
    value_json VARCHAR NOT NULL,
    PRIMARY KEY ("key")
);
