package simulated

import (
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
)

const (
	providerName = "simulated"
	stateVersion = 1
)

// conversation is the public part of a state. There is no secret part.
type conversation struct {
	Kennitala string     `json:"kennitala"`
	Method    idp.Method `json:"method"`
	Status    string     `json:"status"`  // the digits that select a behaviour
	Answers   time.Time  `json:"answers"` // when the person answers the last request
	Code      string     `json:"code,omitempty"`
	// Certificates is the chain in DER, the person's certificate first.
	Certificates [][]byte `json:"certificates"`
	// Digests are the digests of Sign.
	Digests []ades.Digest `json:"digests,omitempty"`

	chain []*x509.Certificate // Certificates, parsed
}

// next returns the event of a poll, or nil if the person has signed.
func (c conversation) next(now, expires time.Time) idp.Event {
	b := behaviourFor(c.Status)
	signing := len(c.Digests) > 0
	switch {
	case !now.Before(expires):
		return idp.Failed{Failure: expired}
	case c.Method == idp.SIM && !signing:
		return c.needDigest()
	case b != nil && b.when == never:
		return idp.Waiting{Code: c.Code}
	case now.Before(c.Answers):
		return c.waiting(now)
	case b != nil:
		return b.failed()
	case !signing:
		return c.needDigest()
	}
	return nil
}

func (c conversation) waiting(now time.Time) idp.Event {
	return idp.Waiting{Code: c.Code, RetryAfter: max(0, c.Answers.Sub(now))}
}

func (c conversation) needDigest() idp.Event {
	return idp.NeedDigest{Certificate: c.chain[0], Chain: c.chain[1:], Code: c.Code}
}

// check returns an error unless the person's key can sign the digests.
func (c conversation) check(digests []ades.Digest) error {
	if len(digests) == 0 {
		return errors.New("simulated: there is no digest to sign")
	}
	for _, d := range digests {
		if err := d.Algorithm.Check(c.chain[0].PublicKey); err != nil {
			return fmt.Errorf("simulated: signing: %w", err)
		}
		if len(d.Sum) != d.Algorithm.Hash.Size() {
			return fmt.Errorf("simulated: a digest of %d bytes is not one by %v", len(d.Sum), d.Algorithm.Hash)
		}
	}
	return nil
}

// encode returns the state with the conversation, and the event.
func (c conversation) encode(state idp.State, event idp.Event) (idp.State, idp.Event, error) {
	public, err := json.Marshal(c)
	if err != nil {
		return state, nil, fmt.Errorf("simulated: encoding the state: %w", err)
	}
	state.Public = public
	return state, event, nil
}

// decode parses the conversation of a state.
func decode(state idp.State) (c conversation, err error) {
	if state.Provider != providerName || state.Version != stateVersion {
		return c, fmt.Errorf("simulated: the state of %q, version %d, was not made by this provider", state.Provider, state.Version)
	}
	if err := json.Unmarshal(state.Public, &c); err != nil {
		return c, fmt.Errorf("simulated: reading the state: %w", err)
	}
	if len(c.Certificates) == 0 {
		return c, errors.New("simulated: the state has no certificate")
	}
	for _, der := range c.Certificates {
		certificate, err := x509.ParseCertificate(der)
		if err != nil {
			return c, fmt.Errorf("simulated: reading a certificate of the state: %w", err)
		}
		c.chain = append(c.chain, certificate)
	}
	return c, nil
}

// drawCode returns a random verification code. It need not be secret.
func drawCode() string { return fmt.Sprintf("%04d", rand.IntN(10_000)) }

// timing is the time of a failure.
type timing uint8

const (
	afterDelay timing = iota // when the person would answer
	immediately
	never // there is no answer; the conversation expires
)

// behaviour is the failure of a person who does not sign, and its time.
type behaviour struct {
	when timing
	idp.Failure
}

func (b behaviour) failed() idp.Event { return idp.Failed{Failure: b.Failure} }

// behaviours is the table of the package comment, by status codes of ETSI TS 102 204.
var behaviours = map[string]behaviour{
	"105": {immediately, accessDenied(idp.UserNotFound, "105")},
	"406": {immediately, accessDenied(idp.RequestInProgress, "406")},
	"422": {immediately, accessDenied(idp.CertificateNotFound, "422")},
	"208": {afterDelay, accessDenied(idp.TimeoutNoAnswer, "208")},
	"401": {afterDelay, accessDenied(idp.UserCancelled, "401")},
	"402": {afterDelay, accessDenied(idp.PinBlocked, "402")},
	"403": {afterDelay, accessDenied(idp.CardBlocked, "403")},
	"404": {afterDelay, accessDenied(idp.KeyNotFound, "404")},
	"501": {afterDelay, accessDenied(idp.CertificateIsRevoked, "501")},
	"504": {never, expired},
}

var (
	unknown = behaviours["105"]
	expired = idp.Failure{Code: idp.ExpiredToken, OAuth: "expired_token", Description: "The signing request has expired."}
)

func accessDenied(code idp.ErrorCode, status string) idp.Failure {
	return idp.Failure{Code: code, OAuth: "access_denied", Description: "mssp_" + status}
}

// behaviourOf returns the last three digits of a person's identifier, and the behaviour that they select; nil: the
// person signs.
func behaviourOf(p idp.Person) (status string, b *behaviour) {
	kennitala := idp.NormalizeKennitala(p.Kennitala)
	if len(kennitala) != 10 || digits(kennitala) != kennitala {
		return "", &unknown
	}
	identifier := kennitala
	if p.Method == idp.SIM {
		identifier = digits(p.Phone)
	}
	status = identifier[max(0, len(identifier)-3):]
	return status, behaviourFor(status)
}

// behaviourFor returns the behaviour of a status, or nil.
func behaviourFor(status string) *behaviour {
	if b, ok := behaviours[status]; ok {
		return &b
	}
	return nil
}

// digits returns the digits of a text.
func digits(s string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, s)
}
