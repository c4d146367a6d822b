-- What a token and a project may have waiting and stored.

CREATE TABLE stored_use (
    submitted_by text NOT NULL,
    project text NOT NULL,
    bytes bigint NOT NULL,
    PRIMARY KEY (submitted_by, project)
);
COMMENT ON TABLE stored_use IS 'Bytes of the specifications and the output of jobs that are kept, by who submitted them; with stored_change it is exact.';
CREATE INDEX stored_use_of_project ON stored_use (project); -- what a project has stored

CREATE TABLE stored_change (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    submitted_by text NOT NULL,
    project text NOT NULL,
    bytes bigint NOT NULL
);
COMMENT ON TABLE stored_change IS 'What came to stored_use, or went: rows of their own, so that submissions do not wait for each other. A duty adds them up.';
CREATE INDEX stored_change_of_token ON stored_change (submitted_by); -- what a token has stored
CREATE INDEX stored_change_of_project ON stored_change (project);    -- what a project has stored

INSERT INTO stored_use (submitted_by, project, bytes)
    SELECT j.submitted_by, j.project, sum(j.spec_bytes + coalesce(o.bytes, 0))
    FROM job j LEFT JOIN (SELECT a.job_id, sum(x.bytes) AS bytes
                          FROM attempt_output x JOIN attempt a ON a.id = x.attempt_id GROUP BY a.job_id) o ON o.job_id = j.id
    WHERE j.label = 'job' GROUP BY j.submitted_by, j.project;

ALTER TABLE attempt_output ADD COLUMN cut_at timestamptz;
COMMENT ON COLUMN attempt_output.cut_at IS 'Since when more of its output is not kept, as the job has reached its limit.';

CREATE INDEX job_waiting_of_token ON job (submitted_by) WHERE label = 'job' AND state IN ('queued', 'metering');  -- how many of a token wait
CREATE INDEX job_waiting_of_project ON job (project) WHERE label = 'job' AND state IN ('queued', 'metering');     -- how many of a project wait
