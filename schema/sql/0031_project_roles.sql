-- What a member of a project may do there.

ALTER TABLE project_member ADD COLUMN role text NOT NULL DEFAULT 'submitter'
    CHECK (role IN ('viewer', 'submitter', 'lead'));
ALTER TABLE project_member ADD CHECK (role <> 'viewer' OR reserve_unit_hours = 0);
COMMENT ON COLUMN project_member.role IS 'viewer: sees all jobs of the project. submitter: submits, and sees its own. lead: both, cancels them, reads what the project is billed, and lets others in.';
COMMENT ON TABLE project_member IS 'What tokens may do in a project. A project that nobody is a submitter or lead of is open to everybody who may submit jobs.';
CREATE INDEX project_member_of_token ON project_member (token_id) WHERE role <> 'submitter'; -- authentication: what a token sees besides its own jobs
