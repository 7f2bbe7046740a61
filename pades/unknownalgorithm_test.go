package pades_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// A signature by an algorithm that is not known here, and one by a key of a kind that is not, are reported by their
// identifiers, and nothing is said of a hash or a key that is not there.
func TestUnknownAlgorithm(t *testing.T) {
	ca, err := sandboxca.New(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := ca.Issue("Jóna Jónsdóttir", "0101302989", key.Public(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	content := pdftest.Build(pdftest.Options{})
	revision, err := pades.Sign(t.Context(), pades.Document{ReaderAt: bytes.NewReader(content), Size: int64(len(content))},
		key, ades.Signer{Certificate: certificate, Chain: ca.Chain()}, pades.Options{}, ades.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	signed := append(content, revision.Bytes...)
	const mlDSA65 = "608648016503040312" // 2.16.840.1.101.3.4.3.18, RFC 9881
	for name, test := range map[string]struct {
		replaced string // the last one of them
		want     string
	}{
		"algorithm": {"2a864886f70d01010b", "signature algorithm 2.16.840.1.101.3.4.3.18"}, // of the signature
		"key":       {"2a864886f70d010101", "key of type 2.16.840.1.101.3.4.3.18"},         // of the certificate
	} {
		at := max(bytes.LastIndex(signed, []byte(test.replaced)), bytes.LastIndex(signed, []byte(strings.ToUpper(test.replaced))))
		if at < 0 {
			t.Fatalf("%s: it is not in the signature", name)
		}
		changed := bytes.Clone(signed)
		copy(changed[at:], mlDSA65)
		report, err := pades.Verify(t.Context(), pades.Document{ReaderAt: bytes.NewReader(changed), Size: int64(len(changed))}, ades.VerifyOptions{Roots: ca.Roots()})
		if err != nil {
			t.Fatal(err)
		}
		problems := strings.Join(report.Signatures[0].Problems, "\n")
		if report.Passed() || !strings.Contains(problems, test.want) || strings.Contains(problems, "unknown hash") || strings.Contains(problems, "<nil>") {
			t.Errorf("%s: %v %v: %s", name, report.Signatures[0].Indication, report.Signatures[0].SubIndication, problems)
		}
	}
}
