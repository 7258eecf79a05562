-- People's reflections on their runs, written before the points were shown.
CREATE TABLE reflection (
    seat_id INTEGER NOT NULL REFERENCES seat (id),
    part INTEGER NOT NULL,
    happened VARCHAR NOT NULL,
    otherwise VARCHAR NOT NULL,
    expected_score FLOAT,
    PRIMARY KEY (seat_id, part)
);
