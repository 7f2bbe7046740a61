package config

import (
	"crypto"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/tsp"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// A token that leads to no root is passed over for that of the next authority, so that a
// signature does not get a timestamp that no validator trusts.
func TestUntrustedAuthorityIsPassedOver(t *testing.T) {
	trusted, other := catest.New(t), catest.New(t)
	folder := t.TempDir()
	path := filepath.Join(folder, "innsigli.toml")
	for name, content := range map[string][]byte{"root.pem": trusted.RootPEM(), "other.pem": other.RootPEM()} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	address := make(map[*sandboxca.Authority]string)
	for _, ca := range []*sandboxca.Authority{trusted, other} {
		address[ca] = catest.Serve(t, ca) + sandboxca.PathTimestamp
	}
	e := new(liveSources)
	for _, test := range []struct {
		name  string
		roots string // of trust.roots
		stamp string // of trust.timestamp-roots
		asked []*sandboxca.Authority
		by    *sandboxca.Authority // nil: no token
	}{
		{"the second is trusted", "root.pem", "", []*sandboxca.Authority{other, trusted}, trusted},
		{"none is trusted", "root.pem", "", []*sandboxca.Authority{other}, nil},
		{"others are trusted by now", "other.pem", "", []*sandboxca.Authority{trusted, other}, other},
		{"others are trusted for timestamps alone", "root.pem", "other.pem", []*sandboxca.Authority{trusted, other}, other},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := fmt.Sprintf("[trust]\nroots = [%q]\n", test.roots)
			if test.stamp != "" {
				text += fmt.Sprintf("timestamp-roots = [%q]\n", test.stamp)
			}
			for _, ca := range test.asked {
				text += fmt.Sprintf("[[timestamp]]\nurl = %q\n", address[ca])
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			c, found := ReadFile(path)
			if err := found.Err(); err != nil {
				t.Fatal(err)
			}
			e.take(c)
			der, err := e.Sources().Time.Timestamp(t.Context(), crypto.SHA256, make([]byte, 32))
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
