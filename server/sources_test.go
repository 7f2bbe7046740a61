package server

import (
	"crypto/x509"
	"path/filepath"
	"testing"

	"github.com/innsigli/innsigli/ades"
	catest "github.com/innsigli/innsigli/internal/test/ca"
)

// The sources of all signatures have one cache of chains, and the pools by which it finds them, until the configuration
// has other pools. What the configuration has of its own stays.
func TestChainsAreKept(t *testing.T) {
	s, _ := newServer(t, filepath.Join(t.TempDir(), "store.db"), nil)
	other := catest.New(t)
	configured := ades.Sources{Roots: other.Roots(), TimestampRoots: other.Roots()}
	of := func() ades.Sources { return configured }
	for name, sources := range map[string]func() ades.Sources{
		"production":                       people{}.sources(of),
		"production without configuration": people{}.sources(nil),
		"sandbox":                          s.people.sources(nil),
		"sandbox with configuration":       s.people.sources(of),
	} {
		first, second := sources(), sources()
		if first.Chains == nil || first.Chains != second.Chains || first.Roots != second.Roots || first.TimestampRoots != second.TimestampRoots {
			t.Errorf("%s: chains are not found again", name)
		}
		before := configured
		configured.Roots, configured.TimestampRoots = x509.NewCertPool(), x509.NewCertPool()
		third := sources()
		if changed := third.Roots != second.Roots && third.TimestampRoots != second.TimestampRoots; changed != (second.TimestampRoots != nil) {
			t.Errorf("%s: after a change of the roots the pools changed: %t", name, changed)
		}
		configured.Chains = new(ades.Chains)
		if own := sources().Chains == configured.Chains; own != (second.TimestampRoots != nil) {
			t.Errorf("%s: the configured cache is used: %t", name, own)
		}
		configured = before
	}
}
