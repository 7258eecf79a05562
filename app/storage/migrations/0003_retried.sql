-- Retries (the run went back in time, or began from a snapshot of an earlier run) and opened hints.
ALTER TABLE result ADD COLUMN retried BOOLEAN DEFAULT 0 NOT NULL;
ALTER TABLE result ADD COLUMN hints INTEGER DEFAULT '0' NOT NULL;
UPDATE result SET retried = 1 WHERE run_id IN (SELECT run_id FROM branch WHERE parent_id IS NOT NULL);
-- A damaged report has neither rewinds nor hints.
UPDATE result SET
    retried = retried OR coalesce(json_array_length(report_json, '$.rewinds'), 0) > 0,
    hints = (
        SELECT count(*) FROM json_each(report_json, '$.events')
        WHERE type = 'object' AND json_extract(value, '$.kind') = 'hint'
    )
WHERE json_valid(report_json);
