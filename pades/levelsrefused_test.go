package pades_test

import (
	"bytes"
	"crypto/x509"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/validators"
)

// The judge of the long term says no to what is not LTA: a document without a document
// timestamp, one whose revocation data is out of sight, one that leads to another root.
func TestPyHankoLongTermRefuses(t *testing.T) {
	ca, other := newAuthority(t), newAuthority(t)
	ca.At("http://sandbox.example")
	if _, err := ca.Renew(time.Now()); err != nil {
		t.Fatal(err)
	}
	p := newPerson(t, ca, p256(t))
	lt := signLevel(t, pdftest.Build(pdftest.Options{}), p, ades.LT)
	lta := extend(t, lt, ades.LTA, ca.Sources(nil))
	type verdict struct {
		Sufficient bool
		Now        string
		Archived   bool
	}
	const noProof = "INDETERMINATE CERTIFICATE_CHAIN_GENERAL_FAILURE"
	rows := []struct {
		name string
		b    []byte
		want verdict
	}{
		{"LTA", lta, verdict{true, "PASSED", true}},
		{"LT", lt, verdict{true, "INDETERMINATE NO_POE", false}},
		{"LT without responses", hide(t, lt, "/OCSPs"), verdict{false, noProof, false}},
		{"LT without lists", hide(t, lt, "/CRLs"), verdict{false, noProof, false}},
		{"LTA without responses", hide(t, lta, "/OCSPs"), verdict{false, noProof, false}},
		{"LTA without lists", hide(t, lta, "/CRLs"), verdict{false, noProof, false}},
	}
	folder := levelFolder{T: t, path: t.TempDir(), ca: ca}
	for _, row := range rows {
		folder.add(levelFile{name: row.name}, row.b)
	}
	check := func(name string, want verdict, r validators.PyHankoLongTermReport) {
		if len(r.Signatures) != 1 {
			t.Errorf("%s: %+v", name, r)
			return
		}
		s := r.Signatures[0]
		got := verdict{s.Sufficient, s.Now, !s.Archived.IsZero()}
		if diff := cmp.Diff(want, got); diff != "" || s.Error != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, s.Error, diff)
		}
	}
	for i, r := range validators.PyHankoLongTerm(t, []*x509.Certificate{ca.Root()}, paths(folder.files)...) {
		check(rows[i].name, rows[i].want, r)
	}
	for i, r := range validators.PyHankoLongTerm(t, []*x509.Certificate{other.Root()}, paths(folder.files)...) {
		check(rows[i].name+", another root", verdict{false, noProof, false}, r)
	}
}

// hide gives a key of the document security store another name of the same length.
func hide(t *testing.T, b []byte, key string) []byte {
	t.Helper()
	if bytes.Count(b, []byte(key)) != 1 {
		t.Fatalf("%d keys %s", bytes.Count(b, []byte(key)), key)
	}
	return bytes.Replace(b, []byte(key), []byte("/X"+key[2:]), 1)
}
