package validators

import (
	"crypto/x509"
	"testing"
	"time"
)

// DSSOptions say how EU DSS validates. The zero value is its default policy without a
// trust anchor.
type DSSOptions struct {
	Roots []*x509.Certificate
	// RevocationOptional turns missing revocation data from a failure into a warning. No
	// signature of level B or T can have any; LT and LTA have to pass without this.
	RevocationOptional bool
	At                 time.Time // of the validation; zero: now
}

// DSSReport is what EU DSS says about one file.
type DSSReport struct {
	File       string
	Error      string // the exception on a file that DSS could not read; empty otherwise
	Signatures []DSSSignature
	Timestamps []DSSTimestamp // of all signatures, and of the document
}

// DSSSignature is EU DSS's verdict on one signature, in the order of signing.
type DSSSignature struct {
	ID              string // in XML its attribute Id; "" without
	Format          string // "PAdES-BASELINE-B", "XAdES-BASELINE-LTA"
	Indication      string // "TOTAL_PASSED", "INDETERMINATE", "TOTAL_FAILED"
	SubIndication   string // "TRY_LATER", "HASH_FAILURE"; empty when passed
	Intact          bool   // the value fits the signed attributes
	Valid           bool   // and what they refer to is intact too
	Scopes          []string
	Structure       []string // what is against the schema of XAdES; none in what is no XML
	Modified        bool     // pages or annotations changed in a later revision
	UndefinedChange int      `json:"undefinedChanges"` // objects changed for no known reason
	SignedBy        string
	SigningTime     time.Time // claimed
	BestTime        time.Time `json:"bestSignatureTime"` // of the earliest proof of existence
	Errors          []Finding
	Warnings        []Finding
}

// DSSTimestamp is EU DSS's verdict on one timestamp.
type DSSTimestamp struct {
	Type           string // "SIGNATURE_TIMESTAMP", "DOCUMENT_TIMESTAMP", "ARCHIVE_TIMESTAMP"
	Indication     string // "PASSED", "INDETERMINATE", "FAILED"
	SubIndication  string
	Intact         bool
	ProducedBy     string
	ProductionTime time.Time
	Errors         []Finding
	Warnings       []Finding
}

// Finding is one message of a report.
type Finding struct {
	Key  string // stable: "BBB_XCV_IRDPFC_ANS"
	Text string // English
}

// DSS validates files with EU DSS, offline.
func DSS(t testing.TB, options DSSOptions, files ...string) []DSSReport {
	t.Helper()
	args := append([]string{"Validate"}, rootArguments(t, options.Roots)...)
	if options.RevocationOptional {
		args = append(args, "--revocation-optional")
	}
	if !options.At.IsZero() {
		args = append(args, "--at", options.At.UTC().Format(time.RFC3339))
	}
	lines := ask(t, "dss", serveJava(t, "dss"), append(args, files...))
	return decodeLines[DSSReport](t, "EU DSS", lines, len(files))
}
