-- The chain over the evidence log. Package storage/evidence defines the digests.
CREATE TABLE evidence_salts (
	seq  bigint PRIMARY KEY,
	salt bytea  NOT NULL
);

-- seqs and digests are those of the entries, in their order; digests has 32 bytes for each.
CREATE TABLE evidence_batches (
	number   bigint      PRIMARY KEY,
	previous bytea       NOT NULL,
	head     bytea       NOT NULL,
	total    bigint      NOT NULL,
	newest   timestamptz NOT NULL,
	seqs     bigint[]    NOT NULL,
	digests  bytea       NOT NULL
);

-- Rows of the log and of its chain are deleted by members of the role innsigli_evidence alone, by which the operator erases
-- and prunes, and by superusers, whom a trigger would not stop. The tables are never truncated, and no row is changed; of
-- evidence, the trigger evidence_stays sees to that.
CREATE FUNCTION evidence_may_delete() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN
	IF (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user)
		OR EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'innsigli_evidence' AND pg_catalog.pg_has_role(current_user, oid, 'USAGE'))
	THEN
		RETURN NULL;
	END IF;
	RAISE EXCEPTION 'only a member of the role innsigli_evidence deletes from the evidence log, and % is none', current_user
		USING ERRCODE = 'insufficient_privilege';
END $$;

CREATE FUNCTION evidence_never_changes() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'the evidence log does not change' USING ERRCODE = 'insufficient_privilege'; END $$;

CREATE TRIGGER evidence_may_delete BEFORE DELETE ON evidence FOR EACH STATEMENT EXECUTE FUNCTION evidence_may_delete();
CREATE TRIGGER evidence_may_delete BEFORE DELETE ON evidence_salts FOR EACH STATEMENT EXECUTE FUNCTION evidence_may_delete();
CREATE TRIGGER evidence_may_delete BEFORE DELETE ON evidence_batches FOR EACH STATEMENT EXECUTE FUNCTION evidence_may_delete();
CREATE TRIGGER evidence_never_changes BEFORE TRUNCATE ON evidence FOR EACH STATEMENT EXECUTE FUNCTION evidence_never_changes();
CREATE TRIGGER evidence_never_changes BEFORE UPDATE OR TRUNCATE ON evidence_salts FOR EACH STATEMENT EXECUTE FUNCTION evidence_never_changes();
CREATE TRIGGER evidence_never_changes BEFORE UPDATE OR TRUNCATE ON evidence_batches FOR EACH STATEMENT EXECUTE FUNCTION evidence_never_changes();
