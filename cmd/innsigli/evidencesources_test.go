package main

import (
	"context"
	"crypto"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/tsp"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// Without a configuration a server has its own sources and no others; with one, those that
// are configured beside its own. Two authorities of the same names are told apart.
func TestConfiguredSources(t *testing.T) {
	own, other := newAuthority(t), newAuthority(t)
	e := &evidence{own: func() ades.Sources { return own.Sources(nil) }}
	knows := func(ca *sandboxca.Authority) (issuer, root bool) {
		t.Helper()
		issuing := ca.Chain()[0]
		s := e.sources()
		found, err := s.Issuers.Issuers(t.Context(), issuing)
		if err != nil {
			t.Fatal(err)
		}
		_, err = ades.Chain(issuing, nil, s.Roots, time.Now())
		return slices.ContainsFunc(found, ca.Root().Equal), err == nil
	}
	check := func(when string, ca *sandboxca.Authority, want bool) {
		t.Helper()
		if issuer, root := knows(ca); issuer != want || root != want {
			t.Errorf("%s: issuer found %t, root trusted %t, want %t", when, issuer, root, want)
		}
	}
	check("its own, without a configuration", own, true)
	check("another, without a configuration", other, false)
	e.take(configuration{roots: []*x509.Certificate{other.Root()}, intermediates: other.Chain()})
	check("its own, with a configuration", own, true)
	check("another, with a configuration", other, true)

	s := e.sources()
	for _, test := range []struct {
		name string
		ca   *sandboxca.Authority
		want error
	}{
		{"its own", own, nil},
		{"another, which has no address", other, ades.ErrNoRevocation},
	} {
		_, err := s.Revocation.Revocation(t.Context(), test.ca.Chain()[0], test.ca.Root(), time.Time{})
		if !errors.Is(err, test.want) {
			t.Errorf("revocation of %s: %v, want %v", test.name, err, test.want)
		}
	}
	if token, err := s.Time.Timestamp(t.Context(), crypto.SHA256, make([]byte, 32)); err != nil || len(token) == 0 {
		t.Errorf("its own timestamp: %v", err)
	}
}

// A token that leads to no root is passed over for that of the next authority, so that a
// signature does not get one that nobody relies upon. The server's own root is trusted too.
func TestUntrustedAuthorityIsPassedOver(t *testing.T) {
	own, trusted, other := newAuthority(t), newAuthority(t), newAuthority(t)
	folder := t.TempDir()
	path := filepath.Join(folder, "innsigli.toml")
	for name, content := range map[string][]byte{"root.pem": trusted.RootPEM(), "other.pem": other.RootPEM()} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	address := make(map[*sandboxca.Authority]string)
	for _, ca := range []*sandboxca.Authority{own, trusted, other} {
		address[ca] = catest.Serve(t, ca) + sandboxca.PathTimestamp
	}
	e := &evidence{own: func() ades.Sources { return own.Sources(nil) }}
	for _, test := range []struct {
		name  string
		roots string // of trust.roots
		asked []*sandboxca.Authority
		by    *sandboxca.Authority // nil: no token
	}{
		{"the second is trusted", "root.pem", []*sandboxca.Authority{other, trusted}, trusted},
		{"none is trusted", "root.pem", []*sandboxca.Authority{other}, nil},
		{"the server's own is trusted", "root.pem", []*sandboxca.Authority{other, own}, own},
		{"others are trusted by now", "other.pem", []*sandboxca.Authority{trusted, other}, other},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := fmt.Sprintf("[trust]\nroots = [%q]\n", test.roots)
			for _, ca := range test.asked {
				text += fmt.Sprintf("[[timestamp]]\nurl = %q\n", address[ca])
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			c, found := readConfiguration(path)
			if err := found.err(); err != nil {
				t.Fatal(err)
			}
			e.take(c)
			der, err := e.sources().Time.Timestamp(t.Context(), crypto.SHA256, make([]byte, 32))
			if test.by == nil {
				if !errors.Is(err, ades.ErrTimestamp) || !errors.Is(err, ades.ErrNoChain) {
					t.Errorf("%d bytes, %v", len(der), err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			token, err := tsp.ParseToken(der)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := ades.Chain(token.Certificate, token.Certificates, test.by.Roots(), token.Time); err != nil {
				t.Errorf("the token is by another authority: %v", err)
			}
		})
	}
}

func newAuthority(t *testing.T) *sandboxca.Authority {
	t.Helper()
	ca, err := sandboxca.New(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return ca
}

// told is a source of revocation that says the same to all, and counts.
type told struct {
	proof ades.Proof
	err   error
	times int
}

func (a *told) Revocation(context.Context, *x509.Certificate, *x509.Certificate, time.Time) (ades.Proof, error) {
	a.times++
	return a.proof, a.err
}

// The first that knows has the say, whichever it is; a revoked certificate is known too.
func TestRevocationInOrder(t *testing.T) {
	unknown := func() *told { return &told{err: fmt.Errorf("%w: never heard of", ades.ErrNoRevocation)} }
	good := func(proof string) *told { return &told{proof: ades.Proof{OCSP: []byte(proof)}} }
	revoked := &told{proof: ades.Proof{OCSP: []byte("revoked")}, err: &ades.RevokedError{Certificate: new(x509.Certificate)}}
	for _, test := range []struct {
		name          string
		first, second *told
		proof         string
		err           error
		asked         int // the second
	}{
		{"the first knows", good("one"), good("two"), "one", nil, 0},
		{"the first knows of a revocation", revoked, good("two"), "revoked", ades.ErrRevoked, 0},
		{"the second knows", unknown(), good("two"), "two", nil, 1},
		{"the second knows of a revocation", unknown(), revoked, "revoked", ades.ErrRevoked, 1},
		{"none knows", unknown(), unknown(), "", ades.ErrNoRevocation, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.second.times = 0
			proof, err := revocationInOrder{test.first, test.second}.Revocation(t.Context(), nil, nil, time.Time{})
			if string(proof.OCSP) != test.proof || !errors.Is(err, test.err) || test.second.times != test.asked {
				t.Errorf("proof %q, %v, the second asked %d times", proof.OCSP, err, test.second.times)
			}
		})
	}
}
