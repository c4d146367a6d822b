-- Billing: what was used, what it costs, who owes whom. Rows are added and never changed.

ALTER TABLE attempt
    ADD COLUMN closed_at timestamptz,
    ADD COLUMN metered boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN attempt.closed_at IS 'When we took it to have ended, by our own clock; null while it has not.';
COMMENT ON COLUMN attempt.metered IS 'It has ended, and usage_record has what it used.';
-- What ended before there was billing is not billed.
UPDATE attempt SET closed_at = least(greatest(ended_at, dispatched_at, created_at), now()), metered = true WHERE state = 'ended';
CREATE INDEX attempt_unmetered ON attempt (id) WHERE state = 'ended' AND NOT metered; -- the metering duty

CREATE TABLE late_end (
    attempt_id text PRIMARY KEY,
    outcome text NOT NULL,
    exit_code integer,
    started_at timestamptz,
    ended_at timestamptz NOT NULL,
    run_s double precision NOT NULL CHECK (run_s >= 0),
    cpu_s double precision NOT NULL,
    max_resident_bytes bigint NOT NULL,
    reported_at timestamptz NOT NULL DEFAULT now(),
    metered boolean NOT NULL DEFAULT false
);
COMMENT ON TABLE late_end IS 'What a center said of an attempt after it was given up as lost or cancelled: its usage is corrected by it.';
CREATE INDEX late_end_unmetered ON late_end (attempt_id) WHERE NOT metered; -- the metering duty

CREATE TABLE score_evidence (
    id text PRIMARY KEY CHECK (length(id) = 64),
    unit_type_id text NOT NULL,
    score_milli bigint NOT NULL CHECK (score_milli >= 0),
    document jsonb NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE score_evidence IS 'Why a unit of a type scored what it was billed by: policy, and of each operator its score, weight and probe run. The id is the SHA-256 of the document.';

CREATE INDEX score_evidence_of_unit_type ON score_evidence (unit_type_id, recorded_at DESC); -- a unit type that has left the catalog

CREATE TABLE usage_record (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source text NOT NULL,
    revision integer NOT NULL DEFAULT 1 CHECK (revision >= 1),
    kind text NOT NULL CHECK (kind IN ('compute', 'storage', 'reservation')),
    payer text NOT NULL CHECK (payer IN ('project', 'network', 'nobody')),
    project text NOT NULL,
    submitted_by text NOT NULL DEFAULT '',
    job_id text NOT NULL DEFAULT '',
    job_name text NOT NULL DEFAULT '',
    job_type text NOT NULL DEFAULT '',
    attempt_id text NOT NULL DEFAULT '',
    probe_run_id text NOT NULL DEFAULT '',
    center_id text NOT NULL DEFAULT '',
    center text NOT NULL DEFAULT '',
    unit_type_id text NOT NULL DEFAULT '',
    unit_type text NOT NULL DEFAULT '',
    resource_type text NOT NULL DEFAULT '',
    unit_count bigint NOT NULL DEFAULT 0 CHECK (unit_count >= 0),
    units bigint[] NOT NULL DEFAULT '{}',
    cores_per_unit bigint NOT NULL DEFAULT 0,
    submitted_at timestamptz,
    from_at timestamptz NOT NULL,
    until_at timestamptz NOT NULL CHECK (until_at >= from_at),
    outcome text NOT NULL DEFAULT '',
    exit_code integer,
    cpu_us bigint NOT NULL DEFAULT 0,
    max_resident_bytes bigint NOT NULL DEFAULT 0,
    moved_bytes bigint NOT NULL DEFAULT 0 CHECK (moved_bytes >= 0),
    stored_bytes bigint NOT NULL DEFAULT 0 CHECK (stored_bytes >= 0),
    idle_unit_us bigint NOT NULL DEFAULT 0 CHECK (idle_unit_us >= 0),
    energy_j bigint NOT NULL DEFAULT 0 CHECK (energy_j >= 0),
    score_milli bigint NOT NULL DEFAULT 0 CHECK (score_milli >= 0),
    evidence_id text REFERENCES score_evidence (id),
    recorded_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (source, revision)
);
COMMENT ON TABLE usage_record IS 'What was used, once for each ended attempt, hour of storage and reservation. It says all that a bill needs, so that it outlives the job.';
COMMENT ON COLUMN usage_record.source IS 'The attempt''s id, reservation/ID, or storage/PROJECT/START.';
COMMENT ON COLUMN usage_record.revision IS 'The highest holds; a later one corrects what was known before.';
COMMENT ON COLUMN usage_record.payer IS 'network: probes. nobody: what a center lost.';
COMMENT ON COLUMN usage_record.from_at IS 'By our own clock. Attempts of one job that anybody pays never overlap.';
COMMENT ON COLUMN usage_record.moved_bytes IS 'What the job said that it moves: in once it had started, out once it succeeded.';
COMMENT ON COLUMN usage_record.idle_unit_us IS 'Of a reservation: units x microseconds that no job of the project used.';
COMMENT ON COLUMN usage_record.energy_j IS 'Joules, by the power that the price book says; 0: not known.';
COMMENT ON COLUMN usage_record.score_milli IS 'Thousandths of a point, of one unit, when it was recorded.';
CREATE INDEX usage_record_of_project ON usage_record (project, id DESC); -- a project's list
CREATE INDEX usage_record_of_center ON usage_record (center, id DESC);   -- a center's list
CREATE INDEX usage_record_of_job ON usage_record (job_id) WHERE job_id <> ''; -- what a job cost
CREATE INDEX usage_record_until ON usage_record (until_at, id);           -- accounting exports

CREATE TABLE ledger_entry (
    seq bigint PRIMARY KEY CHECK (seq >= 1),
    period date NOT NULL CHECK (extract(day FROM period) = 1),
    kind text NOT NULL CHECK (kind IN ('usage', 'reversal', 'correction', 'close')),
    source text NOT NULL UNIQUE,
    usage_id bigint REFERENCES usage_record (id),
    corrects bigint REFERENCES ledger_entry (seq),
    posted_at timestamptz NOT NULL,
    note text NOT NULL DEFAULT '',
    detail text NOT NULL DEFAULT '',
    previous_sha256 text NOT NULL CHECK (length(previous_sha256) = 64),
    sha256 text NOT NULL CHECK (length(sha256) = 64)
);
COMMENT ON TABLE ledger_entry IS 'The ledger: each entry''s hash covers its text and the hash before it (core/decide/ledger). The unique source makes each posting happen once.';
COMMENT ON COLUMN ledger_entry.period IS 'First day of the month (UTC) that it counts in.';
CREATE INDEX ledger_entry_of_period ON ledger_entry (period, seq);   -- where a period begins
CREATE INDEX ledger_entry_of_usage ON ledger_entry (usage_id, seq);  -- what a usage was posted as

CREATE TABLE charge (
    seq bigint NOT NULL REFERENCES ledger_entry (seq),
    line integer NOT NULL CHECK (line >= 1),
    period date NOT NULL,
    usage_id bigint NOT NULL REFERENCES usage_record (id),
    payer text NOT NULL,
    project text NOT NULL,
    center text NOT NULL,
    unit_type text NOT NULL,
    resource_type text NOT NULL,
    job_id text NOT NULL,
    job_name text NOT NULL,
    attempt_id text NOT NULL,
    unit_count bigint NOT NULL,
    score_milli bigint NOT NULL,
    evidence_id text,
    is_correction boolean NOT NULL,
    meter text NOT NULL,
    book_version bigint NOT NULL REFERENCES price_book (version),
    currency text NOT NULL,
    from_at timestamptz NOT NULL,
    until_at timestamptz NOT NULL,
    quantity_nano bigint NOT NULL,
    unit_price_micros bigint NOT NULL,
    list_micros bigint NOT NULL,
    billed_micros bigint NOT NULL,
    PRIMARY KEY (seq, line)
);
COMMENT ON TABLE charge IS 'The lines of ledger entries, with what statements and exports say of them.';
COMMENT ON COLUMN charge.quantity_nano IS '10^-9 of the meter''s unit.';
COMMENT ON COLUMN charge.is_correction IS 'It corrects a period that had been closed, or undoes or replaces an earlier entry.';
CREATE INDEX charge_of_project ON charge (project, period, seq, line); -- a project's statement and budget
CREATE INDEX charge_of_center ON charge (center, period, seq, line);   -- a center's statement
CREATE INDEX charge_of_usage ON charge (usage_id);                     -- trials of price books
CREATE INDEX charge_of_job ON charge (job_id) WHERE job_id <> '';      -- what a job cost

CREATE TABLE posting (
    seq bigint NOT NULL REFERENCES ledger_entry (seq),
    account text NOT NULL,
    currency text NOT NULL,
    amount_micros bigint NOT NULL CHECK (amount_micros <> 0),
    PRIMARY KEY (seq, account, currency)
);
COMMENT ON TABLE posting IS 'Double entry: the amounts of an entry sum to 0 in each currency. Positive: the account owes it.';

CREATE TABLE project_bill (
    project text NOT NULL,
    period date NOT NULL,
    currency text NOT NULL,
    billed_micros bigint NOT NULL,
    PRIMARY KEY (project, period, currency)
);
COMMENT ON TABLE project_bill IS 'The sum of a project''s charges of a month, kept beside them so that budgets need not add them up.';

CREATE TABLE ledger_head (
    only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
    seq bigint NOT NULL DEFAULT 0,
    sha256 text NOT NULL DEFAULT repeat('0', 64),
    usage_id bigint NOT NULL DEFAULT 0,
    storage_until timestamptz NOT NULL DEFAULT date_trunc('hour', now(), 'UTC'),
    since timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE ledger_head IS 'The last entry, and the last usage that was posted. Whoever posts holds this row, so that entries come one after the other.';
COMMENT ON COLUMN ledger_head.since IS 'What ended after that has usage.';
COMMENT ON COLUMN ledger_head.storage_until IS 'Storage is metered until then.';
INSERT INTO ledger_head DEFAULT VALUES;

CREATE TABLE billing_period (
    period date PRIMARY KEY CHECK (extract(day FROM period) = 1),
    closed_at timestamptz NOT NULL DEFAULT now(),
    closed_by text NOT NULL,
    seq bigint NOT NULL REFERENCES ledger_entry (seq)
);
COMMENT ON TABLE billing_period IS 'Months that are closed: nothing is posted to them any more.';

CREATE TABLE budget_alert (
    project text NOT NULL,
    period date NOT NULL,
    percent integer NOT NULL,
    amount_micros bigint NOT NULL,
    currency text NOT NULL,
    at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (project, period, percent)
);
COMMENT ON TABLE budget_alert IS 'A project''s bill of a month has reached so many percent of its budget.';

ALTER TABLE advance_reservation ADD COLUMN metered boolean NOT NULL DEFAULT false;
UPDATE advance_reservation SET metered = true WHERE ends_at <= now() OR cancelled_at IS NOT NULL;
CREATE INDEX advance_reservation_unmetered ON advance_reservation (ends_at) WHERE NOT metered; -- the metering duty

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'rows of % are never changed: post a correction', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER usage_record_is_final BEFORE UPDATE OR DELETE OR TRUNCATE ON usage_record EXECUTE FUNCTION refuse_change();
CREATE TRIGGER score_evidence_is_final BEFORE UPDATE OR DELETE OR TRUNCATE ON score_evidence EXECUTE FUNCTION refuse_change();
CREATE TRIGGER ledger_entry_is_final BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entry EXECUTE FUNCTION refuse_change();
CREATE TRIGGER charge_is_final BEFORE UPDATE OR DELETE OR TRUNCATE ON charge EXECUTE FUNCTION refuse_change();
CREATE TRIGGER posting_is_final BEFORE UPDATE OR DELETE OR TRUNCATE ON posting EXECUTE FUNCTION refuse_change();
CREATE TRIGGER billing_period_is_final BEFORE UPDATE OR DELETE OR TRUNCATE ON billing_period EXECUTE FUNCTION refuse_change();
CREATE TRIGGER price_book_is_final BEFORE UPDATE OR DELETE OR TRUNCATE ON price_book EXECUTE FUNCTION refuse_change();

-- A closed month takes nothing, whoever posts.
CREATE FUNCTION refuse_closed_period() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.kind <> 'close' AND EXISTS (SELECT 1 FROM billing_period WHERE period = NEW.period) THEN
        RAISE EXCEPTION 'the period % is closed', to_char(NEW.period, 'YYYY-MM') USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER ledger_entry_is_open BEFORE INSERT ON ledger_entry FOR EACH ROW EXECUTE FUNCTION refuse_closed_period();
