// Package audkenni asks people for signatures through Auðkenni, Iceland's identity provider: with its app
// ([idp.App]) and with the electronic ID on a SIM card ([idp.SIM]). It implements [idp.Provider], and with
// Options.Ping [idp.Notifier].
//
//	client, err := ciba.New(ciba.Options{Issuer: issuer, ClientID: id, Secret: secret, Key: key})
//	provider, err := audkenni.New(audkenni.Options{Client: client})
//
// Auðkenni uses OpenID CIBA with claims of its own: binding_content has the digest to sign, and the answer has
// signature, certificate, documentNr, nationalRegisterId and name. Points that its documentation leaves open are
// options, whose defaults are the documented values.
//
// # The app
//
// The app asks the person twice: to choose a device, whose certificate is the answer, and to sign. The certificates of
// both answers have to be the same, byte for byte. The app shows a code that is derived from the digest
// ([VerificationCode]), so the Waiting that Sign returns is the first event with the code.
//
// # The SIM
//
// Only the answer to a signing request has the certificate, so the caller stores it ([idp.Traits].Remember) and passes
// it to Begin the next time. If the certificate is unknown or has expired, the person is first asked to sign random
// bytes, whose answer has the certificate. A person who has renewed the certificate since is asked to sign once more.
// The SIM shows only a text. The adapter draws a code when the conversation begins and puts it into the text.
//
// With SIMOptions.CMS the answer is a CMS, for which the certificate need not be known before.
//
// # Errors
//
// If Auðkenni or the person refuses, the event is [idp.Failed] with the code of [Errors] and Auðkenni's
// description. Faults of the network and of Auðkenni's servers are errors that do not end the conversation, unless
// the person has not been asked yet: the conversation then fails with CommunicationError or SystemUnderMaintenance,
// so that the caller can report it immediately. If Auðkenni then limits requests, the error is an
// [*idp.TooManyRequestsError]. If Auðkenni no longer accepts the access token, the failure is
// InvalidGrant: the answer is lost.
//
// Neither errors nor State.Public contain a token. Errors contain neither a kennitala nor a phone number.
package audkenni

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
)

// Provider is an [idp.Provider] for Auðkenni. It is safe for concurrent use and stores nothing between calls.
type Provider struct {
	options Options
	scope   []string
	errors  errorTable
}

var _ idp.Notifier = (*Provider)(nil)

// New returns a provider with the options. It sends no request to Auðkenni; use
// [github.com/innsigli/innsigli/idp/ciba.Client.Check] to test the connection.
func New(o Options) (*Provider, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	p := &Provider{options: o, scope: []string{"openid", "profile", "signature"}, errors: newErrorTable(o.Errors)}
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

// ACRValues returns the acr_values that the options need: of the two requests with the app, and of the one with the
// SIM.
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
		event, err = p.requestAppCertificate(ctx, c)
	case idp.SIM:
		event, err = p.beginSIM(ctx, c, known)
	default:
		err = fmt.Errorf("audkenni: unknown signing method %q", person.Method)
	}
	if err != nil {
		return idp.State{}, nil, err
	}
	state, err := c.state()
	return state, event, err
}

// Sign implements [idp.Provider]. It accepts one digest, of the algorithm of Traits.
func (p *Provider) Sign(ctx context.Context, s idp.State, digests []ades.Digest) (idp.State, idp.Event, error) {
	return proceed(s, func(c *conversation) (idp.Event, error) {
		hash := p.Traits(c.Person.Method).Algorithm.Hash
		switch {
		case c.Phase != ready:
			return nil, errors.New("audkenni: no digest was asked for")
		case len(digests) != 1:
			return nil, fmt.Errorf("audkenni: %d digests: one is signed at a time", len(digests))
		case digests[0].Algorithm.Hash != hash || len(digests[0].Sum) != hash.Size():
			return nil, fmt.Errorf("audkenni: the digest is by %v instead of %v", digests[0].Algorithm.Hash, hash)
		case c.Person.Method == idp.App:
			return p.requestAppSignature(ctx, c, digests[0].Sum)
		}
		return p.requestSIMSignature(ctx, c, digests[0].Sum)
	})
}

// Poll implements [idp.Provider].
func (p *Provider) Poll(ctx context.Context, s idp.State) (idp.State, idp.Event, error) {
	return proceed(s, func(c *conversation) (idp.Event, error) {
		switch {
		case c.Phase == ready:
			return c.needDigest()
		case c.Tokens == nil:
			return p.fetchTokens(ctx, c)
		}
		return p.handleAnswer(ctx, c)
	})
}

// proceed calls next with the conversation of a state and returns the changed state. If next fails, proceed returns the
// state as it was, apart from the number of lost requests.
func proceed(s idp.State, next func(*conversation) (idp.Event, error)) (idp.State, idp.Event, error) {
	c, err := resume(s)
	if err != nil {
		return s, nil, err
	}
	event, err := next(c)
	if err != nil {
		return withLostRequests(s, c.LostRequests), nil, err
	}
	changed, err := c.state()
	if err != nil {
		return s, nil, err
	}
	return changed, event, nil
}

// withLostRequests returns a state with another number of lost requests.
func withLostRequests(s idp.State, n int) idp.State {
	c, err := resume(s)
	if err != nil || c.LostRequests == n {
		return s
	}
	c.LostRequests = n
	if changed, err := c.state(); err == nil {
		return changed
	}
	return s
}
