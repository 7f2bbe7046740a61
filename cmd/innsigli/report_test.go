package main

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/ades/report"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// --json prints one object a line, one for each file. Scripts outside the repository read
// it, so every member is named here.
func TestVerifyJSON(t *testing.T) {
	t.Chdir(t.TempDir())
	files, err := catest.SignerFiles()
	if err != nil {
		t.Fatal(err)
	}
	files["unsigned.pdf"] = pdftest.Build(pdftest.Options{})
	files["no.pdf"] = []byte("Not a PDF.\n")
	for name, content := range files {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	output(t, done, "sign", "unsigned.pdf", "--cert", "p256-chain.pem", "--key", "p256-key.pem",
		"--reason", "Read", "--location", "Akureyri", "-o", "signed.pdf")
	tampered := bytes.Replace(testenv.ReadFile(t, "signed.pdf"), []byte("842"), []byte("841"), 1)
	if err := os.WriteFile("tampered.pdf", tampered, 0o600); err != nil {
		t.Fatal(err)
	}

	text := output(t, failed, "verify", "--json", "--trust", "root.pem", "signed.pdf", "tampered.pdf", "unsigned.pdf", "no.pdf", "missing.pdf")
	var got []map[string]any
	for line := range strings.Lines(text) {
		var object map[string]any
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		got = append(got, object)
	}
	var chain, path []any
	for _, c := range mustCertificates(t, "p256-chain.pem") {
		chain = append(chain, certificateMembers(c))
		path = append(path, map[string]any{
			"certificate": certificateMembers(c), "revocation": "UNKNOWN", "revokedAt": "", "reason": float64(0), "source": "",
			"producedAt": "", "thisUpdate": "", "fetched": false,
		})
	}
	path[len(path)-1].(map[string]any)["revocation"] = "NOT_NEEDED"
	signature := func(indication, subIndication string, intact bool, problem string) map[string]any {
		return map[string]any{
			"name": "Signature1", "format": "PAdES-BASELINE-B", "indication": indication, "subIndication": subIndication,
			"intact": intact, "coverage": "WHOLE_DOCUMENT", "counterSignature": false, "extended": false, "coveredBytes": float64(len(tampered)),
			"signer": "Local Signer", "serialNumber": "0101302989", "issuer": "Innsigli Sandbox Issuing",
			"claimedTime": recent, "bestTime": "", "judgedAt": recent, "timestamps": []any{}, "reason": "Read", "location": "Akureyri", "problems": []any{problem},
			"passed": intact, "certificate": chain[0], "chain": chain, "path": path, "warnings": []any{}, "changes": []any{},
			"algorithm": map[string]any{"scheme": "ECDSA", "hash": "SHA-256", "key": "P-256"}, "signerName": "Local Signer",
		}
	}
	want := []map[string]any{
		{"file": "signed.pdf", "passed": true, "error": "", "problems": []any{}, "signatures": []any{
			signature("INDETERMINATE", "TRY_LATER", true, "The document has no revocation data for the signature's certificates.")}},
		{"file": "tampered.pdf", "passed": false, "error": "", "problems": []any{`Signature "Signature1" is TOTAL_FAILED: HASH_FAILURE.`}, "signatures": []any{
			signature("TOTAL_FAILED", "HASH_FAILURE", false, somewhat)}},
		{"file": "unsigned.pdf", "passed": false, "error": "", "problems": []any{"The document has no signatures."}, "signatures": []any{}},
		{"file": "no.pdf", "passed": false, "error": somewhat, "problems": []any{}, "signatures": []any{}},
		{"file": "missing.pdf", "passed": false, "error": somewhat, "problems": []any{}, "signatures": []any{}},
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(equalText)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// certificateMembers are what is printed of a certificate of the sandbox's.
func certificateMembers(c *x509.Certificate) map[string]any {
	sum := sha256.Sum256(c.Raw)
	return map[string]any{
		"subject": c.Subject.String(), "name": c.Subject.CommonName, "issuer": c.Issuer.String(), "number": fmt.Sprintf("%x", c.SerialNumber),
		"notBefore": c.NotBefore.Format(time.RFC3339), "notAfter": c.NotAfter.Format(time.RFC3339), "sha256": hex.EncodeToString(sum[:]),
	}
}

func mustCertificates(t *testing.T, path string) []*x509.Certificate {
	t.Helper()
	certificates, err := readCertificates(path)
	if err != nil {
		t.Fatal(err)
	}
	return certificates
}

// A file that grew by the proof of its signature passes; one that grew by something else
// does not, and a script can tell them apart.
func TestVerifyJSONTellsProofFromChanges(t *testing.T) {
	ca := catest.New(t)
	address := catest.Serve(t, ca)
	t.Chdir(t.TempDir())
	writeSigner(t, ".", ca)
	output(t, done, "sign", "in.pdf", "--cert", "chain.pem", "--key", "key.pem", "--level", "LT", "-o", "proven.pdf",
		"--tsa", address+sandboxca.PathTimestamp, "--insecure-allow-private-addresses")
	if err := os.WriteFile("changed.pdf", append(testenv.ReadFile(t, "proven.pdf"), "% More.\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		file             string
		status           int
		passed, extended bool
	}{
		{"proven.pdf", done, true, true},
		{"changed.pdf", failed, false, false},
	} {
		var got report.Document
		if err := json.Unmarshal([]byte(output(t, test.status, "verify", "--json", "--trust", "root.pem", test.file)), &got); err != nil {
			t.Fatal(err)
		}
		s := got.Signatures
		if len(s) != 1 || s[0].Coverage != ades.WholeRevision || s[0].Indication != ades.TotalPassed || got.Passed != test.passed || s[0].Extended != test.extended {
			t.Errorf("%+v", got)
		}
	}
}

// What stands in an expected report for a text that is not known beforehand.
const (
	somewhat = "(any text)"
	recent   = "(a time since the tests began)"
)

var testsBegan = time.Now()

func equalText(a, b string) bool {
	for range 2 {
		switch {
		case a == b, a == somewhat && b != "":
			return true
		case a == recent:
			claimed, err := time.Parse("2006-01-02T15:04:05Z", b)
			return err == nil && !claimed.Before(testsBegan.Truncate(time.Second)) && !claimed.After(time.Now())
		}
		a, b = b, a
	}
	return false
}

// output runs the program in the test's own process and returns its stdout. It may write
// to stderr only when it fails.
func output(t *testing.T, status int, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	got := run(t.Context(), args, &stdout, &stderr)
	if said := lateRenderer.ReplaceAllString(stderr.String(), ""); got != status || status == done && strings.TrimSpace(said) != "" {
		t.Fatalf("innsigli %s: exit status %d, want %d\n%s", strings.Join(args, " "), got, status, &stderr)
	}
	return stdout.String()
}
