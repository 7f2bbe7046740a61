package xades_test

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/validators"
)

// attackedFile is the document of a row, and the verdict of each validator.
type attackedFile struct {
	attack
	passes                bool // Innsigli passes the document
	innsigli, dss, xmlsec string
}

// refusedByOthers are documents that pass, and that EU DSS or XML Security Library refuses, with the reason why they
// may pass.
var refusedByOthers = map[string]string{
	"signed digest as a CDATA section": "a CDATA section is text (XML 1.0 2.7), and the canonical form of SignedInfo is the same; EU DSS ignores it",
}

// TestAttacksByValidators checks that no document passes of which EU DSS or XML Security Library finds a signature
// invalid. With INNSIGLI_FULL=1 all rows are validated, and docs/attacks-xml.md is written; else a sixth.
func TestAttacksByValidators(t *testing.T) {
	t.Parallel()
	p := newPerson(t, catest.New(t), p256(t))
	rows := attacks()
	if !testenv.Full() {
		rows = sample(rows)
	}
	var documents [][]byte
	files := make([]attackedFile, len(rows))
	for i, row := range rows {
		b := row.change(t, p, row.sign(t, p, ades.B, plainContract))
		verdict, report := verdictOn(t, p.ca, b)
		documents = append(documents, b)
		files[i] = attackedFile{attack: row, passes: report.Passed(), innsigli: verdict}
	}
	for i, report := range dssReports(t, p.ca, documents...) {
		files[i].checkDSS(t, report)
	}
	for i, report := range validators.XMLSec(t, nil, writeFiles(t, documents)...) {
		files[i].checkXMLSec(t, report)
	}
	if testenv.Full() {
		testenv.WriteTable(t, "attacks-xml.md", attackTable(files))
	}
}

// sample returns every sixth row.
func sample(rows []attack) (some []attack) {
	for i := 0; i < len(rows); i += 6 {
		some = append(some, rows[i])
	}
	return some
}

func (f *attackedFile) checkDSS(t *testing.T, r validators.DSSReport) {
	t.Helper()
	var verdicts []string
	invalid := r.Error != "" || len(r.Signatures) == 0
	for _, s := range r.Signatures {
		invalid = invalid || s.Indication == string(ades.TotalFailed)
		verdicts = append(verdicts, strings.TrimSpace(s.Indication+" "+s.SubIndication))
	}
	f.dss = joinVerdicts(r.Error, verdicts)
	f.compare(t, invalid, "EU DSS", f.dss)
}

func (f *attackedFile) checkXMLSec(t *testing.T, r validators.XMLSecReport) {
	t.Helper()
	var verdicts []string
	invalid := r.Error != "" || len(r.Signatures) == 0
	for _, s := range r.Signatures {
		invalid = invalid || !s.Valid
		verdicts = append(verdicts, map[bool]string{true: "valid", false: "invalid"}[s.Valid])
	}
	f.xmlsec = joinVerdicts(r.Error, verdicts)
	f.compare(t, invalid, "XML Security Library", f.xmlsec)
}

func (f *attackedFile) compare(t *testing.T, invalid bool, validator, verdict string) {
	t.Helper()
	if f.passes && invalid && refusedByOthers[f.name] == "" {
		t.Errorf("%s: %s has %s, Innsigli %s", f.name, validator, verdict, f.innsigli)
	}
}

func joinVerdicts(failure string, verdicts []string) string {
	if failure != "" {
		return unreadableXML
	}
	return cmp.Or(strings.Join(verdicts, "; "), noSignature)
}

// attackTable is docs/attacks-xml.md.
func attackTable(files []attackedFile) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `# Attacks on signed XML

Written by %[1]s.ci/full%[1]s: %[2]d documents that were changed after they were signed, or made by an attacker or a
dishonest signer, and the verdict of each validator. The signer's authority is trusted; EU DSS requires no revocation
data here, and Innsigli's %[1]sTRY_LATER%[1]s is the indication of a signature of level B that lacks nothing else. XML
Security Library (xmlsec1) verifies digests and values with the keys in the document: it is asked for neither trust nor what is
around the signed element.

The verdict of Innsigli is the indication of each signature, how much of the document it covers, and "intact" if the
digests and the value are right. "warning" is one: of comments that are not signed, or of a prefix in a value whose
namespace is not. Only with "passes" does the whole document pass.

Each class has a public source: a vulnerability of that kind in another implementation, XML Signature Best Practices of
the W3C ("best practices"), or Engelbertz et al., "Security Analysis of XAdES Validation in the CEF Digital Signature
Services (DSS)", 2019 ("Engelbertz"). Documents that are made to take time or memory are in
%[1]sxades/bombs_test.go%[1]s.

| class | source | attack | packing | Innsigli | EU DSS | xmlsec1 |
|---|---|---|---|---|---|---|
`, "`", len(files))
	for _, f := range files {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", f.class.name, f.class.source, f.name, f.packing.name, f.innsigli, f.dss, f.xmlsec)
	}
	return b.Bytes()
}
