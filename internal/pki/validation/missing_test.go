package validation

import (
	"crypto/x509"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
)

// EN 319 142-1 6.3, as validators judge it: what counts as a proof, and for whom.
func TestWhatIsMissing(t *testing.T) {
	w := newWorld(t)
	issuing, other := w.authority("Issuing", w.root), w.authority("Issuing", w.root) // of one name
	signer, second := w.signer("A", issuing), w.signer("B", issuing)
	self := w.signer("Self", pair{})
	checked, unchecked := w.responder("R", issuing), w.responder("S", issuing, noCheck)
	good := func(by pair, c pair) []byte { return w.response(by, c.cert, issuing.cert, time.Time{}) }
	upper := w.list(w.root)
	of := func(p pair) string { return "no revocation data about " + ades.Identify(p.cert) }
	ofA, ofB, ofR, ofIssuing := of(signer), of(second), of(checked), of(issuing)
	for _, row := range []struct {
		name    string
		data    *Data
		targets []pair
		want    []string
	}{
		{"nothing", &Data{}, []pair{signer}, []string{"there is no revocation data"}},
		{"all", &Data{OCSP: [][]byte{good(unchecked, signer)}, CRLs: [][]byte{upper}}, []pair{signer}, nil},
		{"all, of two", &Data{OCSP: [][]byte{good(unchecked, signer), good(issuing, second)}, CRLs: [][]byte{upper}}, []pair{signer, second, signer}, nil},
		{"one list for both", &Data{CRLs: [][]byte{upper, w.list(issuing)}}, []pair{signer, second}, nil},
		{"revoked is known too", &Data{CRLs: [][]byte{upper, w.list(issuing, signer.cert)}}, []pair{signer}, nil},
		{"of the authority", &Data{OCSP: [][]byte{good(unchecked, signer), good(issuing, second)}}, []pair{signer, second}, []string{ofIssuing}},
		{"of one signer", &Data{OCSP: [][]byte{good(unchecked, signer)}, CRLs: [][]byte{upper}}, []pair{signer, second}, []string{ofB}},
		{"of a responder", &Data{OCSP: [][]byte{good(checked, signer)}, CRLs: [][]byte{upper}}, []pair{signer}, []string{ofR}},
		{"of no responder", &Data{OCSP: [][]byte{good(checked, signer), good(unchecked, checked)}, CRLs: [][]byte{upper}}, []pair{signer}, nil},
		{"a list of another key", &Data{CRLs: [][]byte{upper, w.list(other)}}, []pair{signer}, []string{ofA}},
		{"a response of another key", &Data{OCSP: [][]byte{good(other, signer)}, CRLs: [][]byte{upper}}, []pair{signer}, []string{ofA}},
		{"a response that was changed", &Data{OCSP: [][]byte{changed(good(issuing, signer))}, CRLs: [][]byte{upper}}, []pair{signer}, []string{ofA}},
		{"what cannot be read", &Data{OCSP: [][]byte{{}, []byte("no")}, CRLs: [][]byte{upper, {}, []byte("no")}}, []pair{signer}, []string{ofA}},
		{"a self-signed target", &Data{CRLs: [][]byte{upper}}, []pair{self}, nil},
		{"an anchor", &Data{CRLs: [][]byte{upper}}, []pair{w.root}, nil},
		{"a target that is absent", &Data{CRLs: [][]byte{upper}}, []pair{{}}, []string{"the certificate of a signer or timestamp authority is absent"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			var targets []Target
			for _, p := range row.targets {
				targets = append(targets, Target{Certificate: p.cert})
			}
			for range 2 { // a question is answered again in the same way
				missing := row.data.Missing(NewKnown(t.Context(), ades.Sources{Roots: w.roots()}, issuing.cert, other.cert), targets...)
				if diff := cmp.Diff(row.want, missing); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// changed breaks the signature, which is at the end when no certificate follows.
func changed(der []byte) []byte {
	out := slices.Clone(der)
	out[len(out)-1] ^= 1
	return out
}

// Level detection does not look at times: what was LT stays LT when everything
// expired, and when the authority was renewed in between.
func TestMissingIsTimeless(t *testing.T) {
	w := newWorld(t)
	at := func(template x509.Certificate, from, to int) x509.Certificate {
		template.NotBefore, template.NotAfter = time.Now().AddDate(from, 0, 0), time.Now().AddDate(to, 0, 0)
		return template
	}
	w.root = w.issue("Old Root", pair{}, at(ofAuthority(), -20, -2))
	issuing := w.issue("Issuing", w.root, at(ofAuthority(), -8, -3))
	signer := w.issue("A", issuing, at(x509.Certificate{}, -9, -4))
	data := &Data{CRLs: [][]byte{w.listAt(w.root, -5), w.listAt(issuing, -5)}, Certificates: []*x509.Certificate{issuing.cert}}
	if missing := data.Missing(NewKnown(t.Context(), ades.Sources{Roots: w.roots()}), Target{Certificate: signer.cert}); missing != nil {
		t.Error(missing)
	}
	answers := data.About(signer.cert, issuing.cert)
	if len(answers) != 1 || answers[0].Revoked != nil || answers[0].ThisUpdate.After(time.Now().AddDate(-4, 0, 0)) || !answers[0].Signer.Equal(issuing.cert) {
		t.Errorf("%+v", answers)
	}
}

func TestMergeHasEachThingOnce(t *testing.T) {
	w := newWorld(t)
	other := w.authority("Other", pair{}).cert
	one := &Data{Certificates: []*x509.Certificate{w.root.cert}, OCSP: [][]byte{[]byte("1"), []byte("2"), []byte("1")}}
	two := &Data{Certificates: []*x509.Certificate{other, w.root.cert}, OCSP: [][]byte{[]byte("3"), []byte("2")}, CRLs: [][]byte{[]byte("4")}}
	got := Merge(nil, one, two, one)
	if diff := cmp.Diff([]string{"Root", "Other"}, names(got)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([][]byte{[]byte("1"), []byte("2"), []byte("3")}, got.OCSP); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([][]byte{[]byte("4")}, got.CRLs); diff != "" {
		t.Error(diff)
	}
	if empty := Merge(); empty.Certificates != nil || empty.OCSP != nil || empty.CRLs != nil {
		t.Error("something out of nothing")
	}
}

// What a document carries is anybody's: the work for it is bounded.
func TestQuestionsAreBounded(t *testing.T) {
	w := newWorld(t)
	signer := w.signer("A", w.root)
	good := w.response(w.root, signer.cert, w.root.cert, time.Time{})
	known := NewKnown(t.Context(), ades.Sources{Roots: w.roots()})
	data := new(Data).ShareLimit(known)
	for i := range 100 { // each another one
		data.OCSP = append(data.OCSP, w.response(w.root, signer.cert, w.root.cert, time.Now().Add(time.Duration(i)*time.Second)))
	}
	if data.About(w.signer("B", w.root).cert, w.root.cert) != nil || known.work.remaining < maxWork-answerWork*8 {
		t.Errorf("%d left of %d after a question that costs nothing", known.work.remaining, maxWork)
	}
	known.work.remaining = 50*(signatureWork+int64(len(good))) + signatureWork/2 // and what telling certificates apart costs
	if n := len(data.About(signer.cert, w.root.cert)); n != 50 {
		t.Errorf("%d answers", n)
	}
	if _, err := data.Chain(known, signer.cert, time.Now()); !errors.Is(err, ades.ErrNoChain) {
		t.Errorf("a chain for nothing: %v", err)
	}
}

// FuzzData: proofs out of a document are anybody's, as are the certificates.
func FuzzData(f *testing.F) {
	w := newWorld(f)
	signer := w.signer("A", w.root).cert
	f.Add(w.root.cert.Raw, signer.Raw, w.response(w.root, signer, w.root.cert, time.Time{}), w.list(w.root))
	f.Add(w.root.cert.Raw, signer.Raw, w.response(w.responder("R", w.root), signer, w.root.cert, time.Now()), w.list(w.root, signer))
	f.Add(w.root.cert.Raw, w.root.cert.Raw, []byte{}, []byte{0x30, 0x80})
	f.Fuzz(func(t *testing.T, authority, end, response, list []byte) {
		issuer, err := x509.ParseCertificate(authority)
		if err != nil {
			return
		}
		cert, err := x509.ParseCertificate(end)
		if err != nil {
			return
		}
		roots := x509.NewCertPool()
		roots.AddCert(issuer)
		data := &Data{OCSP: [][]byte{response}, CRLs: [][]byte{list}}
		missing := data.Missing(NewKnown(t.Context(), ades.Sources{Roots: roots}, issuer, cert), Target{Certificate: cert})
		answers := data.About(cert, issuer)
		if len(answers) == 0 && len(missing) == 0 && !isExempt(cert) && !isSelfSigned(cert) && !cert.Equal(issuer) { // which is an anchor
			t.Error("without an answer nothing is missing")
		}
		for _, a := range answers {
			if a.Signer == nil || (a.RevocationData.OCSP == nil) == (a.RevocationData.CRL == nil) {
				t.Errorf("%+v", a)
			}
		}
	})
}
