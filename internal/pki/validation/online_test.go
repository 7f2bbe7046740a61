package validation

import (
	"context"
	"crypto"
	"crypto/elliptic"
	"crypto/x509"
	"fmt"
	"math/big"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
)

// slow is an [ades.Revocation] and [ades.Issuers] that is unavailable after a while. It counts the requests.
type slow struct {
	wait     time.Duration
	requests int
}

func (s *slow) Revocation(ctx context.Context, _, _ *x509.Certificate, _ time.Time) (ades.RevocationData, error) {
	return ades.RevocationData{}, s.answer(ctx)
}

func (s *slow) Issuers(ctx context.Context, _ *x509.Certificate) ([]*x509.Certificate, error) {
	return nil, s.answer(ctx)
}

func (s *slow) answer(ctx context.Context) error {
	s.requests++
	select {
	case <-ctx.Done():
	case <-time.After(s.wait): // time: virtual, in the bubble of the only test
	}
	return ades.ErrUnavailable
}

// TestOnlineLimits checks that the requests for a document with many certificates, and their time, are limited, and
// that there is one request for each certificate.
func TestOnlineLimits(t *testing.T) {
	key, own := certtest.NewKey(t, elliptic.P256()), certtest.NewKey(t, elliptic.P256())
	for _, test := range []struct {
		wait, most time.Duration
		requests   int
	}{
		{0, 0, maxRequests},
		{7 * time.Second, maxWait, 9},
	} {
		for _, trusted := range []bool{true, false} { // else the issuers are fetched
			synctest.Test(t, func(t *testing.T) {
				serial := func(n int64) change { return func(c *x509.Certificate) { c.SerialNumber = big.NewInt(n) } }
				root := certtest.NewForKey(t, "Root", key, nil, certtest.Authority, serial(1))
				source := &slow{wait: test.wait}
				sources := ades.Sources{Roots: certtest.Pool(), Issuers: source}
				if trusted {
					sources = ades.Sources{Roots: certtest.Pool(root.Cert), Revocation: source}
				}
				known := NewKnown(t.Context(), sources)
				judge := Validator{Data: new(Data).ShareLimit(known), Time: time.Now(), Online: NewOnline(t.Context(), sources)}
				began := time.Now()
				for i := range int64(100) {
					cert := certtest.NewForKey(t, "A", own, root, serial(i+2)).Cert
					for range 2 {
						r := ades.SignatureReport{Certificate: cert, ClaimedTime: time.Now(), Algorithm: ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.ECDSA}}
						judge.Signer(&r, known)
						if len(r.Warnings) != 1 || r.Indication != ades.Indeterminate {
							t.Fatalf("got %+v, want INDETERMINATE with one warning", r)
						}
					}
				}
				if took := time.Since(began); took > test.most || source.requests != test.requests {
					t.Errorf("trusted %t: got %d requests in %v, want %d in %v", trusted, source.requests, took, test.requests, test.most)
				}
			})
		}
	}
}

// TestFetched checks which revocation data is fetched, and marked so in the paths of a signer and of a timestamp.
func TestFetched(t *testing.T) {
	s := newScene(t)
	lists := s.lists(t)
	for _, test := range []struct {
		name            string
		data            *Data
		signer, issuing string
	}{
		{"no data", new(Data), "GOOD by OCSP, fetched", issuingGood + ", fetched"},
		{"list of the root", &Data{CRLs: lists.CRLs[1:]}, "GOOD by OCSP, fetched", issuingGood},
		{"all data", lists, "GOOD by CRL", issuingGood},
	} {
		r := s.report()
		judge := Validator{Data: test.data.ShareLimit(s.known), Time: time.Now(), Online: NewOnline(t.Context(), s.ca.Sources(nil))}
		judge.Signer(&r, s.known)
		want := []string{"A signer: " + test.signer, test.issuing, rootNotNeeded}
		if diff := cmp.Diff(want, describe(t, r.Path)); diff != "" {
			t.Errorf("%s: signer, -want +got:\n%s", test.name, diff)
		}
		judge.PastValidation(&r, slices.Values([]POE(nil)))
		if diff := cmp.Diff(want, describe(t, r.Path)); diff != "" || r.Indication != "" {
			t.Errorf("%s: past validation has %s %q; -want +got:\n%s", test.name, r.Indication, r.Problems, diff)
		}
		stamp := s.stamp
		stamp.Check(s.sum, nil)
		judge.Timestamp(&stamp, s.known, judge.Time)
		want[0] = s.stamp.Token.Certificate.Subject.CommonName + ": " + test.signer
		if diff := cmp.Diff(want, describe(t, stamp.Report.Path)); diff != "" {
			t.Errorf("%s: timestamp, -want +got:\n%s", test.name, diff)
		}
	}
}

// cachedRevocation is an [ades.Revocation] that returns old from its cache, and new for a signer.
type cachedRevocation struct {
	old ades.RevocationData
	new map[string]func(cert, issuer *x509.Certificate) (ades.RevocationData, error) // by common name
}

func (c cachedRevocation) Revocation(_ context.Context, cert, issuer *x509.Certificate, notBefore time.Time) (ades.RevocationData, error) {
	if notBefore.IsZero() {
		return c.old, nil
	}
	return c.new[cert.Subject.CommonName](cert, issuer)
}

// TestOnlineSignerIsFetched checks that the status of a signer is fetched, although an older list that has it was read
// from a cache before, about the authority of another signer.
func TestOnlineSignerIsFetched(t *testing.T) {
	n := newNetwork(t)
	ago := time.Now().Add(-10 * time.Minute)
	valid := certtest.Valid(ago.Add(-time.Hour), time.Now().Add(time.Hour))
	authority, signer := newAuthority(t, "Authority", n.root, valid), newSigner(t, "Signer", n.root, valid)
	person := newSigner(t, "Person", authority)
	for _, test := range []struct {
		list []byte // nil: unavailable
		want ades.SubIndication
	}{
		{newList(t, n.root, time.Now()), ""},
		{newList(t, n.root, time.Now(), entry(signer.Cert, ago, 1)), ades.RevokedNoPOE},
		{nil, ades.TryLater},
	} {
		sources := ades.Sources{Roots: n.roots, Revocation: cachedRevocation{
			ades.RevocationData{CRL: newList(t, n.root, ago)},
			map[string]func(cert, issuer *x509.Certificate) (ades.RevocationData, error){
				"Person": func(cert, issuer *x509.Certificate) (ades.RevocationData, error) {
					return ades.RevocationData{OCSP: respond(t, authority, cert, issuer)}, nil
				},
				"Signer": func(_, _ *x509.Certificate) (ades.RevocationData, error) {
					if test.list == nil {
						return ades.RevocationData{}, fmt.Errorf("%w: %w", ades.ErrNoRevocation, ades.ErrUnavailable)
					}
					return ades.RevocationData{CRL: test.list}, nil
				},
			},
		}}
		known := NewKnown(t.Context(), sources, authority.Cert)
		judge := Validator{Data: new(Data).ShareLimit(known), Time: time.Now(), Online: NewOnline(t.Context(), sources)}
		for i, by := range []*certtest.Pair{person, signer, person, signer} {
			want := test.want
			if by == person {
				want = ""
			}
			r := ades.SignatureReport{Certificate: by.Cert, ClaimedTime: time.Now(), Algorithm: ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.ECDSA}}
			if judge.Signer(&r, known); r.SubIndication != want {
				t.Errorf("%q: signature %d by %s: got %q: %q", test.want, i+1, by.Cert.Subject, r.SubIndication, r.Problems)
			}
		}
	}
}

// TestUncached checks that no beginning of validity is taken for the time by which a cache is used.
func TestUncached(t *testing.T) {
	for _, begins := range []time.Time{{}, time.Unix(0, 0), time.Now()} {
		if got := Uncached(&x509.Certificate{NotBefore: begins}); got.IsZero() || got.Before(begins) {
			t.Errorf("valid from %s: got %s", begins, got)
		}
	}
}
