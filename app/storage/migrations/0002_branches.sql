-- Runs with a common past: the parent of each, and the point where it left.
CREATE TABLE branch (
    run_id INTEGER NOT NULL,
    tree_id INTEGER NOT NULL,
    parent_id INTEGER,
    name VARCHAR NOT NULL,
    tick INTEGER NOT NULL,
    inputs INTEGER NOT NULL,
    PRIMARY KEY (run_id),
    FOREIGN KEY (run_id) REFERENCES run (id),
    FOREIGN KEY (tree_id) REFERENCES run (id),
    FOREIGN KEY (parent_id) REFERENCES run (id)
);
