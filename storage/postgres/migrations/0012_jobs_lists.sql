-- The tables are altered in the order in which servers use them in a transaction. Processes are first also because they are
-- written anew, which takes 20 seconds for a million: jobs are claimed and finished meanwhile. The other tables are not.

-- Lists of signing processes, and the deletion of those that ended long ago.
--
-- ended_at is when a process ended, as its last change or a sweep has noted; NULL: it waits, or nobody has looked since.
-- status is the one that lists find a process by. It is derived from what every version stores: a process waits until
-- its ended_at is the time at which it expired. "decline": is a key in the JSON of participants, and cannot be in a text
-- there, whose quotation marks are escaped.
ALTER TABLE processes
	ADD COLUMN ended_at timestamptz,
	ADD COLUMN status   text COLLATE "C" GENERATED ALWAYS AS (CASE
		WHEN waits_until = ended_at THEN 'Expired'
		WHEN waits_until IS NOT NULL THEN 'Waiting'
		WHEN strpos(participants::text, '"decline":') > 0 THEN 'Declined'
		ELSE 'Completed' END) STORED;
CREATE INDEX processes_listed ON processes (account, origin, created_at, id);
CREATE INDEX processes_by_status ON processes (account, origin, status, created_at, id);
CREATE INDEX processes_overdue ON processes (waits_until, seq) WHERE status = 'Waiting';
CREATE INDEX processes_overdue_of_account ON processes (account, waits_until, seq) WHERE status = 'Waiting';
CREATE INDEX processes_ended ON processes (coalesce(ended_at, created_at), seq) WHERE status <> 'Waiting';

-- Since when an account is being deleted; NULL: it is not.
ALTER TABLE accounts ADD COLUMN closed_at timestamptz;

-- What failed of a job. One that is parked, since its last permitted attempt has failed, is due in the far future,
-- so that the version before does not claim it. An attempt was interrupted if its lease ran out with its token still set;
-- interruptions counts those in a row. The version before neither counts nor resets them.
ALTER TABLE jobs
	ADD COLUMN failures   integer     NOT NULL DEFAULT 0,
	ADD COLUMN last_error text        NOT NULL DEFAULT '',
	ADD COLUMN failed_at  timestamptz,
	ADD COLUMN interruptions integer  NOT NULL DEFAULT 0,
	ADD COLUMN parked     boolean     NOT NULL DEFAULT false;

CREATE INDEX jobs_parked ON jobs (kind, id) WHERE parked;
