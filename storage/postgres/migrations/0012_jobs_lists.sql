-- What failed of a job. One that is parked, since its last permitted attempt has failed, is due in the far future,
-- so that the version before does not claim it.
ALTER TABLE jobs
	ADD COLUMN failures   integer     NOT NULL DEFAULT 0,
	ADD COLUMN last_error text        NOT NULL DEFAULT '',
	ADD COLUMN failed_at  timestamptz,
	ADD COLUMN parked     boolean     NOT NULL DEFAULT false;

CREATE INDEX jobs_parked ON jobs (kind, id) WHERE parked;
