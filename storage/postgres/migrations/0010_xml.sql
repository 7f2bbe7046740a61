-- Requests that sign XML. Those that are there sign PDF documents, and the version before leaves the columns
-- alone. The level of XML is in one of its own, and level is -1 for it, which there is not: the version
-- before refuses what it would make a PDF of before it reads the document, with an error that ends nothing,
-- and the prepared signature, which it cannot read. It can tell of a request that failed, and remove it with
-- its document.
ALTER TABLE signing_requests
	ADD COLUMN format    text NOT NULL DEFAULT '',
	ADD COLUMN packing   integer NOT NULL DEFAULT 0,
	ADD COLUMN xml_level integer NOT NULL DEFAULT 0,
	ADD COLUMN city      text NOT NULL DEFAULT '',
	ADD COLUMN country   text NOT NULL DEFAULT '';
