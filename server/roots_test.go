package server

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/simulated"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
	"github.com/innsigli/innsigli/signing"
)

// A root that Config.Sources has no more is trusted no more, from the next request on.
func TestRootRemoved(t *testing.T) {
	authority, err := sandboxca.NewP256(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	provider := simulatedBy(t, authority)
	trusted := authority.Sources(nil)
	sources := trusted
	s, _ := newServer(t, filepath.Join(t.TempDir(), "store.db"), func(c *Config) {
		c.Environment, c.BaseURL, c.Provider = Production, "https://sign.example", provider
		c.Sources = func() ades.Sources { return sources }
	})
	owner, err := s.accounts.CreateAccount(t.Context(), "Example Ltd.")
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range []struct {
		roots *x509.CertPool
		want  idp.ErrorCode // empty: signed
	}{{trusted.Roots, ""}, {trusted.Roots, ""}, {nil, idp.CertificateValidationError}, {trusted.Roots, ""}} {
		sources.Roots = step.roots
		if failure := signOnce(t, s, owner.ID); failure.Code != step.want {
			t.Errorf("step %d: %+v, want %q", i, failure, step.want)
		}
	}
}

// simulatedBy returns a provider whose people have certificates of an authority.
func simulatedBy(t testing.TB, authority *sandboxca.Authority) idp.Provider {
	t.Helper()
	provider, err := simulated.New(simulated.Options{Issue: func(name, kennitala string, public crypto.PublicKey) ([]*x509.Certificate, error) {
		certificate, err := authority.Issue(name, kennitala, public, time.Now())
		return append([]*x509.Certificate{certificate}, authority.Chain()...), err
	}})
	if err != nil {
		t.Fatal(err)
	}
	return provider
}

// signOnce has the sample signed at level LT, and returns why it was not.
func signOnce(t testing.TB, s *Server, account string) (failure idp.Failure) {
	t.Helper()
	sample, err := os.ReadFile("../cmd/innsigli/sample.pdf")
	if err != nil {
		t.Fatal(err)
	}
	document, err := s.signing.Upload(t.Context(), bytes.NewReader(sample), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	started, err := s.signing.Start(t.Context(), signing.Start{
		Account: account, Document: document, Name: "sample.pdf", Level: ades.LT, Person: idp.Person{Account: account, Method: idp.App, Kennitala: "0101302989"},
	})
	if err != nil {
		t.Fatal(err)
	}
	testenv.Wait(t, "the signature", func() (ended bool) {
		if err := s.signing.Poll(t.Context(), account, started.ID, func(a signing.Answer) error {
			failure, ended = a.Failure, a.Document != nil || !a.Failure.Code.Pending()
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return ended
	})
	return failure
}
