-- Names as the glossary has them (docs/glossary.md). Replicas of the version before, which live on while the replicas are
-- replaced, find what they read and write by the former names: columns that triggers keep equal, or views. The first
-- migration of the next version removes these. Documents in jsonb stay as they were written, and are read by both names:
-- whoever rewrites them keeps all that waits for these locks waiting, and takes the former name from older replicas.

-- All at first, in the order in which most transactions of live replicas take them, so that few wait in a circle.
LOCK TABLE job, run_prediction, operator_outcome, gpu_sharing_run, job_lesson, project, unit_load
    IN ACCESS EXCLUSIVE MODE;

-- likeness: similarity. What older replicas report of it meanwhile lacks the rows of before.
ALTER TABLE operator_outcome RENAME COLUMN likeness TO similarity;
ALTER TABLE operator_outcome RENAME CONSTRAINT operator_outcome_likeness_check TO operator_outcome_similarity_check;
COMMENT ON COLUMN operator_outcome.similarity IS 'How much of the time of its calls goes as the operator does; 1: they are its calls.';
COMMENT ON COLUMN job_type.own_loops IS 'Loops of the program''s own code in the profile that the type was learned from, each with its share, the nearest operator and the similarity; NULL: there was no profile.';
ALTER TABLE operator_outcome ADD COLUMN likeness double precision;
COMMENT ON COLUMN operator_outcome.likeness IS 'similarity, for replicas of the version before.';
CREATE FUNCTION name_similarity() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.similarity := coalesce(NEW.similarity, NEW.likeness);
    NEW.likeness := NEW.similarity;
    RETURN NEW;
END $$;
CREATE TRIGGER name_similarity BEFORE INSERT ON operator_outcome FOR EACH ROW EXECUTE FUNCTION name_similarity();

-- promised: raw prediction. The ledger of predictions grows with every job; for older replicas it is a view, which costs
-- nothing, and through which they write, too.
ALTER TABLE run_prediction RENAME TO prediction;
ALTER TABLE prediction RENAME COLUMN promised_s TO raw_prediction_s;
ALTER TABLE prediction RENAME COLUMN promised_low_s TO raw_prediction_low_s;
ALTER TABLE prediction RENAME COLUMN promised_high_s TO raw_prediction_high_s;
ALTER TABLE prediction RENAME COLUMN promise_basis TO raw_prediction_basis;
ALTER INDEX run_prediction_newest RENAME TO prediction_newest;
ALTER INDEX run_prediction_of_unit_type RENAME TO prediction_of_unit_type;
ALTER INDEX run_prediction_of_type RENAME TO prediction_of_type;
ALTER INDEX run_prediction_of_submitter RENAME TO prediction_of_submitter;
DO $$
DECLARE
    named record;
BEGIN
    FOR named IN SELECT conname AS old, replace(replace(conname, 'run_prediction', 'prediction'), 'promise_basis',
                                                'raw_prediction_basis') AS new
                 FROM pg_constraint WHERE conrelid = 'prediction'::regclass AND conname LIKE 'run\_prediction\_%'
    LOOP
        EXECUTE format('ALTER TABLE prediction RENAME CONSTRAINT %I TO %I', named.old, named.new);
    END LOOP;
END $$;
COMMENT ON COLUMN prediction.raw_prediction_s IS 'What measurements alone let expect, with its 80 % interval; 0: nothing, or the job moves data, whose time nobody tells apart. run_s is what was predicted, corrected by history; 0: nothing.';
COMMENT ON COLUMN prediction.raw_prediction_basis IS 'What the raw prediction rests on: the sum of the job''s operators, or a known run of its type, carried over by the ratios of probes.';
COMMENT ON COLUMN prediction.gpu_slowdown IS 'In raw_prediction_s: of the run beside those who had parts of its GPU when it was placed, as expected, over that alone; 1: nothing was known of them. What is learned of pairs is learned without it (server/jobs/gpu_sharing_store.hpp).';
COMMENT ON COLUMN prediction.host_slowdown IS 'In raw_prediction_s: of the run beside those who were expected to hold cores of its host, over that alone; 1: nothing was known of what they cost. What later runs of the type are predicted by is what this one took without it, and without gpu_slowdown.';
CREATE VIEW run_prediction AS
SELECT attempt_id, job_id, submitted_by, job_type, unit_type_id, unit_count, raw_prediction_s AS promised_s,
       raw_prediction_low_s AS promised_low_s, raw_prediction_high_s AS promised_high_s, run_s, low_s, high_s, width_factor,
       free_s, wait_s, wait_low_s, wait_high_s, cost, energy_j, currency, decided_at, actual_run_s, actual_wait_s,
       actual_cost, ended_at, outcome, project, raw_prediction_basis AS promise_basis, asked_s, transfers_s, pressure,
       sensitivity, gpu_slowdown, host_slowdown
FROM prediction;
COMMENT ON VIEW run_prediction IS 'prediction, for replicas of the version before.';
-- At most 8192 rows.
ALTER TABLE gpu_sharing_run RENAME COLUMN promise_basis TO raw_prediction_basis;
ALTER TABLE gpu_sharing_run RENAME CONSTRAINT gpu_sharing_run_promise_basis_check TO gpu_sharing_run_raw_prediction_basis_check;
COMMENT ON COLUMN gpu_sharing_run.raw_prediction_basis IS 'What the raw prediction of its run time rested on; empty: there was none.';
COMMENT ON COLUMN gpu_sharing_run.pace IS 'Run time over the raw prediction; where there was none, seconds.';
ALTER TABLE gpu_sharing_run ADD COLUMN promise_basis text;
COMMENT ON COLUMN gpu_sharing_run.promise_basis IS 'raw_prediction_basis, for replicas of the version before.';
UPDATE gpu_sharing_run SET promise_basis = raw_prediction_basis;
CREATE FUNCTION name_raw_prediction_basis() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.raw_prediction_basis := coalesce(NEW.raw_prediction_basis, NEW.promise_basis);
    NEW.promise_basis := NEW.raw_prediction_basis;
    RETURN NEW;
END $$;
CREATE TRIGGER name_raw_prediction_basis BEFORE INSERT ON gpu_sharing_run FOR EACH ROW
    EXECUTE FUNCTION name_raw_prediction_basis();

-- turn: priority rank. Jobs that wait are not ordered yet to older replicas, until one of these or of the newer ones has
-- ordered them: no row is rewritten.
ALTER TABLE job RENAME COLUMN turn TO priority_rank;
ALTER INDEX job_turn RENAME TO job_priority_rank;
COMMENT ON COLUMN job.priority_rank IS 'Smaller goes first; set by the router when it orders waiting jobs. 0: not ordered yet, so looked at first.';
ALTER TABLE job ADD COLUMN turn double precision NOT NULL DEFAULT 0;
COMMENT ON COLUMN job.turn IS 'priority_rank, for replicas of the version before.';
CREATE FUNCTION name_priority_rank() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_ARGV[0] = 'turn' THEN NEW.priority_rank := NEW.turn; ELSE NEW.turn := NEW.priority_rank; END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER name_priority_rank BEFORE UPDATE OF priority_rank ON job FOR EACH ROW
    WHEN (NEW.turn <> NEW.priority_rank) EXECUTE FUNCTION name_priority_rank('priority_rank');
CREATE TRIGGER name_turn BEFORE UPDATE OF turn ON job FOR EACH ROW
    WHEN (NEW.turn <> NEW.priority_rank) EXECUTE FUNCTION name_priority_rank('turn');

-- worth: shadow price. A row for each unit type.
ALTER TABLE unit_load RENAME COLUMN worth TO shadow_price;
COMMENT ON COLUMN unit_load.shadow_price IS 'Against the mean of the network, 1, by the newest jobs; null: none of them could go there.';
ALTER TABLE unit_load ADD COLUMN worth double precision;
COMMENT ON COLUMN unit_load.worth IS 'shadow_price, for replicas of the version before.';
UPDATE unit_load SET worth = shadow_price;
CREATE FUNCTION name_shadow_price() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_ARGV[0] = 'worth' THEN
        NEW.shadow_price := NEW.worth;
    ELSIF TG_OP = 'INSERT' THEN
        NEW.shadow_price := coalesce(NEW.shadow_price, NEW.worth);
    END IF;
    NEW.worth := NEW.shadow_price;
    RETURN NEW;
END $$;
CREATE TRIGGER name_shadow_price BEFORE INSERT OR UPDATE OF shadow_price ON unit_load FOR EACH ROW
    EXECUTE FUNCTION name_shadow_price('shadow_price');
CREATE TRIGGER name_worth BEFORE UPDATE OF worth ON unit_load FOR EACH ROW EXECUTE FUNCTION name_shadow_price('worth');

-- job_lesson: learning queue. For older replicas a view, through which they write, too.
ALTER TABLE job_lesson RENAME TO learning_queue;
ALTER TABLE learning_queue RENAME CONSTRAINT job_lesson_pkey TO learning_queue_pkey;
ALTER TABLE learning_queue RENAME CONSTRAINT job_lesson_job_id_fkey TO learning_queue_job_id_fkey;
ALTER INDEX job_lesson_of_job RENAME TO learning_queue_of_job;
COMMENT ON TABLE learning_queue IS 'Jobs that ended and that their types have yet to learn from, so that ends stay fast. A periodic task takes them.';
CREATE VIEW job_lesson AS SELECT job_type, job_id, noted_at, project, submitted_by FROM learning_queue;
COMMENT ON VIEW job_lesson IS 'learning_queue, for replicas of the version before.';

-- most: max, in the quota of a project. A row for each project.
ALTER TABLE project RENAME COLUMN most_units TO max_units;
ALTER TABLE project RENAME COLUMN most_score_hours TO max_score_hours;
ALTER TABLE project RENAME COLUMN most_cost_micros TO max_cost_micros;
ALTER TABLE project RENAME CONSTRAINT project_most_units_check TO project_max_units_check;
ALTER TABLE project RENAME CONSTRAINT project_most_score_hours_check TO project_max_score_hours_check;
ALTER TABLE project RENAME CONSTRAINT project_most_cost_micros_check TO project_max_cost_micros_check;
ALTER TABLE project
    ADD COLUMN most_units bigint NOT NULL DEFAULT 0,
    ADD COLUMN most_score_hours double precision NOT NULL DEFAULT 0,
    ADD COLUMN most_cost_micros bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN project.most_units IS 'max_units, for replicas of the version before, as most_score_hours and most_cost_micros.';
UPDATE project SET most_units = max_units, most_score_hours = max_score_hours, most_cost_micros = max_cost_micros;
CREATE FUNCTION name_quota() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN -- what is not named is 0
        NEW.max_units := greatest(NEW.max_units, NEW.most_units);
        NEW.max_score_hours := greatest(NEW.max_score_hours, NEW.most_score_hours);
        NEW.max_cost_micros := greatest(NEW.max_cost_micros, NEW.most_cost_micros);
    ELSIF TG_ARGV[0] = 'most' THEN
        NEW.max_units := NEW.most_units;
        NEW.max_score_hours := NEW.most_score_hours;
        NEW.max_cost_micros := NEW.most_cost_micros;
    END IF;
    NEW.most_units := NEW.max_units;
    NEW.most_score_hours := NEW.max_score_hours;
    NEW.most_cost_micros := NEW.max_cost_micros;
    RETURN NEW;
END $$;
CREATE TRIGGER name_quota BEFORE INSERT OR UPDATE OF max_units, max_score_hours, max_cost_micros ON project FOR EACH ROW
    EXECUTE FUNCTION name_quota('max');
CREATE TRIGGER name_quota_most BEFORE UPDATE OF most_units, most_score_hours, most_cost_micros ON project FOR EACH ROW
    EXECUTE FUNCTION name_quota('most');
