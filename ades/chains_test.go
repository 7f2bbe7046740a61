package ades

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"math/big"
	"slices"
	"sync"
	"testing"
	"time"

	certtest "github.com/innsigli/innsigli/internal/test/cert"
)

// TestChains checks that a cache returns the chain that would be found without it: for other
// intermediates, other roots or another time it is another one, or there is none.
func TestChains(t *testing.T) {
	root := issue(t, "Root", nil, certified{})
	old := issue(t, "Issuing", nil, root)
	renewed := issue(t, "Issuing", old.key, root)
	leaf := issue(t, "Leaf", nil, old).Certificate
	roots, others := poolOf(root), poolOf(issue(t, "Root", nil, certified{}))
	s := Sources{Roots: roots, Chains: new(Chains)}
	now := time.Now()
	for _, row := range []struct {
		name          string
		roots         *x509.CertPool
		intermediates []*x509.Certificate
		at            time.Time
		want          *x509.Certificate // the issuer in the chain; nil: no chain
	}{
		{"old intermediate", roots, list(old), now, old.Certificate},
		{"renewed intermediate", roots, list(renewed), now, renewed.Certificate},
		{"both intermediates", roots, list(old, renewed), now, old.Certificate},
		{"no intermediate", roots, nil, now, nil},
		{"other roots", others, list(old), now, nil},
		{"expired", roots, list(old), now.AddDate(1, 0, 0), nil},
		{"not yet valid", roots, list(old), now.AddDate(-1, 0, 0), nil},
		{"zero time, which is now", roots, list(old), time.Time{}, old.Certificate},
	} {
		var before []*x509.Certificate
		for i := range 3 {
			chain, err := Sources{Roots: row.roots, Chains: s.Chains}.Chain(leaf, row.intermediates, row.at)
			if row.want == nil && err == nil || row.want != nil && !slices.ContainsFunc(chain, row.want.Equal) {
				t.Errorf("%s: got %d certificates, %v", row.name, len(chain), err)
			}
			if row.want != nil && i == 2 && &chain[0] != &before[0] {
				t.Errorf("%s: the chain was built again", row.name)
			}
			before = chain
		}
	}
	for _, pair := range [][2]*x509.Certificate{{leaf, old.Certificate}, {old.Certificate, root.Certificate}} {
		if _, ok := s.Chains.signed.get(signedKey{sha256.Sum256(pair[0].Raw), sha256.Sum256(pair[1].Raw)}); !ok {
			t.Errorf("the issuer of %s is not cached", pair[0].Subject)
		}
	}
	if err := s.CheckIssuer(leaf, root.Certificate); !errors.Is(err, ErrNoChain) {
		t.Errorf("another issuer: got %v, want %v", err, ErrNoChain)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			_, err := s.Chain(leaf, list(old), now)
			if err := errors.Join(err, s.CheckIssuer(leaf, old.Certificate)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// TestChainsOfOthers checks that a chain that was cached for one use of a certificate is not returned for another, for
// which another chain, or none, is found without a cache.
func TestChainsOfOthers(t *testing.T) {
	now := time.Now()
	early, late := now.AddDate(-1, 0, 0), now.AddDate(1, 0, 0)
	key := certtest.NewKey(t, elliptic.P256())
	from := func(name string, key *ecdsa.PrivateKey, parent *certtest.Pair, from, to time.Time) *certtest.Pair {
		return certtest.NewForKey(t, name, key, parent, certtest.Authority, certtest.Valid(from, to))
	}
	always := func(name string, parent *certtest.Pair) *certtest.Pair {
		return from(name, certtest.NewKey(t, elliptic.P256()), parent, early.AddDate(-1, 0, 0), late.AddDate(1, 0, 0))
	}
	root := always("Root", nil)
	ended, begun := from("Issuing", key, root, early, now.AddDate(0, 6, 0)), from("Issuing", key, root, now.AddDate(0, -6, 0), late)
	endedRoot, begunRoot := from("Other", key, nil, early, now.AddDate(0, 6, 0)), from("Other", key, nil, now.AddDate(0, -6, 0), late)
	crossed := from("Other", key, root, early, late)
	critical := certtest.New(t, "Critical", root, certtest.Extended(pkix.Extension{Id: asn1.ObjectIdentifier{2, 5, 29, 16}, Critical: true, Value: []byte{0x30, 0}})).Cert
	handled, err := x509.ParseCertificate(critical.Raw)
	if err != nil {
		t.Fatal(err)
	}
	handled.UnhandledCriticalExtensions = nil // as the package for timestamps does
	type use struct {
		cert          *x509.Certificate
		intermediates []*x509.Certificate
		at            time.Time
	}
	below := func(issuer *certtest.Pair) *x509.Certificate { return always("Leaf", issuer).Cert }
	leaf, leafOfOther := below(ended), below(endedRoot)
	siblings, cross := []*x509.Certificate{ended.Cert, begun.Cert}, []*x509.Certificate{crossed.Cert}
	first, last := now.AddDate(0, -9, 0), now.AddDate(0, 9, 0)
	for _, row := range []struct {
		name  string
		roots *x509.CertPool
		uses  []use
	}{
		{"a certificate was changed after parsing", certtest.Pool(root.Cert), []use{{critical, nil, now}, {handled, nil, now}}},
		{"two intermediates", certtest.Pool(root.Cert), []use{{leaf, siblings, first}, {leaf, siblings, now}, {leaf, siblings, last}}},
		{"two roots", certtest.Pool(endedRoot.Cert, begunRoot.Cert), []use{{leafOfOther, nil, first}, {leafOfOther, nil, now}, {leafOfOther, nil, last}}},
		{"a root and an intermediate", certtest.Pool(root.Cert, endedRoot.Cert), []use{{leafOfOther, cross, first}, {leafOfOther, cross, now}, {leafOfOther, cross, last}}},
		{"the certificate is a root", certtest.Pool(endedRoot.Cert), []use{{endedRoot.Cert, nil, first}, {endedRoot.Cert, cross, now}, {endedRoot.Cert, nil, last}}},
		{"the certificate and its issuer are roots", certtest.Pool(root.Cert, ended.Cert), []use{{ended.Cert, nil, first}, {leaf, siblings, now}, {ended.Cert, nil, last}}},
		{"zero time", certtest.Pool(root.Cert), []use{{leaf, siblings, time.Time{}}, {leaf, siblings, first}, {leaf, siblings, now}, {leaf, siblings, last}}},
	} {
		for _, one := range row.uses {
			for _, other := range row.uses {
				s := Sources{Roots: row.roots, Chains: new(Chains)}
				for _, u := range []use{one, other, other} {
					got, err := s.Chain(u.cert, u.intermediates, u.at)
					want, wantErr := Chain(u.cert, u.intermediates, row.roots, u.at)
					if !slices.EqualFunc(got, want, (*x509.Certificate).Equal) || (err == nil) != (wantErr == nil) {
						t.Errorf("%s, at %s after %s: got %d certificates, %v; want %d, %v", row.name, u.at, one.at, len(got), err, len(want), wantErr)
					}
				}
			}
		}
	}
}

// TestChainsLongKey checks that the issuer in a cached chain is refused as without a cache.
func TestChainsLongKey(t *testing.T) {
	root := issue(t, "Root", nil, certified{})
	leaf := issue(t, "Leaf", nil, root).Certificate
	long := *root.Certificate
	long.PublicKey = &rsa.PublicKey{N: new(big.Int).Lsh(big.NewInt(1), maxRSABits), E: 65537}
	s := Sources{Chains: new(Chains)}
	s.Chains.add(newChainKey(leaf, nil, nil, time.Now()), []*x509.Certificate{leaf, &long})
	if err := s.CheckIssuer(leaf, &long); !errors.Is(err, ErrAlgorithm) {
		t.Errorf("got %v, want %v", err, ErrAlgorithm)
	}
}

// TestCheckSigned checks that what was signed is hashed and verified only if that is of use.
func TestCheckSigned(t *testing.T) {
	signer := issue(t, "Signer", nil, certified{}).Certificate
	for _, row := range []struct {
		chains         *Chains
		hashed, checks int
	}{{nil, 0, 2}, {new(Chains), 2, 1}} {
		hashed, checks := 0, 0
		for range 2 {
			err := Sources{Chains: row.chains}.CheckSigned(func() (sum [sha256.Size]byte) { hashed++; return }, signer, func() error { checks++; return nil })
			if err != nil {
				t.Fatal(err)
			}
		}
		if hashed != row.hashed || checks != row.checks {
			t.Errorf("cache %t: hashed %d times, checked %d", row.chains != nil, hashed, checks)
		}
	}
}

// TestChainsKeepsNoDocument checks that the cache does not keep the document in memory whose bytes the
// certificates were parsed from, and that a chain of very long certificates is not cached.
func TestChainsKeepsNoDocument(t *testing.T) {
	root := issue(t, "Root", nil, certified{})
	s := Sources{Roots: poolOf(root), Chains: new(Chains)}
	for _, cert := range []*x509.Certificate{issue(t, "Leaf", nil, root).Certificate, root.Certificate} {
		inDocument := bytes.Repeat(cert.Raw, 100)
		cert, err := x509.ParseCertificate(inDocument[:len(cert.Raw)])
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := s.Chain(cert, nil, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		cached, ok := s.Chains.byKey.get(newChainKey(cert, nil, s.Roots, time.Now()))
		if isRoot := cert.Equal(root.Certificate); ok == isRoot || ok && &cached[0].Raw[0] == &inDocument[0] {
			t.Errorf("%s: cached: %t, with the bytes of the document", cert.Subject, ok)
		}
	}
	if long := cloneChain([]*x509.Certificate{{Raw: make([]byte, maxChainSize+1)}, root.Certificate}); long != nil {
		t.Error("a chain of very long certificates is cached")
	}
}

// TestRecent checks that a cache is bounded, and that what is used remains however much is added that is not.
func TestRecent(t *testing.T) {
	var r recent[int, int]
	r.add(0, 42)
	for i := 1; i < 20*maxGeneration; i++ {
		if i%(maxGeneration/2) == 0 {
			if v, ok := r.get(0); !ok || v != 42 {
				t.Fatalf("after %d others: got %d, %t", i, v, ok)
			}
		}
		r.add(i, i)
	}
	if n := len(r.younger) + len(r.older); n > 2*maxGeneration {
		t.Errorf("%d entries, want at most %d", n, 2*maxGeneration)
	}
	if _, ok := r.get(1); ok {
		t.Error("what was not used remains")
	}
	r.add(0, 43)
	if v, _ := r.get(0); v != 43 {
		t.Errorf("added again: got %d", v)
	}
}
