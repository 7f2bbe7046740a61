-- Jobs: work that is to be done in the background. They come and go, so what they leave is
-- cleared early.
CREATE TABLE jobs (
	seq          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	id           uuid        NOT NULL UNIQUE DEFAULT gen_random_uuid(),
	kind         text        COLLATE "C" NOT NULL,
	grp          text        COLLATE "C" NOT NULL,
	unique_key   text        COLLATE "C",
	due          timestamptz NOT NULL,
	attempt      integer     NOT NULL DEFAULT 0,
	payload      bytea       NOT NULL,
	token        uuid, -- of the lease, if one was taken
	leased_until timestamptz,
	-- From then on the job can be claimed: a lease that runs out makes it due like any other.
	ready        timestamptz NOT NULL GENERATED ALWAYS AS (coalesce(leased_until, due)) STORED,
	CHECK ((token IS NULL) = (leased_until IS NULL))
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

CREATE UNIQUE INDEX jobs_unique ON jobs (kind, unique_key) WHERE unique_key IS NOT NULL;
CREATE INDEX jobs_of_group ON jobs (kind, grp, ready, seq);
CREATE INDEX jobs_by_time ON jobs (kind, ready);
CREATE INDEX jobs_leased ON jobs (kind, grp, leased_until) WHERE leased_until IS NOT NULL;
