// Package simulated simulates an identity provider and the phones of its users, for trials and for tests of
// programs that request signatures. It needs no network and stores nothing.
//
// Every kennitala of ten digits belongs to a made-up person with an electronic ID, who approves each request after
// [Options].Delay. The last three digits, of the kennitala with [idp.App] and of the phone number with [idp.SIM],
// select a failure instead if they are one of the codes below. The codes are the status codes of ETSI TS 102 204,
// which Auðkenni writes as "mssp_401". Only 504 differs: there it means that a transaction is still open, here that
// the person never answers. No real kennitala ends in such a code, since its last digit is 9 or 0.
//
//	105  UserNotFound         at once
//	406  RequestInProgress    at once
//	422  CertificateNotFound  at once
//	208  TimeoutNoAnswer      when the person would answer
//	401  UserCancelled        when the person would answer
//	402  PinBlocked           when the person would answer
//	403  CardBlocked          when the person would answer
//	404  KeyNotFound          when the person would answer
//	501  CertificateIsRevoked when the person would answer
//	504  ExpiredToken         when the conversation expires: the person never answers
//
// The signatures are valid (ECDSA on P-256). The certificates are issued by an authority that only trials should trust.
//
// [Login] simulates logins of the same people. A phone number belongs to the person with the kennitala [KennitalaOf].
package simulated

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
)

// Expiry is the lifetime of a conversation.
const Expiry = 10 * time.Minute

// Options configure a Provider. The zero value is usable.
type Options struct {
	// Issue issues a person's certificate. It returns the chain, which begins with the certificate for the key. nil:
	// the Provider has an authority of its own; see [Provider.Root].
	Issue func(name, kennitala string, public crypto.PublicKey) ([]*x509.Certificate, error)
	// Seed is the secret from which keys are derived, of at least 16 bytes. With the same seed a conversation can
	// continue after a restart and on another server. nil: random.
	Seed []byte
	// Delay is the time that people take to answer each request.
	Delay time.Duration
	// Name returns the name of the person with a kennitala. nil: all people have the same name.
	Name func(kennitala string) string
}

// Provider is an [idp.Provider]. It is safe for concurrent use.
type Provider struct {
	options Options
	root    *x509.Certificate // nil with Options.Issue
}

var _ idp.Provider = (*Provider)(nil)

// New returns a Provider.
func New(o Options) (*Provider, error) {
	switch {
	case o.Seed == nil:
		o.Seed = make([]byte, 32)
		rand.Read(o.Seed) // never fails
	case len(o.Seed) < 16:
		return nil, fmt.Errorf("simulated: the seed has %d bytes and needs at least 16", len(o.Seed))
	}
	if o.Name == nil {
		o.Name = defaultName
	}
	p := &Provider{options: o}
	if o.Issue == nil {
		if err := p.createRoot(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Traits implements [idp.Provider].
func (p *Provider) Traits(idp.Method) idp.Traits { return idp.Traits{} }

// Begin implements [idp.Provider]. With the SIM the certificate is known immediately, with the app after the person has
// chosen it.
func (p *Provider) Begin(ctx context.Context, key string, person idp.Person, _ idp.Text, _ *x509.Certificate) (idp.State, idp.Event, error) {
	if err := ctx.Err(); err != nil {
		return idp.State{}, nil, err
	}
	if person.Method != idp.App && person.Method != idp.SIM {
		return idp.State{}, nil, fmt.Errorf("simulated: unknown method %q", person.Method)
	}
	status, b := behaviourOf(person)
	if b != nil && b.when == immediately {
		return idp.State{}, b.failed(), nil
	}
	now := time.Now().UTC()
	c := conversation{Kennitala: idp.NormalizeKennitala(person.Kennitala), Method: person.Method, Status: status, Answers: now.Add(p.options.Delay)}
	if err := p.certify(&c); err != nil {
		return idp.State{}, nil, err
	}
	event := c.waiting(now)
	if c.Method == idp.SIM {
		c.Code = drawCode()
		event = c.needDigest()
	}
	return c.encode(idp.State{Provider: providerName, Version: stateVersion, Key: key, Expires: now.Add(Expiry)}, event)
}

// Sign implements [idp.Provider].
func (p *Provider) Sign(ctx context.Context, state idp.State, digests []ades.Digest) (idp.State, idp.Event, error) {
	c, err := decode(state)
	if err = errors.Join(ctx.Err(), err); err != nil {
		return state, nil, err
	}
	if err := c.check(digests); err != nil {
		return state, nil, err
	}
	now := time.Now().UTC()
	c.Digests, c.Answers = digests, now.Add(p.options.Delay)
	if c.Method == idp.App {
		c.Code = drawCode()
	}
	return c.encode(state, c.waiting(now))
}

// Poll implements [idp.Provider].
func (p *Provider) Poll(ctx context.Context, state idp.State) (idp.State, idp.Event, error) {
	c, err := decode(state)
	if err = errors.Join(ctx.Err(), err); err != nil {
		return state, nil, err
	}
	if event := c.next(time.Now(), state.Expires); event != nil {
		return state, event, nil
	}
	values, err := p.sign(c)
	if err != nil {
		return state, nil, err
	}
	return state, idp.Signed{Values: values}, nil
}
