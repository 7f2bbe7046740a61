package ades

import (
	"crypto/x509"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"
)

// What is remembered is what would be found: over other certificates, to other roots or at
// another time the chain is another one, or there is none.
func TestChainsAreRemembered(t *testing.T) {
	root := certify(t, named("Root"), nil, certified{})
	old := certify(t, named("Issuing"), nil, root)
	renewed := certify(t, named("Issuing"), old.key, root)
	leaf := certify(t, named("Leaf"), nil, old).Certificate
	roots, others := x509.NewCertPool(), x509.NewCertPool()
	roots.AddCert(root.Certificate)
	others.AddCert(certify(t, named("Root"), nil, certified{}).Certificate)
	s := Sources{Roots: roots, Chains: new(Chains)}
	now := time.Now()
	for _, row := range []struct {
		name    string
		sources Sources
		over    []*x509.Certificate
		at      time.Time
		want    *x509.Certificate // that issued the leaf; nil: there is no chain
	}{
		{"over the old one", s, []*x509.Certificate{old.Certificate}, now, old.Certificate},
		{"over the new one", s, []*x509.Certificate{renewed.Certificate}, now, renewed.Certificate},
		{"over none", s, nil, now, nil},
		{"to other roots", Sources{Roots: others, Chains: s.Chains}, []*x509.Certificate{old.Certificate}, now, nil},
		{"when it has expired", s, []*x509.Certificate{old.Certificate}, now.AddDate(1, 0, 0), nil},
		{"before it was issued", s, []*x509.Certificate{old.Certificate}, now.AddDate(-1, 0, 0), nil},
	} {
		for range 2 {
			chain, err := row.sources.Chain(leaf, row.over, row.at)
			if row.want == nil && err == nil || row.want != nil && !slices.ContainsFunc(chain, row.want.Equal) {
				t.Errorf("%s: a chain of %d, %v", row.name, len(chain), err)
			}
		}
	}
	for _, pair := range [][2]*x509.Certificate{{leaf, old.Certificate}, {old.Certificate, root.Certificate}} {
		if !s.Chains.issued[newIssuerKey(pair[0], pair[1])] {
			t.Error("who issued a certificate is not remembered with its chain")
		}
	}
	if err := s.CheckIssuer(leaf, root.Certificate); !errors.Is(err, ErrNoChain) {
		t.Error(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := s.Chain(leaf, []*x509.Certificate{old.Certificate}, now); err != nil {
				t.Error(err)
			}
			if err := s.CheckIssuer(leaf, old.Certificate); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for i := range 2 * maxCachedChains {
		addToCache(&s.Chains.issued, issuerKey{{byte(i), byte(i >> 8)}}, true)
	}
	if n := len(s.Chains.issued); n > maxCachedChains {
		t.Errorf("%d are remembered", n)
	}
}
