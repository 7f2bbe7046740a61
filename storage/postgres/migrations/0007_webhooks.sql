-- Webhooks: subscriptions, what was sent to them, and the keys that sign.
CREATE TABLE webhook_subscriptions (
	id            text COLLATE "C" PRIMARY KEY CHECK (id <> ''),
	seq           bigint GENERATED ALWAYS AS IDENTITY,
	account       text COLLATE "C" NOT NULL,
	url           text NOT NULL,
	event_types   text[] NOT NULL,
	active        boolean NOT NULL,
	reason        text NOT NULL,
	created_at    timestamptz NOT NULL,
	updated_at    timestamptz NOT NULL,
	secret        bytea NOT NULL,
	generation    integer NOT NULL,
	activated_at  timestamptz,
	failing_since timestamptz,
	alerted_at    timestamptz
);
CREATE INDEX webhook_subscriptions_of_account ON webhook_subscriptions (account, seq);

CREATE TABLE webhook_keys (
	number      integer PRIMARY KEY,
	public_key  bytea NOT NULL,
	private_key bytea NOT NULL,
	created_at  timestamptz NOT NULL,
	ends_at     timestamptz
);

-- An attempt is found by its subscription and its time alone, so it has no id: each index is one
-- more to be written in a burst of them. They come by the thousand and go by their time, so what
-- they leave is cleared early.
CREATE TABLE webhook_attempts (
	seq          bigint GENERATED ALWAYS AS IDENTITY,
	subscription text COLLATE "C" NOT NULL,
	event        text NOT NULL,
	type         text NOT NULL,
	purpose      text NOT NULL,
	number       integer NOT NULL,
	at           timestamptz NOT NULL,
	duration     bigint NOT NULL, -- nanoseconds
	status       integer NOT NULL,
	failure      text NOT NULL,
	detail       text NOT NULL,
	next         timestamptz
) WITH (autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX webhook_attempts_of_subscription ON webhook_attempts (subscription, at, seq);
CREATE INDEX webhook_attempts_by_time ON webhook_attempts (at, seq);

CREATE TABLE webhook_dropped (
	subscription text COLLATE "C" NOT NULL,
	event        text COLLATE "C" NOT NULL,
	seq          bigint GENERATED ALWAYS AS IDENTITY,
	type         text NOT NULL,
	at           timestamptz NOT NULL,
	body         bytea NOT NULL, -- as it is signed, to the byte
	PRIMARY KEY (subscription, event)
);
CREATE INDEX webhook_dropped_by_time ON webhook_dropped (at, seq);

-- Who is told of trouble. An account of the version before tells nobody.
ALTER TABLE accounts ADD COLUMN admins text[];
