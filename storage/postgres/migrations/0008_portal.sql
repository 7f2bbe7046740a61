-- Signing processes. What no statement asks for is in JSON: who takes part, and who is signing.
-- waits_until is NULL when nobody is waited for any more, unopened_until when there is no link that
-- was not opened.
CREATE TABLE processes (
	id             text COLLATE "C" PRIMARY KEY CHECK (id <> ''),
	seq            bigint GENERATED ALWAYS AS IDENTITY,
	account        text COLLATE "C" NOT NULL,
	origin         text NOT NULL,
	created_at     timestamptz NOT NULL,
	file_name      text NOT NULL,
	document       text NOT NULL,
	participants   json,
	turn           json,
	turns          bigint NOT NULL,
	waits_until    timestamptz,
	unopened_until timestamptz
);
CREATE INDEX processes_waiting ON processes (account, waits_until) WHERE waits_until IS NOT NULL;
CREATE INDEX processes_unopened ON processes (unopened_until, seq) WHERE unopened_until IS NOT NULL;

-- The links that are not used up, by the SHA-256 of their tokens.
CREATE TABLE process_links (
	process text  COLLATE "C" NOT NULL,
	hash    bytea NOT NULL,
	PRIMARY KEY (process, hash)
);
CREATE INDEX process_links_by_hash ON process_links (hash);

-- The idempotency keys that processes were created with.
CREATE TABLE process_keys (
	client      text COLLATE "C" NOT NULL,
	value       text COLLATE "C" NOT NULL,
	fingerprint text NOT NULL,
	created_at  timestamptz NOT NULL,
	process     text NOT NULL,
	until       timestamptz,
	PRIMARY KEY (client, value)
) WITH (autovacuum_vacuum_scale_factor = 0.05); -- whose room is soon for others
CREATE INDEX process_keys_by_age ON process_keys (created_at, client, value);

-- The signatures that accounts have made.
CREATE TABLE ledger (
	id      text COLLATE "C" PRIMARY KEY CHECK (id <> ''),
	seq     bigint GENERATED ALWAYS AS IDENTITY,
	account text COLLATE "C" NOT NULL,
	api     text NOT NULL,
	at      timestamptz NOT NULL,
	free    boolean NOT NULL
);
CREATE INDEX ledger_of_account ON ledger (account, at, seq);

ALTER TABLE accounts
	ADD COLUMN signatures bigint NOT NULL DEFAULT 0,
	ADD COLUMN stored     bigint NOT NULL DEFAULT 0;

-- A request that signs a document of several has it in order_document: the version before takes the
-- one in document for the request's own, and discards it with the request.
ALTER TABLE signing_requests
	ADD COLUMN order_id       text NOT NULL DEFAULT '',
	ADD COLUMN order_document text NOT NULL DEFAULT '',
	ADD COLUMN kept           bytea;
