package server

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	catest "github.com/innsigli/innsigli/internal/test/ca"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/sandbox"
)

// A sandbox user signs when asked who has action Success and no delay, for the user's own account
// (spec 6.4).
func TestTestPeople(t *testing.T) {
	s, db := newServer(t, filepath.Join(t.TempDir(), "store.db"), nil)
	people := sandboxUsers{db.Sandbox()}
	name, kennitala, phone := "Sandbox Signer", "010130-2989", "5550101"
	if _, err := s.accounts.EnsureAccount(t.Context(), sandboxAccount, "Sandbox", true); err != nil {
		t.Fatal(err)
	}
	u, err := s.people.users.Create(t.Context(), sandboxAccount, sandbox.Profile{FullName: &name, Kennitala: &kennitala, Phone: &phone})
	if err != nil {
		t.Fatal(err)
	}
	want := idp.Person{Account: sandboxAccount, Method: idp.App, Kennitala: "0101302989", Phone: "5550101"}
	success, cancel, none, second := sandbox.Success, sandbox.Cancel, time.Duration(0), time.Second
	for _, test := range []struct {
		action *sandbox.Action
		delay  *time.Duration
		ready  bool
	}{{&success, &none, true}, {&cancel, &none, false}, {&success, &second, false}, {&cancel, &second, false}} {
		if err := s.people.users.Update(t.Context(), sandboxAccount, u.ID, sandbox.Profile{Action: test.action, Delay: test.delay}); err != nil {
			t.Fatal(err)
		}
		got, ready, err := people.SandboxUser(t.Context(), sandboxAccount, u.ID)
		if diff := cmp.Diff(want, got); diff != "" || ready != test.ready || err != nil {
			t.Errorf("%s after %v: ready %t, %v\n%s", *test.action, *test.delay, ready, err, diff)
		}
	}
	for owner, id := range map[string]string{sandboxAccount: "unknown", "another account": u.ID} {
		if _, ready, err := people.SandboxUser(t.Context(), owner, id); !errors.Is(err, portal.ErrNotFound) || ready {
			t.Errorf("%s of %s: %t, %v", id, owner, ready, err)
		}
	}
}

// A method whose answer is a CMS does not come to the level of processes.
func TestMethodsOfProcesses(t *testing.T) {
	for answer, want := range map[bool]int{false: 2, true: 1} {
		if got := signingMethods(cmsBySIM(answer)); len(got) != want || got[0] != idp.App {
			t.Errorf("CMS %v: %v", answer, got)
		}
	}
}

// cmsBySIM is a provider that says of the SIM whether its answer is a CMS.
type cmsProvider struct {
	idp.Provider
	bySIM bool
}

func cmsBySIM(yes bool) idp.Provider { return cmsProvider{bySIM: yes} }

func (p cmsProvider) Traits(m idp.Method) idp.Traits {
	return idp.Traits{CMS: p.bySIM && m == idp.SIM}
}

// Without a configuration a server has the sources of its own authority and no others; with one, those that
// are configured beside its own. Two authorities of the same names are told apart.
func TestSourcesOfASandbox(t *testing.T) {
	s, _ := newServer(t, filepath.Join(t.TempDir(), "store.db"), nil)
	own, other := s.people.authority, catest.New(t)
	issuing, err := own.Issue("Sandbox Signer", "0101302989", testKey(t).Public())
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(own.RootPEM())
	ownRoot, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	configured := func() ades.Sources {
		return ades.Sources{Roots: other.Roots(), Revocation: &told{err: ades.ErrNoRevocation}, Issuers: ades.NewPool(other.Chain()...)}
	}
	for name, test := range map[string]struct {
		sources func() ades.Sources
		other   bool // is trusted, and its issuers are found
	}{"its own alone": {s.people.sources(nil), false}, "with others": {s.people.sources(configured), true}} {
		sources := test.sources()
		for _, one := range []struct {
			what  string
			chain []*x509.Certificate // an issuer, and those above it
			root  *x509.Certificate
			known bool
		}{{"its own", issuing[1:], ownRoot, true}, {"another", other.Chain(), other.Root(), test.other}} {
			found, err := sources.Issuers.Issuers(t.Context(), one.chain[0])
			if err != nil {
				t.Fatal(err)
			}
			_, err = ades.Chain(one.chain[0], nil, sources.Roots, time.Now())
			issuer := slices.ContainsFunc(found, one.root.Equal) // of whom the other has the name
			if issuer != one.known || (err == nil) != one.known {
				t.Errorf("%s, %s: issuer found %t, %v", name, one.what, issuer, err)
			}
		}
		if token, err := sources.Time.Timestamp(t.Context(), crypto.SHA256, make([]byte, 32)); err != nil || len(token) == 0 {
			t.Errorf("%s: its own timestamp: %v", name, err)
		}
	}
}

func testKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// told is a source of revocation that says the same to all, and counts.
type told struct {
	proof ades.RevocationData
	err   error
	times int
}

func (a *told) Revocation(context.Context, *x509.Certificate, *x509.Certificate, time.Time) (ades.RevocationData, error) {
	a.times++
	return a.proof, a.err
}

// The first that knows has the say, whichever it is; a revoked certificate is known too.
func TestRevocationInOrder(t *testing.T) {
	unknown := func() *told { return &told{err: fmt.Errorf("%w: never heard of", ades.ErrNoRevocation)} }
	good := func(proof string) *told { return &told{proof: ades.RevocationData{OCSP: []byte(proof)}} }
	revoked := &told{proof: ades.RevocationData{OCSP: []byte("revoked")}, err: &ades.RevokedError{Certificate: new(x509.Certificate)}}
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
