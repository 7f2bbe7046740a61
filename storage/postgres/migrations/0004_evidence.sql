-- The evidence log. Entries are added, and removed when they are old enough; nothing
-- changes one.
CREATE TABLE evidence (
	seq     bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	subject text        COLLATE "C" NOT NULL,
	account text        NOT NULL,
	kind    text        NOT NULL,
	at      timestamptz NOT NULL,
	facts   json        NOT NULL -- not jsonb, which would write it anew
);

CREATE INDEX evidence_of_subject ON evidence (subject, seq);
CREATE INDEX evidence_by_time ON evidence (at);

CREATE FUNCTION evidence_stays() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'an entry of the evidence log does not change'; END $$;

CREATE TRIGGER evidence_stays BEFORE UPDATE ON evidence
	FOR EACH STATEMENT EXECUTE FUNCTION evidence_stays();
