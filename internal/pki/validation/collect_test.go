package validation

import (
	"context"
	"crypto/x509"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// TestCollect checks that the data of a signature with a timestamp is what level LT requires, and no more
// (EN 319 142-1 6.3).
func TestCollect(t *testing.T) {
	s := newScene(t)
	want := []string{"A signer", "Innsigli Sandbox Issuing", "Innsigli Sandbox Root", "Innsigli Sandbox OCSP", "Innsigli Sandbox TSA"}
	if diff := cmp.Diff(want, names(s.data)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if len(s.data.OCSP) != 2 || len(s.data.CRLs) != 1 {
		t.Fatalf("got %d responses and %d lists, want 2 and 1", len(s.data.OCSP), len(s.data.CRLs))
	}
	known := NewKnown(t.Context(), ades.Sources{Roots: s.ca.Roots()})
	if missing := s.data.Missing(known, s.targets...); missing != nil {
		t.Errorf("missing: %q", missing)
	}
	if missing := s.data.Missing(newNetwork(t).known(), s.targets...); len(missing) != 2 {
		t.Errorf("another root: missing %q, want a chain of the signer and one of the timestamp authority", missing)
	}
}

// TestCollectRequests checks that Collect asks for the status of a certificate once, and again only if a later signature
// needs newer data.
func TestCollectRequests(t *testing.T) {
	n := newNetwork(t)
	issuing := newAuthority(t, "Issuing", n.root)
	responder := newResponder(t, "Responder", issuing, extended(oidNoCheck))
	n.listAbout("Issuing", n.root)
	var targets []Target
	for _, name := range []string{"A", "B", "A"} { // two certificates of one name
		n.respondAbout(name, responder)
		targets = append(targets, Target{Certificate: newSigner(t, name, issuing).Cert, BestSignatureTime: time.Now()})
	}
	targets = append(targets, targets[0])
	data, err := n.collect([]*x509.Certificate{issuing.Cert, issuing.Cert, n.root.Cert}, targets...)
	testenv.NoError(t, err)
	if diff := cmp.Diff([]string{"status of A", "status of Issuing", "status of B", "status of A"}, n.requests); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if len(data.OCSP) != 3 || len(data.CRLs) != 1 || len(data.Certificates) != 6 {
		t.Errorf("got %d responses, %d lists and %q, want 3, 1 and 6 certificates", len(data.OCSP), len(data.CRLs), names(data))
	}
	n.requests = nil
	earlier, later, unset := targets[0], targets[0], targets[0]
	earlier.BestSignatureTime, unset.BestSignatureTime = later.BestSignatureTime.Add(-time.Minute), time.Time{}
	_, err = n.collect([]*x509.Certificate{issuing.Cert}, earlier, later, unset)
	if diff := cmp.Diff([]string{"status of A", "status of Issuing", "status of A"}, n.requests); diff != "" || err != nil {
		t.Errorf("%v, -want +got:\n%s", err, diff)
	}
}

// TestCollectErrors checks that Collect returns all data or an error. A revocation counts from its time on
// (EN 319 102-1 5.5.4).
func TestCollectErrors(t *testing.T) {
	s := newScene(t)
	stamped, tsa := s.stamp.Token.Time, s.stamp.Token.Certificate
	targets := []Target{s.targets[0], {Certificate: tsa}}
	at := func(d time.Duration) ades.Sources {
		return s.ca.Sources(func() time.Time { return stamped.Add(d) })
	}
	earlier, later := at(-time.Minute), at(time.Minute)
	noRevocation, noRoots := later, later
	noRevocation.Revocation, noRoots.Roots = nil, nil
	revoke := func(c *x509.Certificate, after time.Duration) func() {
		return func() { s.ca.Revoke(c.SerialNumber, stamped.Add(after), 1) }
	}
	nothing := func() {}
	for _, test := range []struct {
		name    string
		sources ades.Sources
		change  func() // lasts
		want    []error
	}{
		{"good", later, nothing, nil},
		{"no source of revocation data", noRevocation, nothing, []error{ades.ErrNoRevocation}},
		{"no roots", noRoots, nothing, []error{ades.ErrNoChain}},
		{"data older than the timestamp", earlier, nothing, []error{ades.ErrNoRevocation, ades.ErrUnavailable}},
		{"signer revoked after the timestamp", later, revoke(s.signer, time.Second), nil},
		{"signer revoked in the second of the timestamp", later, revoke(s.signer, 0), []error{ades.ErrRevoked}},
		{"signer revoked before the timestamp", later, revoke(s.signer, -time.Minute), []error{ades.ErrRevoked}},
		{"timestamp authority revoked", later, func() {
			revoke(s.signer, time.Second)()
			revoke(tsa, time.Second)()
		}, []error{ades.ErrRevoked}},
		{"issuer revoked", later, revoke(s.ca.Chain()[0], time.Second), []error{ades.ErrRevoked}},
	} {
		test.change()
		data, err := Collect(t.Context(), test.sources, NewKnown(t.Context(), test.sources), targets...)
		if (err == nil) != (test.want == nil) || (data == nil) != (err != nil) {
			t.Fatalf("%s: got %v, %v; want %v", test.name, data, err, test.want)
		}
		for _, want := range test.want {
			if !errors.Is(err, want) {
				t.Errorf("%s: got %v, want %v", test.name, err, want)
			}
		}
		if errors.Is(err, ades.ErrRevoked) && !errors.As(err, new(*ades.RevokedError)) {
			t.Errorf("%s: got %T, want a *RevokedError", test.name, err)
		}
	}
	if _, err := Collect(t.Context(), later, s.known, Target{}); !errors.Is(err, ades.ErrNoChain) {
		t.Errorf("no certificate: got %v, want ErrNoChain", err)
	}
}

// TestFindChainInterrupted checks that a chain which is not found because the context ends, also while its issuer is
// fetched, may be found by a later attempt.
func TestFindChainInterrupted(t *testing.T) {
	n := newNetwork(t)
	issuing := newAuthority(t, "Issuing", n.root)
	signer := newSigner(t, "A", issuing).Cert
	n.issuers["A"] = []*x509.Certificate{issuing.Cert}
	for name, fetched := range map[string]bool{"before": false, "when the issuer was fetched": true} {
		ctx, cancel := context.WithCancel(t.Context())
		if !fetched {
			cancel()
		}
		sources := ades.Sources{Issuers: cancelling{n, cancel}, Roots: n.roots}
		_, err := FindChain(ctx, sources, NewKnown(ctx, sources), signer, time.Now())
		if !errors.Is(err, ades.ErrUnavailable) || !errors.Is(err, context.Canceled) || errors.Is(err, ades.ErrNoChain) {
			t.Errorf("%s: got %v, want %v", name, err, ades.ErrUnavailable)
		}
	}
}

// cancelling cancels a context when it has found an issuer.
type cancelling struct {
	*network
	cancel func()
}

func (c cancelling) Issuers(ctx context.Context, cert *x509.Certificate) ([]*x509.Certificate, error) {
	defer c.cancel()
	return c.network.Issuers(ctx, cert)
}

// TestComplete checks that Complete asks for the status of a signer again if the data is from before the signature. It
// is no error if there is no newer data.
func TestComplete(t *testing.T) {
	s := newSceneAt(t, time.Now().Add(-30*time.Minute))
	signed := []Target{{Certificate: s.signer, BestSignatureTime: time.Now().Add(-time.Second)}}
	online, offline := s.ca.Sources(nil), ades.Sources{Roots: s.ca.Roots()}
	if found, err := Complete(t.Context(), online, s.known, s.data, signed); err != nil || len(found.OCSP) != 1 {
		t.Errorf("got %+v, %v; want one response", found, err)
	}
	if found, err := Complete(t.Context(), offline, s.known, s.data, signed); err != nil || len(found.OCSP) != 0 {
		t.Errorf("without sources: got %+v, %v; want nothing", found, err)
	}
	s.ca.Revoke(s.signer.SerialNumber, signed[0].BestSignatureTime.Add(-time.Minute), 1)
	if _, err := Complete(t.Context(), online, s.known, s.data, signed); !errors.Is(err, ades.ErrRevoked) {
		t.Errorf("revoked since: got %v, want ErrRevoked", err)
	}
}

// TestCollectResponders checks for which OCSP responders Collect needs a status itself (RFC 6960 4.2.2.2.1).
func TestCollectResponders(t *testing.T) {
	type answers map[string]string // who signs the status of A, R and S
	for _, test := range []struct {
		name     string
		answers  answers
		requests []string // nil: no answer is accepted
	}{
		{"the issuer", answers{"A": "issuer"}, []string{"status of A"}},
		{"list", answers{"A": "list"}, []string{"status of A"}},
		{"responder with ocsp-nocheck", answers{"A": "exempt"}, []string{"status of A"}},
		{"responder that is in a list", answers{"A": "R", "R": "list"}, []string{"status of A", "status of R"}},
		{"responder with the status of another responder", answers{"A": "R", "R": "exempt"}, []string{"status of A", "status of R"}},
		{"responder that signs its own status", answers{"A": "R", "R": "R"}, []string{"status of A", "status of R"}},
		{"responders that sign the status of each other", answers{"A": "R", "R": "S", "S": "R"}, []string{"status of A", "status of R", "status of S"}},
		{"responder without status", answers{"A": "R"}, nil},
		{"more responders than allowed", answers{"A": "R", "R": "1", "1": "2", "2": "3", "3": "4", "4": "exempt"}, nil},
		{"responder of another authority", answers{"A": "other"}, nil},
		{"certificate without the purpose", answers{"A": "signer"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := newNetwork(t)
			by := map[string]*certtest.Pair{
				"issuer": n.root, "exempt": newResponder(t, "exempt", n.root, extended(oidNoCheck)), "signer": newSigner(t, "signer", n.root),
				"other": newResponder(t, "other", newAuthority(t, "Other", n.root), extended(oidNoCheck)),
			}
			for _, name := range []string{"R", "S", "1", "2", "3", "4"} {
				by[name] = newResponder(t, name, n.root)
			}
			for about, signer := range test.answers {
				if signer == "list" {
					n.listAbout(about, n.root)
				} else {
					n.respondAbout(about, by[signer])
				}
			}
			target := Target{Certificate: newSigner(t, "A", n.root).Cert, BestSignatureTime: time.Now()}
			data, err := n.collect(nil, target)
			if test.requests == nil {
				if !errors.Is(err, ades.ErrNoRevocation) || len(n.requests) > 1+maxResponderDepth {
					t.Errorf("got %v after %q, want ErrNoRevocation", err, n.requests)
				}
				return
			}
			testenv.NoError(t, err)
			if diff := cmp.Diff(test.requests, n.requests); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if missing := data.Missing(n.known(), target); missing != nil {
				t.Errorf("missing: %q", missing)
			}
		})
	}
}

// TestCollectReadsAnswer checks that Collect reads what a source returns: it finds a revocation that the source does not
// report, and refuses data that is not about the certificate.
func TestCollectReadsAnswer(t *testing.T) {
	n, now := newNetwork(t), time.Now()
	signer, other := newSigner(t, "A", n.root).Cert, newSigner(t, "B", n.root).Cert
	for name, test := range map[string]struct {
		answer ades.RevocationData
		want   error
	}{
		"response with a revocation": {ades.RevocationData{OCSP: respond(t, n.root, signer, n.root.Cert, revoked(now.Add(-time.Minute), 1))}, ades.ErrRevoked},
		"list with a revocation":     {ades.RevocationData{CRL: newList(t, n.root, now, entry(signer, now, 0))}, ades.ErrRevoked},
		"response about another":     {ades.RevocationData{OCSP: respond(t, n.root, other, n.root.Cert)}, ades.ErrNoRevocation},
		"malformed response":         {ades.RevocationData{OCSP: []byte("no")}, ades.ErrNoRevocation},
		"empty answer":               {ades.RevocationData{}, ades.ErrNoRevocation},
	} {
		n.answer("A", test.answer)
		if _, err := n.collect(nil, Target{Certificate: signer}); !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, want %v", name, err, test.want)
		}
	}
}
