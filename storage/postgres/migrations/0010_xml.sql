-- Requests that sign XML. Those that are there sign PDF documents; the version before leaves the columns
-- alone, and takes a request that has them for one whose prepared signature it cannot read.
ALTER TABLE signing_requests
	ADD COLUMN format  text NOT NULL DEFAULT '',
	ADD COLUMN packing integer NOT NULL DEFAULT 0,
	ADD COLUMN city    text NOT NULL DEFAULT '',
	ADD COLUMN country text NOT NULL DEFAULT '';
