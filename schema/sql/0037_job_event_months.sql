-- Events of jobs by the month in which their job was submitted: a month goes as a whole once its jobs are gone
-- (docs/decisions/0021-events-by-month.md).

ALTER TABLE job_event RENAME TO job_event_before;
ALTER SEQUENCE job_event_id_seq RENAME TO job_event_before_id_seq;

CREATE TABLE job_event (
    id bigint GENERATED ALWAYS AS IDENTITY,
    job_id text NOT NULL,
    at timestamptz NOT NULL DEFAULT now(),
    state text NOT NULL,
    cause text NOT NULL,
    evidence jsonb NOT NULL DEFAULT '{}'
) PARTITION BY RANGE (job_id);
COMMENT ON TABLE job_event IS 'Every change of a job with its time, cause and evidence; also the source of the live event stream. A job''s events are in one partition: ids of jobs begin with the time. Those of jobs that are gone may stay until their month goes.';
CREATE TABLE job_event_other PARTITION OF job_event DEFAULT;
COMMENT ON TABLE job_event_other IS 'Events of jobs whose month has no partition.';

CREATE TABLE job_event_month (
    first_day date PRIMARY KEY CHECK (extract(day FROM first_day) = 1),
    first_id text NOT NULL,
    past_id text NOT NULL,
    is_reduced boolean NOT NULL DEFAULT false
);
COMMENT ON TABLE job_event_month IS 'The partitions job_event_YYYY_MM. Months are those of UTC.';
COMMENT ON COLUMN job_event_month.first_id IS 'No job of the month has a smaller id.';
COMMENT ON COLUMN job_event_month.past_id IS 'No job of the month has this id or a greater one.';
COMMENT ON COLUMN job_event_month.is_reduced IS 'It has only events of jobs that outlived it; these go one by one with their jobs.';

CREATE FUNCTION first_job_id(moment timestamptz) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT 'job_' || string_agg(substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (ms >> (digit * 5) & 31)::integer + 1, 1), ''
                                ORDER BY digit DESC) || repeat('0', 16)
    FROM (SELECT floor(extract(epoch FROM moment) * 1000)::bigint AS ms) t, generate_series(0, 9) AS digit
$$;
COMMENT ON FUNCTION first_job_id IS 'The smallest id of a job that is submitted then: a ULID without its random part.';

-- Each lock is waited for half a second at most: others wait behind who waits.
CREATE FUNCTION make_job_event_month(month date) RETURNS boolean LANGUAGE plpgsql SET lock_timeout = '500ms' AS $$
DECLARE
    partition text := to_char(month, '"job_event_"YYYY_MM');
    first text := first_job_id(month::timestamp AT TIME ZONE 'UTC');
    past text := first_job_id((month + interval '1 month') AT TIME ZONE 'UTC');
BEGIN
    PERFORM FROM job_event_month WHERE first_day = month;
    IF FOUND THEN RETURN true; END IF;
    LOCK TABLE ONLY job_event IN SHARE UPDATE EXCLUSIVE MODE;
    LOCK TABLE job_event_other IN ACCESS EXCLUSIVE MODE;
    -- Moving many would take long, and they are as well off where they are.
    PERFORM FROM job_event_other WHERE job_id >= first AND job_id < past OFFSET 10000 LIMIT 1;
    IF FOUND THEN RETURN false; END IF;
    EXECUTE format('CREATE TABLE %I (LIKE job_event INCLUDING ALL EXCLUDING IDENTITY)', partition);
    EXECUTE format('WITH moved AS (DELETE FROM job_event_other WHERE job_id >= $1 AND job_id < $2 RETURNING *) '
                   'INSERT INTO %I SELECT * FROM moved', partition) USING first, past;
    EXECUTE format('ALTER TABLE job_event ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', partition, first, past);
    INSERT INTO job_event_month (first_day, first_id, past_id) VALUES (month, first, past);
    RETURN true;
EXCEPTION WHEN lock_not_available THEN
    RETURN false;
END $$;
COMMENT ON FUNCTION make_job_event_month IS 'Makes the partition of the month that begins on that day. False: not now, for others hold the table, or because too many of its events are in job_event_other.';

CREATE FUNCTION drop_job_event_month(month date) RETURNS boolean LANGUAGE plpgsql SET lock_timeout = '500ms' AS $$
DECLARE
    partition text := to_char(month, '"job_event_"YYYY_MM');
    kept text := partition || '_kept';
    of_month job_event_month;
    kept_rows bigint;
BEGIN
    SELECT * INTO STRICT of_month FROM job_event_month WHERE first_day = month;
    -- From here on who adds to this month waits, which nobody does but for a job that is older than jobs are kept. Should
    -- the two of us wait for each other, one is refused, and runs again. Others wait only while it is replaced.
    EXECUTE format('LOCK TABLE %I IN SHARE MODE', partition);
    EXECUTE format('CREATE TABLE %I (LIKE job_event INCLUDING ALL EXCLUDING IDENTITY)', kept);
    EXECUTE format('INSERT INTO %I SELECT e.* FROM job j JOIN %I e ON e.job_id = j.id WHERE j.id >= $1 AND j.id < $2',
                   kept, partition) USING of_month.first_id, of_month.past_id;
    GET DIAGNOSTICS kept_rows = ROW_COUNT;
    LOCK TABLE ONLY job_event IN ACCESS EXCLUSIVE MODE;
    EXECUTE format('DROP TABLE %I', partition);
    IF kept_rows = 0 THEN
        EXECUTE format('DROP TABLE %I', kept);
        DELETE FROM job_event_month WHERE first_day = month;
        RETURN true;
    END IF;
    EXECUTE format('ALTER TABLE %I RENAME TO %I', kept, partition);
    EXECUTE format('ALTER TABLE job_event ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', partition,
                   of_month.first_id, of_month.past_id);
    UPDATE job_event_month SET is_reduced = true WHERE first_day = month;
    RETURN true;
EXCEPTION WHEN lock_not_available THEN
    RETURN false;
END $$;
COMMENT ON FUNCTION drop_job_event_month IS 'Drops the partition of a month, but for events of jobs that are still there: these are copied to a new one first. False: not now, for others hold the table.';

-- Months in which there are jobs, this one and the next.
SELECT make_job_event_month(month::date)
FROM (SELECT date_trunc('month', submitted_at AT TIME ZONE 'UTC') AS month FROM job
      UNION SELECT date_trunc('month', now() AT TIME ZONE 'UTC')
      UNION SELECT date_trunc('month', now() AT TIME ZONE 'UTC') + interval '1 month') months
ORDER BY month;

INSERT INTO job_event (id, job_id, at, state, cause, evidence) OVERRIDING SYSTEM VALUE
    SELECT id, job_id, at, state, cause, evidence FROM job_event_before;
SELECT setval(pg_get_serial_sequence('job_event', 'id'), last_value, is_called) FROM job_event_before_id_seq;
DROP TABLE job_event_before;

ALTER TABLE job_event ADD PRIMARY KEY (job_id, id); -- a job's history
CREATE INDEX job_event_in_order ON job_event (id);  -- the event stream
