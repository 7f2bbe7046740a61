-- The warnings about a process' document; NULL: there were none, or the server that created the process did not look for any.
ALTER TABLE processes ADD COLUMN warnings json;

-- What becomes of an account's documents with warnings; empty: they are accepted.
ALTER TABLE accounts ADD COLUMN documents text NOT NULL DEFAULT '';
