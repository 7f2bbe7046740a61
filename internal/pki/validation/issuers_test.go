package validation

import (
	"crypto/x509"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
)

// RFC 5280 4.2.2.1: the way up is found step by step.
func TestIssuersAreFound(t *testing.T) {
	w := newWorld(t)
	upper := w.authority("Upper", w.root)
	lower := w.authority("Lower", upper)
	signer, stranger := w.signer("A", lower), w.authority("Stranger", pair{})
	w.issuers["A"] = []*x509.Certificate{stranger.cert, lower.cert}
	w.issuers["Lower"] = []*x509.Certificate{upper.cert}
	w.answersFor("A", lower)
	w.answersFor("Lower", upper)
	w.answersFor("Upper", w.root)
	data, err := collect(t, w.sources(), nil, Target{Certificate: signer.cert, BestSignatureTime: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"A", "Lower", "Upper", "Root"}, names(data)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"issuer of A", "issuer of Lower", "status of A", "status of Lower", "status of Upper"}, w.asked); diff != "" {
		t.Error(diff)
	}
}

// An authority whose known certificate expired, and which has another.
func TestRenewedIssuerIsFound(t *testing.T) {
	w := newWorld(t)
	issuing := w.authority("Issuing", w.root)
	expired := ofAuthority()
	expired.NotBefore, expired.NotAfter = time.Now().Add(-2*time.Hour), time.Now().Add(-time.Minute)
	old := w.certify("Issuing", issuing.key, w.root, expired)
	signer := w.signer("A", issuing)
	w.answersFor("A", issuing)
	w.answersFor("Issuing", w.root)
	known := []*x509.Certificate{old, w.root.cert}
	if _, err := collect(t, w.sources(), known, Target{Certificate: signer.cert}); !errors.Is(err, ades.ErrOutsideValidity) || !errors.Is(err, ades.ErrUnavailable) {
		t.Error(err)
	}
	w.issuers["A"] = []*x509.Certificate{issuing.cert}
	data, err := collect(t, w.sources(), known, Target{Certificate: signer.cert})
	if err != nil || !data.Certificates[1].Equal(issuing.cert) {
		t.Error(err)
	}
}

// Authorities that certified each other are no way up, and no way to be kept busy.
func TestIssuersThatGoInCircles(t *testing.T) {
	w := newWorld(t)
	a, b := w.authority("CA 1", pair{}), w.authority("CA 2", pair{})
	aByB, bByA := w.certify("CA 1", a.key, b, ofAuthority()), w.certify("CA 2", b.key, a, ofAuthority())
	signer := w.signer("A", a)
	w.issuers["A"] = []*x509.Certificate{aByB}
	w.issuers["CA 1"] = []*x509.Certificate{bByA}
	w.issuers["CA 2"] = []*x509.Certificate{aByB}
	if _, err := collect(t, w.sources(), nil, Target{Certificate: signer.cert}); !errors.Is(err, ades.ErrNoChain) {
		t.Error(err)
	}
	if len(w.asked) != 3 {
		t.Error(w.asked)
	}
}

// A way up without end is left after a while; nothing about it is asked but issuers.
func TestIssuersWithoutEnd(t *testing.T) {
	w := newWorld(t)
	at := w.authority("CA 100", pair{})
	for i := 99; i >= 0; i-- {
		name := fmt.Sprintf("CA %d", i)
		w.issuers[name] = []*x509.Certificate{at.cert}
		at = w.authority(name, at)
	}
	if _, err := collect(t, w.sources(), nil, Target{Certificate: at.cert}); !errors.Is(err, ades.ErrNoChain) {
		t.Error(err)
	}
	if len(w.asked) != maxSteps {
		t.Errorf("asked %d times", len(w.asked))
	}
}

// Addresses of a certificate are not followed for whoever trusts nobody, and about
// revocation nobody is asked before there is a chain.
func TestStrangersAreNotAskedAbout(t *testing.T) {
	w, other := newWorld(t), newWorld(t)
	signer := other.signer("A", other.root)
	sources := w.sources()
	w.issuers["A"] = []*x509.Certificate{other.root.cert}
	w.answersFor("A", other.root)
	if _, err := collect(t, sources, nil, Target{Certificate: signer.cert, BestSignatureTime: time.Now()}); !errors.Is(err, ades.ErrNoChain) {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"issuer of A"}, w.asked); diff != "" {
		t.Error(diff)
	}
	sources.Roots, w.asked = nil, nil
	if _, err := collect(t, sources, nil, Target{Certificate: signer.cert, BestSignatureTime: time.Now()}); !errors.Is(err, ades.ErrNoChain) || w.asked != nil {
		t.Error(w.asked, err)
	}
}

// A document may carry many certificates of one name to keep its reader busy.
func TestManyOfOneName(t *testing.T) {
	w := newWorld(t)
	issuing := w.authority("Issuing", w.root)
	signer := w.signer("A", issuing)
	w.answersFor("A", issuing)
	w.answersFor("Issuing", w.root)
	known := []*x509.Certificate{issuing.cert}
	for range 2 * maxChecks {
		known = append(known, w.authority("Issuing", pair{}).cert)
	}
	if _, err := collect(t, w.sources(), known, Target{Certificate: signer.cert, BestSignatureTime: time.Now()}); err != nil {
		t.Error(err)
	}
	if found := (path{NewKnown(t.Context(), ades.Sources{Roots: nil}, known[1:]...), new(Data)}).ancestors(signer.cert); len(found) != 1 {
		t.Errorf("%d ancestors", len(found))
	}
}
