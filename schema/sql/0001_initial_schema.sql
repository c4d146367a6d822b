-- The first house: identity, centers, operators, metering, jobs.
-- Conventions: ids are text (prefix_ULID, so they sort by time); times are timestamptz; durations are seconds;
-- states are text with a CHECK. Each index says which query needs it.

CREATE TABLE authority (
    only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
    certificate_pem text NOT NULL,
    key_pem text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE authority IS 'The network''s certificate authority. All replicas sign with it, so whoever can read this table can enrol agents.';

CREATE TABLE api_token (
    id text PRIMARY KEY,
    name text NOT NULL,
    secret_sha256 text NOT NULL UNIQUE CHECK (length(secret_sha256) = 64),
    role text NOT NULL CHECK (role IN ('admin', 'expert', 'user', 'viewer')),
    created_at timestamptz NOT NULL DEFAULT now(),
    created_by text NOT NULL,
    expires_at timestamptz,
    revoked_at timestamptz
);
COMMENT ON COLUMN api_token.secret_sha256 IS 'SHA-256 of the bearer secret in hex; the secret itself is shown once and never kept.';

CREATE TABLE audit_log (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT now(),
    actor text NOT NULL,
    action text NOT NULL,
    subject text NOT NULL,
    request_id text NOT NULL,
    detail jsonb NOT NULL DEFAULT '{}'
);
COMMENT ON TABLE audit_log IS 'Every privileged act: who (token id, center id or replica id), what, on what.';

CREATE TABLE idempotency_key (
    token_id text NOT NULL,
    key text NOT NULL CHECK (length(key) BETWEEN 1 AND 255),
    request_sha256 text NOT NULL,
    response_status integer NOT NULL DEFAULT 0,
    response_body text NOT NULL DEFAULT '',
    response_location text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (token_id, key)
);
COMMENT ON COLUMN idempotency_key.response_status IS 'HTTP status; 0 while the first request still runs.';
COMMENT ON COLUMN idempotency_key.response_location IS 'The Location header; empty for none.';
COMMENT ON TABLE idempotency_key IS 'Answers of POST requests that carried an Idempotency-Key; kept for a day.';
CREATE INDEX idempotency_key_created ON idempotency_key (created_at); -- the daily clean-up

CREATE TABLE center (
    id text PRIMARY KEY,
    name text NOT NULL UNIQUE,
    state text NOT NULL DEFAULT 'enrolled' CHECK (state IN ('enrolled', 'online', 'suspect', 'lost')),
    drained boolean NOT NULL DEFAULT false,
    version bigint NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL DEFAULT now(),
    certificate_serial text,
    previous_certificate_serial text,
    certificate_not_after timestamptz,
    revoked_at timestamptz,
    session_epoch bigint NOT NULL DEFAULT 0,
    session_replica text,
    connected_at timestamptz,
    last_seen_at timestamptz,
    agent_version text,
    facts jsonb NOT NULL DEFAULT '{}'
);
COMMENT ON COLUMN center.state IS 'enrolled: never connected. online: heard of lately. suspect: silent, no new work. lost: silent past its lease.';
COMMENT ON COLUMN center.session_epoch IS 'Grows with every connection of the agent; a session acts only while it holds the newest.';
COMMENT ON COLUMN center.version IS 'For ETag and If-Match; grows with what people change, not with every heartbeat.';
COMMENT ON COLUMN center.previous_certificate_serial IS 'Still accepted after a renewal, until the agent first comes with the new certificate.';

CREATE TABLE enrolment_token (
    id text PRIMARY KEY,
    secret_sha256 text NOT NULL UNIQUE CHECK (length(secret_sha256) = 64),
    center_name text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    created_by text NOT NULL,
    expires_at timestamptz NOT NULL,
    used_at timestamptz
);
COMMENT ON TABLE enrolment_token IS 'One-time secrets with which a center''s agent gets its first certificate.';

CREATE TABLE unit_type (
    id text PRIMARY KEY,
    center_id text NOT NULL REFERENCES center (id),
    name text NOT NULL,
    resource_type text NOT NULL,
    unit_count bigint NOT NULL CHECK (unit_count >= 0),
    cores_per_unit bigint NOT NULL CHECK (cores_per_unit >= 0),
    memory_bytes_per_unit bigint NOT NULL CHECK (memory_bytes_per_unit >= 0),
    operators text[] NOT NULL,
    facts jsonb NOT NULL DEFAULT '{}',
    active boolean NOT NULL DEFAULT true,
    changed_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (center_id, name)
);
COMMENT ON TABLE unit_type IS 'M8: what a center offers, cut into units. Not active: the center no longer reports it; its history stays.';

CREATE TABLE operator (
    id text NOT NULL,
    version bigint NOT NULL CHECK (version >= 1),
    manifest jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    withdrawn_at timestamptz,
    PRIMARY KEY (id, version)
);
COMMENT ON TABLE operator IS 'M2: the probe operator library. Rows are never changed but for withdrawn_at: results name their version.';

CREATE TABLE probe_task (
    id text PRIMARY KEY,
    name text NOT NULL,
    job_type text NOT NULL DEFAULT '',
    origin text NOT NULL CHECK (origin IN ('job', 'expert', 'default')),
    document jsonb NOT NULL,
    document_sha256 text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    created_by text NOT NULL,
    UNIQUE (job_type, document_sha256)
);
COMMENT ON COLUMN probe_task.document IS 'What fathom-probe reads (core/model/probe_task.hpp).';

CREATE TABLE job (
    id text PRIMARY KEY,
    label text NOT NULL DEFAULT 'job' CHECK (label IN ('job', 'probe')),
    name text NOT NULL,
    project text NOT NULL,
    job_type text NOT NULL DEFAULT '',
    spec jsonb NOT NULL,
    state text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'metering', 'placed', 'dispatched', 'running',
                                                          'succeeded', 'failed', 'cancelled', 'lost')),
    version bigint NOT NULL DEFAULT 1,
    submitted_at timestamptz NOT NULL DEFAULT now(),
    submitted_by text NOT NULL,
    state_changed_at timestamptz NOT NULL DEFAULT now(),
    metering_until timestamptz,
    metered boolean NOT NULL DEFAULT false,
    cancel_requested_at timestamptz,
    waiting_reason text NOT NULL DEFAULT '',
    exit_code integer,
    end_reason text NOT NULL DEFAULT '',
    started_at timestamptz,
    ended_at timestamptz,
    run_s double precision
);
COMMENT ON COLUMN job.label IS 'M22: the only difference between a user''s job and a probe.';
COMMENT ON COLUMN job.metering_until IS 'M10: until when the job waits for probes of its type.';
COMMENT ON COLUMN job.metered IS 'M10: true once its probes ended or the wait is over; it is not measured again.';
CREATE INDEX job_waiting ON job (id) WHERE state IN ('queued', 'metering'); -- the router's claim, oldest first
CREATE INDEX job_metering ON job (job_type) WHERE state = 'metering'; -- the types that wait for probes
CREATE INDEX job_live ON job (id) WHERE state IN ('placed', 'dispatched', 'running', 'lost'); -- duties that watch live jobs
CREATE INDEX job_by_label ON job (label, id DESC);   -- the default list, newest first
CREATE INDEX job_by_state ON job (state, id DESC);   -- lists filtered by state
CREATE INDEX job_by_project ON job (project, id DESC); -- lists filtered by project
CREATE INDEX job_by_owner ON job (submitted_by, id DESC); -- a user's list holds only own jobs

CREATE TABLE attempt (
    id text PRIMARY KEY,
    job_id text NOT NULL REFERENCES job (id),
    epoch bigint NOT NULL CHECK (epoch >= 1),
    center_id text NOT NULL REFERENCES center (id),
    unit_type_id text NOT NULL REFERENCES unit_type (id),
    unit_count bigint NOT NULL CHECK (unit_count >= 1),
    state text NOT NULL DEFAULT 'placed' CHECK (state IN ('placed', 'dispatched', 'running', 'ended')),
    decided_by text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    dispatched_at timestamptz,
    started_at timestamptz,
    ended_at timestamptz,
    expected_end_at timestamptz,
    outcome text CHECK (outcome IN ('exited', 'signalled', 'wall_limit', 'cancelled', 'failed_to_start', 'lost')),
    exit_code integer,
    signal integer,
    detail text NOT NULL DEFAULT '',
    run_s double precision,
    cpu_s double precision,
    max_resident_bytes bigint,
    stdout_bytes bigint,
    stderr_bytes bigint,
    cpus bigint[] NOT NULL DEFAULT '{}',
    units bigint[] NOT NULL DEFAULT '{}',
    UNIQUE (job_id, epoch)
);
COMMENT ON TABLE attempt IS 'One try to run a job. Until it has ended it holds unit_count units of its type: the reservation.';
COMMENT ON COLUMN attempt.decided_by IS 'The replica that placed it.';
CREATE UNIQUE INDEX attempt_one_live ON attempt (job_id) WHERE state <> 'ended'; -- a job never runs twice at once
CREATE INDEX attempt_reserved ON attempt (unit_type_id) WHERE state <> 'ended';  -- units in use
CREATE INDEX attempt_of_center ON attempt (center_id) WHERE state <> 'ended';    -- dispatch and reconciliation

CREATE TABLE placement (
    attempt_id text PRIMARY KEY REFERENCES attempt (id),
    job_id text NOT NULL,
    decided_at timestamptz NOT NULL DEFAULT now(),
    decision jsonb NOT NULL
);
COMMENT ON TABLE placement IS 'M23: why a job runs where it does: every candidate, its prediction, and what was assumed.';
CREATE INDEX placement_of_job ON placement (job_id, decided_at DESC); -- the explanation of a job

CREATE TABLE job_event (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    job_id text NOT NULL,
    at timestamptz NOT NULL DEFAULT now(),
    state text NOT NULL,
    cause text NOT NULL,
    evidence jsonb NOT NULL DEFAULT '{}'
);
COMMENT ON TABLE job_event IS 'Every change of a job with its time, cause and evidence; also the source of the live event stream.';
CREATE INDEX job_event_of_job ON job_event (job_id, id); -- a job's history

CREATE TABLE job_output (
    attempt_id text NOT NULL REFERENCES attempt (id),
    stream text NOT NULL CHECK (stream IN ('stdout', 'stderr')),
    offset_bytes bigint NOT NULL CHECK (offset_bytes >= 0),
    data bytea NOT NULL,
    PRIMARY KEY (attempt_id, stream, offset_bytes)
);
COMMENT ON TABLE job_output IS 'What a job wrote, in pieces as the agent sent them.';

CREATE TABLE probe_run (
    id text PRIMARY KEY,
    probe_task_id text NOT NULL REFERENCES probe_task (id),
    center_id text NOT NULL REFERENCES center (id),
    unit_type_id text NOT NULL REFERENCES unit_type (id),
    unit_count bigint NOT NULL CHECK (unit_count >= 1),
    selection text NOT NULL CHECK (selection IN ('catalog', 'user', 'center')),
    cause text NOT NULL CHECK (cause IN ('command', 'arrival', 'schedule', 'catalog_change')),
    job_id text NOT NULL REFERENCES job (id),
    state text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'succeeded', 'failed', 'cancelled')),
    error text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now(),
    created_by text NOT NULL,
    ended_at timestamptz,
    result jsonb
);
COMMENT ON TABLE probe_run IS 'One execution of a probe task on units of one type. It runs as the job job_id (M22).';
COMMENT ON COLUMN probe_run.selection IS 'M13: how the units were chosen. catalog: (a); user: (c); center: (d).';
CREATE UNIQUE INDEX probe_run_of_job ON probe_run (job_id);                                -- from an ended job to its run
CREATE UNIQUE INDEX probe_run_pending ON probe_run (probe_task_id, unit_type_id, unit_count) WHERE state = 'queued'; -- one at a time
CREATE INDEX probe_run_of_unit_type ON probe_run (unit_type_id, id DESC);                  -- lists filtered by unit type

CREATE TABLE measurement (
    probe_run_id text NOT NULL REFERENCES probe_run (id),
    operator_id text NOT NULL,
    operator_version bigint NOT NULL,
    parameters_key text NOT NULL,
    parameters jsonb NOT NULL,
    unit_type_id text NOT NULL REFERENCES unit_type (id),
    unit_count bigint NOT NULL,
    median_s double precision NOT NULL CHECK (median_s > 0),
    ci_low_s double precision NOT NULL,
    ci_high_s double precision NOT NULL,
    spread double precision NOT NULL,
    sample_count integer NOT NULL,
    outlier_count integer NOT NULL,
    operations double precision NOT NULL,
    bytes double precision NOT NULL,
    error double precision NOT NULL,
    tolerance double precision NOT NULL,
    precision text NOT NULL,
    library text NOT NULL,
    checksum text NOT NULL,
    start_up_s double precision NOT NULL,
    measured_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (probe_run_id, operator_id, operator_version, parameters_key)
);
COMMENT ON TABLE measurement IS 'M15: one operator at one size in one probe run. Times are seconds per execution; every sample is in probe_run.result.';
COMMENT ON COLUMN measurement.bytes IS 'Least bytes moved by one execution, by the manifest''s formula.';
COMMENT ON COLUMN measurement.start_up_s IS 'From process start to the first operator, on these units.';
CREATE INDEX measurement_newest ON measurement (unit_type_id, unit_count, operator_id, parameters_key, measured_at DESC); -- the snapshot

CREATE TABLE metric_policy (
    id text NOT NULL,
    version bigint NOT NULL CHECK (version >= 1),
    document jsonb NOT NULL,
    active boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now(),
    created_by text NOT NULL,
    PRIMARY KEY (id, version)
);
COMMENT ON TABLE metric_policy IS 'M16: how raw figures become a score. Scores are computed from measurement when asked, so any policy can be tried on them.';
CREATE UNIQUE INDEX metric_policy_active ON metric_policy (active) WHERE active; -- at most one
