package ades

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"
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
		{"no intermediate", roots, nil, now, nil},
		{"other roots", others, list(old), now, nil},
		{"expired", roots, list(old), now.AddDate(1, 0, 0), nil},
		{"not yet valid", roots, list(old), now.AddDate(-1, 0, 0), nil},
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

// TestChainsKeepsNoDocument checks that a cached chain does not keep the document in memory whose bytes its
// certificates were parsed from, and that a chain of very long certificates is not cached.
func TestChainsKeepsNoDocument(t *testing.T) {
	root := issue(t, "Root", nil, certified{})
	leaf := issue(t, "Leaf", nil, root).Certificate
	inDocument := bytes.Repeat(leaf.Raw, 100)
	leaf, err := x509.ParseCertificate(inDocument[:len(leaf.Raw)])
	if err != nil {
		t.Fatal(err)
	}
	s := Sources{Roots: poolOf(root), Chains: new(Chains)}
	for range 2 {
		if _, err := s.Chain(leaf, nil, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	cached, ok := s.Chains.byKey.get(newChainKey(leaf, nil, s.Roots))
	if !ok || &cached[0].Raw[0] == &inDocument[0] {
		t.Errorf("cached: %t, with the bytes of the document", ok)
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
