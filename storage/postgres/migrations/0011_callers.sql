-- Clients with two secrets, and when they were used. Of a client that the version before has stored, secrets
-- is NULL and secret_hash its only secret. That version looks at secret_hash alone: the first secret, or
-- nothing once it was removed. A token of that version was got with the first secret, and does not say so.
ALTER TABLE clients
	ADD COLUMN secrets json,
	ADD COLUMN used_at timestamptz;
ALTER TABLE tokens
	ADD COLUMN secret text NOT NULL DEFAULT '';

-- How often clients may call, counted for all servers: drawn is what the last draw took, full_at when nothing is
-- missing any more. It is not worth a byte of the log: after a crash the table is empty, and all may call again.
CREATE UNLOGGED TABLE rate_buckets (
	key     text COLLATE "C" PRIMARY KEY,
	drawn   int NOT NULL,
	full_at timestamptz NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);
