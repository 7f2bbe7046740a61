package simulated_test

import (
	"crypto"
	"crypto/x509"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/simulated"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// Roots and keys follow from the seed, certificates do not.
func TestSeed(t *testing.T) {
	person := idp.Person{Method: idp.SIM, Kennitala: "1203894569"}
	first, same, other := open(t, simulated.Options{Seed: seed}), open(t, simulated.Options{Seed: seed}), open(t, simulated.Options{})
	if !first.Root().Equal(same.Root()) || first.Root().Equal(other.Root()) {
		t.Error("the root is the seed's")
	}
	state, event, err := first.Begin(t.Context(), "key", person, idp.Text{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	certificate := event.(idp.NeedDigest).Certificate
	if state, _, err = same.Sign(t.Context(), state, []ades.Digest{digest}); err != nil {
		t.Fatal(err)
	}
	if _, event, err := other.Poll(t.Context(), state); err == nil {
		t.Errorf("a Provider with another seed answers %T", event)
	}
	_, event, err = same.Poll(t.Context(), state)
	if err != nil {
		t.Fatal(err)
	}
	if err := digest.Algorithm.Verify(certificate.PublicKey, digest.Sum, event.(idp.Signed).Values[0]); err != nil {
		t.Error(err)
	}
	if _, err := simulated.New(simulated.Options{Seed: seed[:15]}); err == nil {
		t.Error("a seed that can be guessed is taken")
	}
}

func TestCertificates(t *testing.T) {
	ca, err := sandboxca.New(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	issue := func(name, kennitala string, public crypto.PublicKey) ([]*x509.Certificate, error) {
		own, err := ca.Issue(name, kennitala, public, time.Now())
		return append([]*x509.Certificate{own}, ca.Chain()...), err
	}
	name := func(kennitala string) string { return "Jón " + kennitala }
	for _, test := range []struct {
		name    string
		options simulated.Options
		root    *x509.Certificate // nil: the Provider's own
		want    string
	}{
		{"its own", simulated.Options{}, nil, "Simulated Signer"},
		{"its own, with names", simulated.Options{Name: name}, nil, "Jón 1203894569"},
		{"another authority's", simulated.Options{Issue: issue, Name: name}, ca.Root(), "Jón 1203894569"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := open(t, test.options)
			root := test.root
			if root == nil {
				root = p.Root()
			} else if p.Root() != nil {
				t.Error("a Provider that does not certify has a root")
			}
			_, event, err := p.Begin(t.Context(), "key", idp.Person{Method: idp.SIM, Kennitala: "120389-4569"}, idp.Text{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			need, roots := event.(idp.NeedDigest), x509.NewCertPool()
			roots.AddCert(root)
			if _, err := ades.Chain(need.Certificate, need.Chain, roots, time.Now()); err != nil {
				t.Error(err)
			}
			got := []string{need.Certificate.Subject.CommonName, idp.Kennitala(need.Certificate)}
			if diff := cmp.Diff([]string{test.want, "1203894569"}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// An authority that fails, or certifies something else, begins nothing.
func TestIssueThatFails(t *testing.T) {
	other := open(t, simulated.Options{}).Root()
	broken := errors.New("no more paper")
	for name, issue := range map[string]func(string, string, crypto.PublicKey) ([]*x509.Certificate, error){
		"an error": func(string, string, crypto.PublicKey) ([]*x509.Certificate, error) { return nil, broken },
		"nothing":  func(string, string, crypto.PublicKey) ([]*x509.Certificate, error) { return nil, nil },
		"nil": func(string, string, crypto.PublicKey) ([]*x509.Certificate, error) {
			return []*x509.Certificate{nil}, nil
		},
		"another key": func(string, string, crypto.PublicKey) ([]*x509.Certificate, error) {
			return []*x509.Certificate{other}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := open(t, simulated.Options{Issue: issue})
			state, event, err := p.Begin(t.Context(), "key", idp.Person{Method: idp.App, Kennitala: "1203894569"}, idp.Text{}, nil)
			if err == nil || event != nil || state.Provider != "" {
				t.Errorf("Begin: %+v, %v, %v", state, event, err)
			}
		})
	}
}
