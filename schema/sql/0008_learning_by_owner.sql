-- What jobs of a type execute is learned for each submitter: nobody's jobs change what is known of another's.

ALTER TABLE job_type ADD COLUMN project text NOT NULL DEFAULT '', ADD COLUMN submitted_by text NOT NULL DEFAULT '';
UPDATE job_type t SET project = j.project, submitted_by = j.submitted_by FROM job j WHERE j.id = t.learned_from;
ALTER TABLE job_type DROP CONSTRAINT job_type_pkey;
ALTER TABLE job_type ADD PRIMARY KEY (name, submitted_by, project);
COMMENT ON COLUMN job_type.submitted_by IS 'Whose jobs it was learned from, and for; empty: of a job that is gone.';
COMMENT ON COLUMN job_type.project IS 'Of those jobs; its other submitters start from it where they have none of the type.';

ALTER TABLE job_lesson ADD COLUMN project text NOT NULL DEFAULT '', ADD COLUMN submitted_by text NOT NULL DEFAULT '';
UPDATE job_lesson l SET project = j.project, submitted_by = j.submitted_by FROM job j WHERE j.id = l.job_id;
ALTER TABLE job_lesson DROP CONSTRAINT job_lesson_pkey;
ALTER TABLE job_lesson ADD PRIMARY KEY (job_type, submitted_by, project);

ALTER TABLE run_prediction ADD COLUMN project text NOT NULL DEFAULT '';
UPDATE run_prediction p SET project = j.project FROM job j WHERE j.id = p.job_id;
COMMENT ON COLUMN run_prediction.project IS 'Of the job.';
