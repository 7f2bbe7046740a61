-- Where a signature is shown. A request without a stamp has none, nor has one of the version
-- before.
ALTER TABLE signing_requests ADD COLUMN stamp json;
