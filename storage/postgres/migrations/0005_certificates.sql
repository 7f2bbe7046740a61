-- Certificates of signers that only an answer tells, each in place of the one before.
CREATE TABLE kept_certificates (
	person      text COLLATE "C" PRIMARY KEY CHECK (person <> ''),
	certificate bytea       NOT NULL,
	expires     timestamptz NOT NULL
);
CREATE INDEX kept_certificates_by_expiry ON kept_certificates (expires);

-- Until when the start call said that its request lives. Requests of the version before
-- have none.
ALTER TABLE signing_requests ADD COLUMN start_expires timestamptz;
