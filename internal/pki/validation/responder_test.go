package validation

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
)

// RFC 6960 4.2.2.2.1: who is asked about a responder, and what the data has then.
func TestRespondersOfResponders(t *testing.T) {
	for _, row := range []struct {
		name string
		set  func(w *world)
		want []string // what is asked; nil: no proof
	}{
		{"the issuer answers", func(w *world) { w.answersFor("A", w.root) }, []string{"status of A"}},
		{"a list", func(w *world) { w.lists("A", w.root) }, []string{"status of A"}},
		{"ocsp-nocheck", func(w *world) { w.answersFor("A", w.responder("R", w.root, noCheck)) }, []string{"status of A"}},
		{"a list about the responder", func(w *world) {
			w.answersFor("A", w.responder("R", w.root))
			w.lists("R", w.root)
		}, []string{"status of A", "status of R"}},
		{"another responder about it", func(w *world) {
			w.answersFor("A", w.responder("R", w.root))
			w.answersFor("R", w.responder("S", w.root, noCheck))
		}, []string{"status of A", "status of R"}},
		{"the responder about itself", func(w *world) {
			r := w.responder("R", w.root)
			w.answersFor("A", r)
			w.answersFor("R", r)
		}, []string{"status of A", "status of R"}},
		{"two about each other", func(w *world) {
			r, s := w.responder("R", w.root), w.responder("S", w.root)
			w.answersFor("A", r)
			w.answersFor("R", s)
			w.answersFor("S", r)
		}, []string{"status of A", "status of R", "status of S"}},
		{"nobody about it", func(w *world) { w.answersFor("A", w.responder("R", w.root)) }, nil},
		{"without end", func(w *world) {
			w.answersFor("A", w.responder("R0", w.root))
			for i := range 50 {
				w.answersFor(fmt.Sprintf("R%d", i), w.responder(fmt.Sprintf("R%d", i+1), w.root))
			}
		}, nil},
		{"a responder of another authority", func(w *world) {
			w.answersFor("A", w.responder("R", w.authority("Other", w.root), noCheck))
		}, nil},
		{"no responder at all", func(w *world) { w.answersFor("A", w.signer("R", w.root)) }, nil},
		{"bytes that are none", func(w *world) {
			w.answers["A"] = func(_, _ *x509.Certificate) (ades.RevocationData, error) {
				return ades.RevocationData{OCSP: []byte("no")}, nil
			}
		}, nil},
		{"no bytes", func(w *world) {
			w.answers["A"] = func(_, _ *x509.Certificate) (ades.RevocationData, error) { return ades.RevocationData{}, nil }
		}, nil},
		{"about another certificate", func(w *world) {
			b := w.signer("B", w.root)
			w.answers["A"] = func(_, issuer *x509.Certificate) (ades.RevocationData, error) {
				return ades.RevocationData{OCSP: w.response(w.root, b.cert, issuer, time.Time{})}, nil
			}
		}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			signer := w.signer("A", w.root)
			row.set(w)
			target := Target{Certificate: signer.cert, BestSignatureTime: time.Now()}
			data, err := collect(t, w.sources(), nil, target)
			if row.want == nil {
				if !errors.Is(err, ades.ErrNoRevocation) || len(w.asked) > 1+maxResponderDepth {
					t.Errorf("asked %q: %v", w.asked, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.want, w.asked); diff != "" {
				t.Error(diff)
			}
			if missing := data.Missing(NewKnown(t.Context(), ades.Sources{Roots: w.roots()}), target); missing != nil {
				t.Error(missing)
			}
		})
	}
}

// A source that does not say what its proof says is not believed.
func TestProofIsRead(t *testing.T) {
	w := newWorld(t)
	signer, now := w.signer("A", w.root), time.Now()
	for name, proof := range map[string]ades.RevocationData{
		"OCSP": {OCSP: w.response(w.root, signer.cert, w.root.cert, now.Add(-time.Minute))},
		"CRL":  {CRL: w.list(w.root, signer.cert)},
	} {
		w.answers["A"] = func(_, _ *x509.Certificate) (ades.RevocationData, error) { return proof, nil }
		if _, err := collect(t, w.sources(), nil, Target{Certificate: signer.cert}); !errors.Is(err, ades.ErrRevoked) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The certificates that nobody asks about: RFC 6960 4.2.2.2.1, RFC 9608, EN 319 412-1
// 5.2. The same rule says what is missing.
func TestCertificatesWithoutRevocation(t *testing.T) {
	noRevAvail, shortTerm := pkix.Extension{Id: oidNoRevAvail, Value: []byte{5, 0}}, pkix.Extension{Id: oidShortTerm, Value: []byte{5, 0}}
	extended := func(e pkix.Extension) x509.Certificate {
		return x509.Certificate{ExtraExtensions: []pkix.Extension{e}}
	}
	authority := ofAuthority()
	authority.ExtraExtensions = []pkix.Extension{noRevAvail, shortTerm, noCheck}
	answering := extended(noCheck)
	answering.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageOCSPSigning}
	for _, row := range []struct {
		name     string
		template x509.Certificate
		want     bool
	}{
		{"noRevAvail", extended(noRevAvail), true},
		{"validity-assured-short-term", extended(shortTerm), true},
		{"ocsp-nocheck of a responder", answering, true},
		{"ocsp-nocheck of a signer", extended(noCheck), false},
		{"none", x509.Certificate{}, false},
		{"an authority", authority, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			c, other := w.issue("C", w.root, row.template).cert, w.signer("Other", w.root).cert
			_, err := collect(t, w.sources(), nil, Target{Certificate: c})
			if (err == nil) != row.want || (len(w.asked) == 0) != row.want {
				t.Errorf("asked %q: %v", w.asked, err)
			}
			data := &Data{OCSP: [][]byte{w.response(w.root, other, w.root.cert, time.Time{})}}
			if missing := data.Missing(NewKnown(t.Context(), ades.Sources{Roots: w.roots()}), Target{Certificate: c}); (missing == nil) != row.want {
				t.Error(missing)
			}
		})
	}
}
