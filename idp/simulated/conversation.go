package simulated

import (
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
)

const (
	providerName = "simulated"
	stateVersion = 1
)

// conversation is the public part of a state; there is no secret one.
type conversation struct {
	Kennitala string     `json:"kennitala"`
	Method    idp.Method `json:"method"`
	Status    string     `json:"status"`  // the digits that choose a behaviour
	Answers   time.Time  `json:"answers"` // when the person does, who was asked last
	Code      string     `json:"code,omitempty"`
	// Certificates are DER, the person's own first.
	Certificates [][]byte `json:"certificates"`
	// Digests are those to sign, once Sign was called.
	Digests []ades.Digest `json:"digests,omitempty"`

	chain []*x509.Certificate // Certificates, read
}

// answer is what there is to hear from the person, who signs where it is nil.
func (c conversation) answer(now, expires time.Time) idp.Event {
	b := behaviourOf(c.Status)
	signing := len(c.Digests) > 0
	switch {
	case !now.Before(expires):
		return idp.Failed{Failure: expired}
	case c.Method == idp.SIM && !signing:
		return c.needDigest()
	case b != nil && b.when == never:
		return idp.Waiting{Code: c.Code}
	case now.Before(c.Answers):
		return c.waits(now)
	case b != nil:
		return b.failed()
	case !signing:
		return c.needDigest()
	}
	return nil
}

func (c conversation) waits(now time.Time) idp.Event {
	return idp.Waiting{Code: c.Code, RetryAfter: max(0, c.Answers.Sub(now))}
}

func (c conversation) needDigest() idp.Event {
	return idp.NeedDigest{Certificate: c.chain[0], Chain: c.chain[1:], Code: c.Code}
}

// check says whether the person's key can sign the digests.
func (c conversation) check(digests []ades.Digest) error {
	if len(digests) == 0 {
		return errors.New("simulated: there is no digest to sign")
	}
	for _, d := range digests {
		if err := d.Algorithm.Check(c.chain[0].PublicKey); err != nil {
			return fmt.Errorf("simulated: signing: %w", err)
		}
		if len(d.Sum) != d.Algorithm.Hash.Size() {
			return fmt.Errorf("simulated: a digest of %d bytes is none by %v", len(d.Sum), d.Algorithm.Hash)
		}
	}
	return nil
}

func (c conversation) into(state idp.State, event idp.Event) (idp.State, idp.Event, error) {
	public, err := json.Marshal(c)
	if err != nil {
		return state, nil, fmt.Errorf("simulated: encoding the state: %w", err)
	}
	state.Public = public
	return state, event, nil
}

func from(state idp.State) (c conversation, err error) {
	if state.Provider != providerName || state.Version != stateVersion {
		return c, fmt.Errorf("simulated: state of %q version %d is not ours", state.Provider, state.Version)
	}
	if err := json.Unmarshal(state.Public, &c); err != nil {
		return c, fmt.Errorf("simulated: reading the state: %w", err)
	}
	if len(c.Certificates) == 0 {
		return c, errors.New("simulated: a state without a certificate")
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

// drawCode draws a verification code. It says which phone is meant, and is no secret.
func drawCode() string { return fmt.Sprintf("%04d", rand.IntN(10_000)) }
