// Package audkenni asks people for signatures through Auðkenni, Iceland's identity provider:
// with its app ([idp.App]) and with the electronic ID on a SIM card ([idp.SIM]). It is a
// [idp.Provider], and with Options.Ping a [idp.Notifier].
//
//	client, err := ciba.New(ciba.Options{Issuer: issuer, ClientID: id, Secret: secret, Key: key})
//	provider, err := audkenni.New(audkenni.Options{Client: client})
//
// Auðkenni speaks OpenID CIBA with claims of its own: what is to be signed is a digest in
// binding_content, and the answer has signature, certificate, documentNr, nationalRegisterId
// and name. What its documentation leaves open is an option here, with the documented value
// for default.
//
// # The app
//
// The person is asked twice: for the certificate, which is that of the device chosen, and for
// the signature. The second answer's certificate has to be the first's, byte for byte. The
// app shows a code that follows from the digest ([VerificationCode]), so it is first known to
// the Waiting that Sign returns.
//
// # The SIM
//
// Only an answer tells the certificate, so the caller keeps it ([idp.Traits].Remember) and
// names it to Begin the next time. A person whose certificate is not known, or has expired, is
// asked first to sign something of no meaning, which tells it; a person who has renewed it
// since is asked to sign once more. The SIM shows nothing but a text, into which the adapter
// puts a code that it draws when the conversation begins.
//
// With SIMOptions.CMS the answer is a whole CMS, made without the certificate being known
// before.
//
// # Errors
//
// What Auðkenni refuses, and what the person does, is [idp.Failed] with the code of [Errors]
// and Auðkenni's own words. Faults of the way to it, and of its servers, are errors that end
// nothing, except where nobody has been asked anything yet: then the conversation fails with
// CommunicationError or SystemUnderMaintenance, since its caller has to hear so at once. An
// access token that Auðkenni no longer takes is InvalidGrant: the answer is lost.
//
// No error and no State.Public has a token. No error has a kennitala or a phone number.
package audkenni

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
)

// Provider is Auðkenni. It is safe for concurrent use and holds nothing between calls.
type Provider struct {
	options Options
	scope   []string
	errors  translation
}

var _ idp.Notifier = (*Provider)(nil)

// New returns a provider with the options, or says what is wrong with them. It asks nothing
// of Auðkenni; [github.com/innsigli/innsigli/idp/ciba.Client.Check] does.
func New(o Options) (*Provider, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	p := &Provider{options: o, scope: []string{"openid", "profile", "signature"}, errors: newTranslation(o.Errors)}
	if o.RelatedParty != "" {
		p.scope = append(p.scope, "RELATEDPARTY:"+o.RelatedParty)
	}
	return p, nil
}

// Traits implements [idp.Provider].
func (p *Provider) Traits(m idp.Method) idp.Traits {
	switch {
	case m == idp.App:
		return idp.Traits{Algorithm: ades.Algorithm{Hash: p.options.App.Hash, Scheme: ades.PKCS1v15}}
	case m == idp.SIM && p.options.SIM.CMS:
		return idp.Traits{Algorithm: ades.Algorithm{Hash: p.options.SIM.Hash}, CMS: true}
	case m == idp.SIM:
		return idp.Traits{Algorithm: ades.Algorithm{Hash: p.options.SIM.Hash, Scheme: ades.PKCS1v15}, Remember: true}
	}
	return idp.Traits{}
}

// ACRValues are the acr_values of requests, by the options: of the app's two, and of the SIM's.
func (p *Provider) ACRValues() []string {
	app, sim := p.options.App, p.options.SIM
	if sim.CMS {
		return []string{app.CertificateACR, app.SignACR, sim.CMSACR}
	}
	return []string{app.CertificateACR, app.SignACR, sim.ACR}
}

// Begin implements [idp.Provider].
func (p *Provider) Begin(ctx context.Context, key string, person idp.Person, text idp.Text, known *x509.Certificate) (idp.State, idp.Event, error) {
	c, err := p.newConversation(key, person, text)
	if err != nil {
		return idp.State{}, nil, err
	}
	var event idp.Event
	switch person.Method {
	case idp.App:
		event, err = p.choose(ctx, c)
	case idp.SIM:
		event, err = p.beginBySIM(ctx, c, known)
	default:
		err = fmt.Errorf("audkenni: %q is no method of Auðkenni's", person.Method)
	}
	if err != nil {
		return idp.State{}, nil, err
	}
	state, err := c.state()
	return state, event, err
}

// Sign implements [idp.Provider]. It takes one digest, by the algorithm of Traits.
func (p *Provider) Sign(ctx context.Context, s idp.State, digests []ades.Digest) (idp.State, idp.Event, error) {
	return turn(s, func(c *conversation) (idp.Event, error) {
		hash := p.Traits(c.Person.Method).Algorithm.Hash
		switch {
		case c.Phase != ready:
			return nil, errors.New("audkenni: no digest was asked for")
		case len(digests) != 1:
			return nil, fmt.Errorf("audkenni: %d digests, where one is signed at a time", len(digests))
		case digests[0].Algorithm.Hash != hash || len(digests[0].Sum) != hash.Size():
			return nil, fmt.Errorf("audkenni: a digest by %v, where %v is signed", digests[0].Algorithm.Hash, hash)
		case c.Person.Method == idp.App:
			return p.signByApp(ctx, c, digests[0].Sum)
		}
		return p.signBySIM(ctx, c, digests[0].Sum)
	})
}

// Poll implements [idp.Provider].
func (p *Provider) Poll(ctx context.Context, s idp.State) (idp.State, idp.Event, error) {
	return turn(s, func(c *conversation) (idp.Event, error) {
		switch {
		case c.Phase == ready:
			return c.needDigest()
		case c.Tokens == nil:
			return p.fetch(ctx, c)
		}
		return p.hear(ctx, c)
	})
}

// turn goes on with a conversation. What it comes to counts, unless there is an error.
func turn(s idp.State, goOn func(*conversation) (idp.Event, error)) (idp.State, idp.Event, error) {
	c, err := resume(s)
	if err != nil {
		return s, nil, err
	}
	event, err := goOn(c)
	if err != nil {
		return unheard(s, c.Unheard), nil, err
	}
	next, err := c.state()
	if err != nil {
		return s, nil, err
	}
	return next, event, nil
}

// unheard is a state as it was before a fault, but for how often there was one.
func unheard(s idp.State, times int) idp.State {
	c, err := resume(s)
	if err != nil || c.Unheard == times {
		return s
	}
	c.Unheard = times
	if counted, err := c.state(); err == nil {
		return counted
	}
	return s
}
