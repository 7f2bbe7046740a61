package validation

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/tsp"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// sandbox is the test authority with a signer's certificate and a timestamp of now.
func sandbox(t testing.TB) (*sandboxca.Authority, *x509.Certificate, *tsp.Token) {
	t.Helper()
	a, err := sandboxca.New(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := a.Issue("Dæmi um nafn", "1203894569", key.Public(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte("value"))
	der, err := a.Sources(nil).Time.Timestamp(t.Context(), crypto.SHA256, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	token, err := tsp.ParseToken(der)
	if err != nil {
		t.Fatal(err)
	}
	if err := token.Verify(); err != nil {
		t.Fatal(err)
	}
	return a, signer, token
}

// EN 319 142-1 6.3: what level LT consists of, and that none of it is too much.
func TestValidationDataOfASignature(t *testing.T) {
	a, signer, token := sandbox(t)
	targets := []Target{{Certificate: signer, BestSignatureTime: token.Time}, {Certificate: token.Certificate}}
	data, err := collect(t, a.Sources(nil), nil, targets...)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"Dæmi um nafn", "Innsigli Sandbox Issuing", "Innsigli Sandbox Root", "Innsigli Sandbox OCSP", "Innsigli Sandbox TSA"}
	if diff := cmp.Diff(want, names(data)); diff != "" {
		t.Error(diff)
	}
	if len(data.OCSP) != 2 || len(data.CRLs) != 1 {
		t.Errorf("%d responses, %d lists", len(data.OCSP), len(data.CRLs))
	}
	if missing := data.Missing(NewKnown(t.Context(), ades.Sources{Roots: a.Roots()}), targets...); missing != nil {
		t.Error(missing)
	}
	for name, lesser := range map[string]*Data{
		"the signer's status":    {Certificates: data.Certificates, OCSP: data.OCSP[1:], CRLs: data.CRLs},
		"the TSA's status":       {Certificates: data.Certificates, OCSP: data.OCSP[:1], CRLs: data.CRLs},
		"the authority's status": {Certificates: data.Certificates, OCSP: data.OCSP},
		"the certificates":       {OCSP: data.OCSP, CRLs: data.CRLs},
		"every proof":            {Certificates: data.Certificates},
	} {
		if missing := lesser.Missing(NewKnown(t.Context(), ades.Sources{Roots: a.Roots()}), targets...); len(missing) == 0 {
			t.Errorf("without %s nothing is missing", name)
		}
	}
	if missing := data.Missing(NewKnown(t.Context(), ades.Sources{Roots: newWorld(t).roots()}), targets...); len(missing) != 2 {
		t.Errorf("below another root: %q", missing)
	}
}

// What is known need not be asked for, and each thing is asked for once.
func TestCollectAsksOnce(t *testing.T) {
	w := newWorld(t)
	issuing := w.authority("Issuing", w.root)
	responder := w.responder("Responder", issuing, noCheck)
	w.lists("Issuing", w.root)
	var targets []Target
	for _, name := range []string{"A", "B", "A"} {
		w.answersFor(name, responder)
		targets = append(targets, Target{Certificate: w.signer(name, issuing).cert, BestSignatureTime: time.Now()})
	}
	targets = append(targets, targets[0])
	data, err := collect(t, w.sources(), []*x509.Certificate{issuing.cert, issuing.cert, w.root.cert}, targets...)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"status of A", "status of Issuing", "status of B", "status of A"}, w.asked); diff != "" {
		t.Error(diff)
	}
	if len(data.OCSP) != 3 || len(data.CRLs) != 1 || len(data.Certificates) != 6 {
		t.Errorf("%d responses, %d lists, %q", len(data.OCSP), len(data.CRLs), names(data))
	}
}

// A later signature of the same signer needs a newer proof.
func TestCollectAsksAgainForALaterSignature(t *testing.T) {
	w := newWorld(t)
	signer := w.signer("A", w.root)
	w.answersFor("A", w.root)
	now := time.Now()
	_, err := collect(t, w.sources(), nil, Target{Certificate: signer.cert, BestSignatureTime: now.Add(-time.Minute)}, Target{Certificate: signer.cert, BestSignatureTime: now}, Target{Certificate: signer.cert})
	if err != nil || len(w.asked) != 2 {
		t.Error(w.asked, err)
	}
}

// EN 319 102-1 5.5.4: a revocation counts from its time on. Nothing that is missing is
// passed over.
func TestCollectIsWholeOrFails(t *testing.T) {
	a, signer, token := sandbox(t)
	issuing := a.Chain()[0]
	offline, blind := a.Sources(nil), a.Sources(nil)
	offline.Revocation, blind.Roots = nil, nil
	behind := a.Sources(func() time.Time { return token.Time.Add(-time.Minute) })
	revoked := func(c *x509.Certificate, at time.Time) func() { return func() { a.Revoke(c.SerialNumber, at, 1) } }
	before, after := token.Time.Add(-time.Minute), token.Time.Add(time.Second)
	later := a.Sources(func() time.Time { return token.Time.Add(time.Minute) })
	for _, row := range []struct {
		name    string
		sources ades.Sources
		change  func()
		want    []error
	}{
		{"good", later, nil, nil},
		{"no source of revocation", offline, nil, []error{ades.ErrNoRevocation}},
		{"no roots", blind, nil, []error{ades.ErrNoChain}},
		{"answers older than the timestamp", behind, nil, []error{ades.ErrNoRevocation, ades.ErrUnavailable}},
		{"signer revoked after the timestamp", later, revoked(signer, after), nil},
		{"signer revoked in the second of the timestamp", later, revoked(signer, token.Time), []error{ades.ErrRevoked}},
		{"signer revoked before the timestamp", later, revoked(signer, before), []error{ades.ErrRevoked}},
		{"TSA revoked", later, func() { revoked(signer, after)(); revoked(token.Certificate, after)() }, []error{ades.ErrRevoked}},
		{"authority revoked", later, func() { revoked(issuing, after)() }, []error{ades.ErrRevoked}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if row.change != nil {
				row.change()
			}
			data, err := collect(t, row.sources, nil, Target{Certificate: signer, BestSignatureTime: token.Time}, Target{Certificate: token.Certificate})
			if (err == nil) != (len(row.want) == 0) || (data == nil) != (err != nil) {
				t.Fatal(data, err)
			}
			for _, want := range row.want {
				if !errors.Is(err, want) {
					t.Errorf("not %v: %v", want, err)
				}
			}
			var typed *ades.RevokedError
			if errors.Is(err, ades.ErrRevoked) && !errors.As(err, &typed) {
				t.Error("revoked, and not said which")
			}
		})
	}
	if _, err := collect(t, later, nil, Target{}); !errors.Is(err, ades.ErrNoChain) {
		t.Errorf("a certificate that is absent: %v", err)
	}
}

// An answer that was in force at the signature suffices, and the sources are asked again all the same: the certificate
// may have been revoked since that answer. That they give none is no error.
func TestCompleteAsksAgain(t *testing.T) {
	earlier := time.Now().Add(-30 * time.Minute)
	a, err := sandboxca.New(earlier)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := a.Issue("Dæmi um nafn", "1203894569", key.Public(), earlier)
	if err != nil {
		t.Fatal(err)
	}
	known := NewKnown(t.Context(), ades.Sources{Roots: a.Roots()}, a.Chain()...)
	have, err := Collect(t.Context(), a.Sources(func() time.Time { return earlier }), known, Target{Certificate: signer, BestSignatureTime: earlier})
	if err != nil {
		t.Fatal(err)
	}
	signed := Target{Certificate: signer, BestSignatureTime: time.Now().Add(-time.Second)}
	live, offline := a.Sources(nil), ades.Sources{Roots: a.Roots()}

	if found, err := Complete(t.Context(), live, known, have, []Target{signed}); err != nil || len(found.OCSP) != 1 {
		t.Errorf("%+v, %v", found, err)
	}
	if found, err := Complete(t.Context(), offline, known, have, []Target{signed}); err != nil || len(found.OCSP) != 0 {
		t.Errorf("without sources: %+v, %v", found, err)
	}
	a.Revoke(signer.SerialNumber, signed.BestSignatureTime.Add(-time.Minute), 1)
	if _, err := Complete(t.Context(), live, known, have, []Target{signed}); !errors.Is(err, ades.ErrRevoked) {
		t.Errorf("revoked in between: %v", err)
	}
}
