-- What the signing page remembers for a while: who is there, and how often something was begun. It
-- comes and goes by the thousand, so what it leaves is cleared early.
CREATE TABLE page_records (
	key     bytea PRIMARY KEY CHECK (key <> ''),
	value   bytea,
	expires timestamptz NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX page_records_by_expiry ON page_records (expires);

-- process_links has, from here on, also the links that are used up: they lead on to a page that needs
-- a login.
