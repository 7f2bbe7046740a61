-- Documents: a base that never changes and the revisions appended to it.
CREATE TABLE documents (
	seq        bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	id         uuid        NOT NULL UNIQUE,
	started_at timestamptz NOT NULL, -- when its Create began
	complete   boolean     NOT NULL, -- its Create has ended
	kept       boolean     NOT NULL,
	size       bigint      NOT NULL CHECK (size >= 0),
	hashed     jsonb                 -- hash states over its beginning
);

CREATE INDEX documents_unkept ON documents (started_at) WHERE NOT kept;

-- Their bytes. A full chunk is a row that fills a page. It stays in the row as it is:
-- what TOAST makes of larger values takes several percent more room than they do, and
-- there is nothing to compress in a signed PDF.
CREATE TABLE document_chunks (
	document bigint NOT NULL REFERENCES documents (seq) ON DELETE CASCADE,
	start    bigint NOT NULL CHECK (start >= 0), -- its offset in the document
	content  bytea  NOT NULL,
	PRIMARY KEY (document, start)
) WITH (autovacuum_vacuum_scale_factor = 0.05); -- whose room is soon for others

ALTER TABLE document_chunks ALTER COLUMN content SET STORAGE PLAIN;
