// Package simulated plays the identity provider and the phones of its people, for trials and
// for tests of programs that ask for signatures. It needs no network and stores nothing.
//
// People are made up on demand: every kennitala of ten digits has somebody with an electronic
// ID, who approves what is asked after [Options].Delay. The last three digits, of the
// kennitala with [idp.App] and of the phone number with [idp.SIM], say otherwise: they choose
// a failure. They are the status codes of ETSI TS 102 204, which the provider of Iceland
// names "mssp_401", but for 504: that is a transaction still open there, and here somebody who
// never answers. No kennitala in use ends in one, as its last digit is 9 or 0.
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
// The signatures are real ones (ECDSA on P-256), by certificates of an authority that only
// trials should trust.
//
// [Login] has the same people log in. With a phone number alone it is [KennitalaOf] who answers.
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

// Expiry is how long a conversation lives.
const Expiry = 10 * time.Minute

// Options are the choices of a Provider. The zero value is of use.
type Options struct {
	// Issue certifies a person: the certificate for the key first, then those above it. nil
	// leaves it to an authority of the Provider's own; see [Provider.Root].
	Issue func(name, kennitala string, public crypto.PublicKey) ([]*x509.Certificate, error)
	// Seed is the secret that keys are derived from. With the same one, of 16 bytes at least, a
	// conversation goes on after a restart and on another server. nil draws one.
	Seed []byte
	// Delay is how long people take to answer each time they are asked.
	Delay time.Duration
	// Name is what the person with a kennitala is called. nil: everybody has the same name.
	Name func(kennitala string) string
}

// Provider is an [idp.Provider]. It may be used by several goroutines.
type Provider struct {
	options Options
	root    *x509.Certificate // nil: Options.Issue
}

var _ idp.Provider = (*Provider)(nil)

// New makes a Provider.
func New(o Options) (*Provider, error) {
	switch {
	case o.Seed == nil:
		o.Seed = make([]byte, 32)
		rand.Read(o.Seed) // never fails
	case len(o.Seed) < 16:
		return nil, fmt.Errorf("simulated: a seed of %d bytes, which is less than 16", len(o.Seed))
	}
	if o.Name == nil {
		o.Name = sameName
	}
	p := &Provider{options: o}
	if o.Issue == nil {
		if err := p.certifyItself(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Traits implements [idp.Provider].
func (p *Provider) Traits(idp.Method) idp.Traits { return idp.Traits{} }

// Begin implements [idp.Provider]. The certificate of the app comes when the person has chosen
// it, that of the SIM at once.
func (p *Provider) Begin(ctx context.Context, key string, person idp.Person, _ idp.Text, _ *x509.Certificate) (idp.State, idp.Event, error) {
	if err := ctx.Err(); err != nil {
		return idp.State{}, nil, err
	}
	if person.Method != idp.App && person.Method != idp.SIM {
		return idp.State{}, nil, fmt.Errorf("simulated: people cannot be reached by %q", person.Method)
	}
	status, b := choose(person)
	if b != nil && b.when == atOnce {
		return idp.State{}, b.failed(), nil
	}
	now := time.Now().UTC()
	c := conversation{Kennitala: idp.NormalKennitala(person.Kennitala), Method: person.Method, Status: status, Answers: now.Add(p.options.Delay)}
	if err := p.certify(&c); err != nil {
		return idp.State{}, nil, err
	}
	event := c.waits(now)
	if c.Method == idp.SIM {
		c.Code = drawCode()
		event = c.needDigest()
	}
	return c.into(idp.State{Provider: providerName, Version: stateVersion, Key: key, Expires: now.Add(Expiry)}, event)
}

// Sign implements [idp.Provider].
func (p *Provider) Sign(ctx context.Context, state idp.State, digests []ades.Digest) (idp.State, idp.Event, error) {
	c, err := from(state)
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
	return c.into(state, c.waits(now))
}

// Poll implements [idp.Provider].
func (p *Provider) Poll(ctx context.Context, state idp.State) (idp.State, idp.Event, error) {
	c, err := from(state)
	if err = errors.Join(ctx.Err(), err); err != nil {
		return state, nil, err
	}
	if event := c.answer(time.Now(), state.Expires); event != nil {
		return state, event, nil
	}
	values, err := p.sign(c)
	if err != nil {
		return state, nil, err
	}
	return state, idp.Signed{Values: values}, nil
}
