package main

var foreign = []string{"INNSIGLI_NO_SKIP=1"}

// subjects are all benchmarks of the module; a test holds that none is missing.
var subjects = []subject{
	{"PDF", []benchmark{
		{pkg: "pades", name: "Sign", times: "10x", unit: "x-floor", what: "signing at level B with RSA of 3072 bits: 22 MB in few objects, 50,000 objects in a table or in streams, and 1 GB",
			floor: "one SHA-256 of the file, one signature, and writing what is appended", beside: []peer{{name: "pyHanko", by: "PyHanko"}}, settings: foreign},
		{pkg: "pades", name: "Levels", times: "10x", unit: "x-floor", what: "signing and extending to LT and LTA, each time with a signer never seen before, at an authority within the process",
			floor:  "one SHA-256 of all bytes, one signature, the same questions to the same authority, each signature under its answers verified once, and writing what is appended",
			beside: []peer{{name: "EU DSS", by: "DSSLevels"}, {name: "pyHanko", by: "PyHankoLevels"}}, settings: foreign},
		{pkg: "pades", name: "Verify", times: "20x", unit: "x-floor", demanded: "3", what: "verifying 22 MB with 50 revisions and 20 signatures",
			floor: "one SHA-256 of the file"},
		{pkg: "internal/pdf", name: "Open", times: "20x", what: "opening a file of 50,000 objects, reading a page and writing an update"},
		{pkg: "internal/test/decisions", name: "PDF", times: "3x", what: "preparing a signature on a file of 50,000 objects, and what pdfcpu takes to read it"},
	}},
	{"XML", []benchmark{
		{pkg: "xades", name: "Documents", pick: "./10MB", times: "3x", unit: "SHA-256", demanded: "1 of xmlsec1", what: "signing 10 MB in three packings, verifying, signing again and extending to LTA, from file to file",
			floor: "one SHA-256 of the file that is read", beside: []peer{{name: "xmlsec1", unit: "xmlsec1"}}, settings: foreign},
		{pkg: "internal/xml/doc", name: "Parse", times: "5x", unit: "sha256-passes", what: "reading documents", floor: "one SHA-256 of the source"},
		{pkg: "internal/xml/doc", name: "Canonicalize", times: "5x", unit: "SHA-256", what: "a digest of the canonical form", floor: "one SHA-256 of the source"},
		{pkg: "internal/xml/doc", name: "CanonicalizeAlone", times: "5x", what: "the canonical form without a digest"},
	}},
	{"Evidence", []benchmark{
		{pkg: "internal/pki/crl", name: "LargeList", times: "5x", what: "one look into a revocation list of 50 MB", beside: []peer{{name: "crypto/x509", by: "StandardLibrary"}}},
	}},
	{"Stamps", []benchmark{
		{pkg: "stamp/pdfium", name: "First", times: "10x", what: "from nothing to the first page that is drawn, with a warm cache"},
		{pkg: "stamp/pdfium", name: "Page", times: "15x", unit: "x-empty", what: "drawing a page of text", floor: "drawing an empty page"},
		{pkg: "stamp/pdfium", name: "Lines", times: "15x", what: "the text of a page of 4,000 characters"},
		{pkg: "stamp", name: "Standard", times: "200x", what: "writing a stamp"},
	}},
	{"The wire", []benchmark{
		{pkg: "httpapi/internal/jsonbody", name: "Read", times: "5x", unit: "decodes/op", what: "a body of 30 MB with a document in Base64, to a stream", floor: "decoding the same Base64 in memory"},
		{pkg: "httpapi/internal/jsonbody", name: "EncodingJSON", times: "5x", what: "the same body by encoding/json, into memory"},
		{pkg: "httpapi/internal/jsonbody", name: "SmallBody", times: "1000x", what: "a body without a document"},
		{pkg: "httpapi/internal/jsonbody", name: "WriteBase64", times: "5x", unit: "encodes/op", what: "an answer with a document of 22 MB", floor: "encoding it in memory"},
	}},
	{"Commands", []benchmark{
		{pkg: "cmd/innsigli", name: "Start", times: "40x", unit: "x-floor", demanded: "8 ms", what: "innsigli version, as a process",
			floor: "an empty Go program, as a process"},
		{pkg: "cmd/innsigli", name: "LargePDF", times: "5x", unit: "x-floor", demanded: "1.3, 60 MB", what: "innsigli sign of a PDF of 1 GB at level B, which is flushed to the disk",
			floor: "one SHA-256 of the file, and cp, which does not flush", long: true},
	}},
	{"Storage", []benchmark{
		{pkg: "storage/bolt", name: "Create", times: "5x", what: "storing a document of 22 MB"},
		{pkg: "storage/bolt", name: "Read", times: "5x", what: "reading it again"},
		{pkg: "storage/postgres", name: "Create", times: "5x", what: "storing a document of 22 MB", settings: foreign},
		{pkg: "storage/postgres", name: "Read", times: "5x", what: "reading it again", settings: foreign},
		{pkg: "storage/postgres", name: "Delete", times: "5x", what: "deleting it", settings: foreign},
		{pkg: "storage/bolt", name: "Signers", times: "11x", unit: "x-first", what: "the tenth signature on a document of 22 MB", floor: "the first on one of 100 KB"},
		{pkg: "storage/postgres", name: "Signers", times: "11x", unit: "x-first", what: "the tenth signature on a document of 22 MB", floor: "the first on one of 100 KB", settings: foreign},
		{pkg: "storage/postgres", name: "Record", times: "8s", what: "recording evidence while a server chains it, and without", settings: foreign},
		{pkg: "storage/evidence", name: "Verify", times: "2x", demanded: "5 s", what: "verifying an evidence log of 100,000 entries, in a store and in an export"},
		{pkg: "storage/bolt", name: "Claims", times: "1x", unit: "x-empty", what: "claiming jobs beside a backlog", floor: "the same without one"},
		{pkg: "storage/postgres", name: "Claims", times: "1x", unit: "x-empty", what: "claiming jobs beside a backlog", floor: "the same without one", settings: foreign},
		{pkg: "storage/bolt", name: "Processes", times: "1x", unit: "x-empty", what: "the life of a process beside 100,000 that wait", floor: "the same in an empty store", long: true},
		{pkg: "storage/postgres", name: "Processes", times: "1x", unit: "x-empty", what: "the life of a process beside 100,000 that wait", floor: "the same in an empty store", long: true, settings: foreign},
		{pkg: "storage/bolt", name: "ProcessPages", times: "1x", unit: "x-small", what: "pages of the list of a million processes", floor: "the same in a list of a thousand", long: true},
		{pkg: "storage/postgres", name: "ProcessPages", times: "1x", unit: "x-small", what: "pages of the list of a million processes", floor: "the same in a list of a thousand", long: true, settings: foreign},
	}},
	{"The service", []benchmark{
		{pkg: "tools/trial", name: "Burst", times: "1x", unit: "x-loop", what: "sending webhooks as fast as it goes: a share of the rate, of which more is better", floor: "the rate of a bare loop", demanded: "fails below the share that is promised", settings: foreign},
		{pkg: "tools/trial", name: "Large", times: "1x", what: "40 starts at once of a PDF of 22 MB at LT, polled to the end", demanded: "90 s, 256 MB of anonymous memory", long: true, settings: foreign},
		{pkg: "tools/trial", name: "Slow", times: "1x", what: "how long others wait beside slow clients, half-open connections and garbage", floor: "the same without them", demanded: "2, in the median", long: true, settings: foreign},
		{pkg: "tools/trial", name: "Growth", times: "1x", what: "start and poll beside a million ended requests", floor: "the same on an empty store", demanded: "1.2", long: true, settings: foreign},
		{pkg: "tools/trial", name: "Processes", times: "1x", what: "processes beside 100,000 others", floor: "the same on an empty store", demanded: "1.2", long: true, settings: foreign},
		{pkg: "tools/trial", name: "Load", times: "1x", what: "200 events a second for a minute, to endpoints of which some are slow or dead", demanded: "99 of 100 to the others within a second, and all in the end", long: true, settings: foreign},
		{pkg: "tools/trial", name: "Webhooks", times: "1x", what: "10,000 events, sent by processes that are killed", demanded: "fewer than 0.1 % twice", long: true, settings: foreign},
	}},
}
