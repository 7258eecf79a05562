-- People's reflections on their runs, written before the points were shown.
CREATE TABLE reflection (
    run_id INTEGER NOT NULL,
    happened VARCHAR NOT NULL,
    otherwise VARCHAR NOT NULL,
    expected_score DOUBLE,
    PRIMARY KEY (run_id),
    FOREIGN KEY (run_id) REFERENCES run (id)
);
