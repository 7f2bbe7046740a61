package idptest_test

import (
	"cmp"
	"context"
	"crypto"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/idptest"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
)

// seals is a provider for the seals of organisations. It finds the key of a seal, for example in a hardware module,
// by the organisation's number, and asks no person: a caller that may start a conversation has approved. It has a
// code, which identifies the request in the module's log.
type seals struct {
	keys   map[string]crypto.Signer
	chains map[string][]*x509.Certificate // the seal's own certificate first
}

var _ idp.Provider = (*seals)(nil)

// sealing is the content of a State.
type sealing struct {
	Number  string        `json:"number"`
	Code    string        `json:"code"`
	Digests []ades.Digest `json:"digests,omitempty"` // once there are some to sign
}

const sealingTime = 5 * time.Minute

func (p *seals) Traits(idp.Method) idp.Traits { return idp.Traits{} }

func (p *seals) Begin(ctx context.Context, key string, person idp.Person, _ idp.Text, _ *x509.Certificate) (idp.State, idp.Event, error) {
	if person.Method != idp.App {
		return idp.State{}, nil, fmt.Errorf("seals: no seal is reached by %q", person.Method)
	}
	code, _ := rand.Int(rand.Reader, big.NewInt(10_000)) // never fails
	s := sealing{Number: idp.NormalizeKennitala(person.Kennitala), Code: fmt.Sprintf("%04d", code)}
	if p.keys[s.Number] == nil {
		return idp.State{}, idp.Failed{Failure: idp.Failure{Code: idp.UserNotFound, OAuth: "access_denied", Description: "no such seal"}}, ctx.Err()
	}
	state := idp.State{Provider: "seals", Version: 1, Key: key, Expires: time.Now().Add(sealingTime)}
	return p.write(ctx, state, s, p.needDigest(s))
}

func (p *seals) Sign(ctx context.Context, state idp.State, digests []ades.Digest) (idp.State, idp.Event, error) {
	s, err := p.read(state)
	if err == nil && len(digests) == 0 {
		err = errors.New("seals: there is no digest to sign")
	}
	if err != nil {
		return state, nil, err
	}
	s.Digests = digests
	return p.write(ctx, state, s, idp.Waiting{Code: s.Code}) // the next Poll signs, after this was stored
}

func (p *seals) Poll(ctx context.Context, state idp.State) (idp.State, idp.Event, error) {
	s, err := p.read(state)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return state, nil, err
	}
	switch {
	case !time.Now().Before(state.Expires):
		return state, idp.Failed{Failure: idp.Failure{Code: idp.ExpiredToken, OAuth: "expired_token"}}, nil
	case len(s.Digests) == 0:
		return state, p.needDigest(s), nil
	}
	var values [][]byte
	for _, d := range s.Digests {
		if err := d.Algorithm.Check(p.keys[s.Number].Public()); err != nil {
			return state, nil, fmt.Errorf("seals: %w", err)
		}
		value, err := p.keys[s.Number].Sign(rand.Reader, d.Sum, d.Algorithm.SignerOpts())
		if err != nil {
			return state, nil, fmt.Errorf("seals: signing: %w", err)
		}
		values = append(values, value)
	}
	return state, idp.Signed{Values: values}, nil
}

func (p *seals) needDigest(s sealing) idp.Event {
	chain := p.chains[s.Number]
	return idp.NeedDigest{Certificate: chain[0], Chain: chain[1:], Code: s.Code}
}

// write encodes the conversation into its State.
func (p *seals) write(ctx context.Context, state idp.State, s sealing, e idp.Event) (idp.State, idp.Event, error) {
	public, err := json.Marshal(s)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return state, nil, err
	}
	state.Public = public
	return state, e, nil
}

// read decodes a State. It refuses States of other providers and other versions.
func (p *seals) read(state idp.State) (s sealing, err error) {
	if state.Provider != "seals" || state.Version != 1 {
		return s, fmt.Errorf("seals: a state of %q, version %d", state.Provider, state.Version)
	}
	if err := json.Unmarshal(state.Public, &s); err != nil {
		return s, fmt.Errorf("seals: reading the state: %w", err)
	}
	if p.keys[s.Number] == nil {
		return s, errors.New("seals: the seal of the state is gone")
	}
	return s, nil
}

// TestSeals runs the suite.
func TestSeals(t *testing.T) {
	idptest.RunInBubble(t, func(t testing.TB) idptest.Backend {
		p := &seals{keys: map[string]crypto.Signer{}, chains: map[string][]*x509.Certificate{}}
		people := 0
		return idptest.Backend{
			Provider: p,
			Methods:  []idp.Method{idp.App},
			Person: func(t testing.TB, m idp.Method, n idptest.Need) idp.Person {
				people++
				person := idp.Person{Method: m, Kennitala: fmt.Sprintf("%010d", people)}
				if n != idptest.Unknown {
					p.issue(t, person.Kennitala)
				}
				return person
			},
			Reopen: func(testing.TB) idp.Provider { return &seals{p.keys, p.chains} },
			Lacks: map[idptest.Need]string{
				idptest.Late:    "no person is asked",
				idptest.Refuses: "no person is asked",
				idptest.Silent:  "no person is asked",
				idptest.Breaks:  "there is no way to it that could be faulty",
				idptest.Renews:  "a seal has one certificate for good",
				idptest.Keeps:   "nothing was ever stored",
			},
		}
	})
}

// issue creates a key and a certificate for an organisation.
func (p *seals) issue(t testing.TB, number string) {
	key := certtest.NewKey(t, elliptic.P256())
	template := x509.Certificate{KeyUsage: x509.KeyUsageContentCommitment}
	template.Subject.CommonName, template.Subject.SerialNumber = "Example Ltd.", number
	p.keys[number], p.chains[number] = key, []*x509.Certificate{certtest.Issue(t, template, key, nil, nil)}
}

// TestSealsReadStates checks that malformed States are errors.
func TestSealsReadStates(t *testing.T) {
	p := &seals{}
	for _, public := range []string{"", "{}", "null", `{"number":"1"}`, strings.Repeat("[", 1000)} {
		if _, _, err := p.Poll(t.Context(), idp.State{Provider: "seals", Version: 1, Public: []byte(public)}); err == nil {
			t.Errorf("%q passes", public)
		}
	}
}
