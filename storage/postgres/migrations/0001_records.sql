-- Records of all domains. A text that is compared is so byte by byte (COLLATE "C"):
-- equality is all that is asked of it, and its indexes do not depend on the locales of
-- the machine. seq is the order of creation. A time that is not set is NULL.

CREATE TABLE accounts (
	id             text COLLATE "C" PRIMARY KEY CHECK (id <> ''),
	seq            bigint GENERATED ALWAYS AS IDENTITY,
	name           text NOT NULL,
	payment_method boolean NOT NULL,
	quota          bigint NOT NULL,
	created_at     timestamptz NOT NULL
);

CREATE TABLE clients (
	id          text COLLATE "C" PRIMARY KEY CHECK (id <> ''),
	seq         bigint GENERATED ALWAYS AS IDENTITY,
	account     text COLLATE "C" NOT NULL,
	name        text NOT NULL,
	secret_hash bytea NOT NULL,
	scopes      text[],
	created_at  timestamptz NOT NULL
);
CREATE INDEX clients_of_account ON clients (account, seq);

-- Tokens come and go by the thousand, so what they leave is cleared early.
CREATE TABLE tokens (
	hash       bytea PRIMARY KEY CHECK (hash <> ''),
	client     text NOT NULL,
	account    text NOT NULL,
	scopes     text[],
	issued_at  timestamptz NOT NULL,
	expires_at timestamptz NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX tokens_by_expiry ON tokens (expires_at);

CREATE TABLE busy_signals (
	id           text COLLATE "C" PRIMARY KEY CHECK (id <> ''),
	account      text NOT NULL,
	created_at   timestamptz NOT NULL,
	used_at      timestamptz NOT NULL,
	holder       text,
	holder_user  text,
	holder_since timestamptz,
	CHECK ((holder IS NULL) = (holder_since IS NULL)),
	CHECK (holder IS NOT NULL OR holder_user IS NULL)
);
CREATE INDEX busy_signals_by_use ON busy_signals (used_at);

-- Pages have room for the versions that a request goes through, and what changes with
-- each poll (lease, polled_at, revision) is in no index, so a change stays on its page
-- (a "heap-only" update). Requests that have ended are by far the most and are in no
-- index that live ones are looked up in.
CREATE TABLE signing_requests (
	id              text COLLATE "C" PRIMARY KEY CHECK (id <> ''),
	seq             bigint GENERATED ALWAYS AS IDENTITY,
	account         text COLLATE "C" NOT NULL,
	created_at      timestamptz NOT NULL,
	updated_at      timestamptz NOT NULL,
	expires         timestamptz NOT NULL,
	phase           text COLLATE "C" NOT NULL,
	person          json NOT NULL,
	text            json NOT NULL,
	place           text NOT NULL,
	level           integer NOT NULL,
	document        text NOT NULL,
	busy_signal     text NOT NULL,
	state_provider  text NOT NULL,
	state_version   integer NOT NULL,
	state_key       text NOT NULL,
	state_public    bytea,
	state_secret    bytea,
	state_expires   timestamptz,
	pending         bytea,
	code            text NOT NULL,
	value           bytea,
	signed_at       timestamptz,
	next_try        timestamptz,
	next_ask        timestamptz,
	failure         json,
	refused         boolean NOT NULL,
	start_code      text NOT NULL,
	key_client      text COLLATE "C",
	key             text COLLATE "C",
	key_fingerprint text,
	polled_at       timestamptz,
	lease_process   text NOT NULL,
	lease_token     text NOT NULL,
	lease_until     timestamptz,
	revision        bigint NOT NULL,
	CHECK (num_nulls(key_client, key, key_fingerprint) IN (0, 3))
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
CREATE INDEX signing_requests_live ON signing_requests (account, created_at, seq) WHERE phase <> 'ended';
CREATE INDEX signing_requests_unfinished ON signing_requests (created_at, seq) WHERE phase <> 'ended';
CREATE INDEX signing_requests_by_age ON signing_requests (created_at, seq);
CREATE UNIQUE INDEX signing_requests_by_key ON signing_requests (key_client, key) WHERE key IS NOT NULL;

-- Within an account, kennitala (hyphens aside) and phone each name one user.
CREATE TABLE sandbox_users (
	id               text COLLATE "C" PRIMARY KEY CHECK (id <> ''),
	seq              bigint GENERATED ALWAYS AS IDENTITY,
	account          text COLLATE "C" NOT NULL,
	full_name        text NOT NULL,
	kennitala        text NOT NULL,
	normal_kennitala text COLLATE "C" NOT NULL,
	phone            text COLLATE "C" NOT NULL,
	delay            bigint NOT NULL, -- nanoseconds
	action           text NOT NULL,
	created_at       timestamptz NOT NULL,
	updated_at       timestamptz NOT NULL,
	certified_name   text NOT NULL,
	certificate      bytea,
	key              bytea
);
CREATE INDEX sandbox_users_of_account ON sandbox_users (account, seq);
CREATE UNIQUE INDEX sandbox_users_by_kennitala ON sandbox_users (account, normal_kennitala);
CREATE UNIQUE INDEX sandbox_users_by_phone ON sandbox_users (account, phone);

-- There is one authority at most.
CREATE TABLE sandbox_authority (
	single  boolean PRIMARY KEY CHECK (single),
	encoded bytea NOT NULL
);
