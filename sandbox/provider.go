package sandbox

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/storage"
)

const (
	// verificationCode is every test user's (spec 6.2).
	verificationCode = "1234"
	// Expiry is how long a request lives (spec 3.5).
	Expiry = 600 * time.Second

	providerName = "sandbox"
	stateVersion = 1
)

// conversation is the public part of a state. What the user is set to do is
// fixed when the conversation begins.
type conversation struct {
	User   string        `json:"user"`
	Owner  string        `json:"account"`
	Method idp.Method    `json:"method"`
	Began  time.Time     `json:"began"`
	Delay  time.Duration `json:"delay"`
	Action Action        `json:"action"`
	Polled bool          `json:"polled"`
	// Digests are those to sign, once Sign was called.
	Digests []ades.Digest `json:"digests,omitempty"`
}

var _ idp.Provider = (*Sandbox)(nil)

// Traits implements [idp.Provider].
func (s *Sandbox) Traits(m idp.Method) idp.Traits { return idp.Traits{ByPhone: m == idp.SIM} }

// Begin implements [idp.Provider]: it finds the user among the account's own, by
// kennitala for the app and by phone for the SIM. The app's certificate comes
// with the answer, as when the person chooses it on the phone; the SIM's is known
// at once.
func (s *Sandbox) Begin(ctx context.Context, key string, p idp.Person, _ idp.Text, _ *x509.Certificate) (idp.State, idp.Event, error) {
	u, err := s.find(ctx, p)
	if errors.Is(err, storage.ErrNotFound) {
		return idp.State{}, userNotFound, nil
	}
	if err != nil {
		return idp.State{}, nil, err
	}
	now := s.now(ctx)
	c := conversation{User: u.ID, Owner: u.Account, Method: p.Method, Began: now, Delay: u.Delay, Action: u.Action}
	state := idp.State{Provider: providerName, Version: stateVersion, Key: key, Expires: now.Add(Expiry)}
	if state, err = c.into(state); err != nil || c.Method == idp.App {
		return state, idp.Waiting{}, err
	}
	event, err := s.needDigest(u, verificationCode)
	return state, event, err
}

// Sign implements [idp.Provider]. With the app, the person has approved by then.
func (s *Sandbox) Sign(ctx context.Context, state idp.State, digests []ades.Digest) (idp.State, idp.Event, error) {
	c, err := from(state)
	if err != nil {
		return state, nil, err
	}
	c.Digests = digests
	if state, err = c.into(state); err != nil || c.Method == idp.SIM {
		return state, c.waits(s.now(ctx)), err
	}
	event, err := s.sign(ctx, c)
	return state, event, err
}

// Poll implements [idp.Provider].
func (s *Sandbox) Poll(ctx context.Context, state idp.State) (idp.State, idp.Event, error) {
	c, err := from(state)
	if err != nil {
		return state, nil, err
	}
	event := c.answer(s.now(ctx), state.Expires)
	if event == nil {
		if event, err = s.sign(ctx, c); err != nil {
			return state, nil, err
		}
	}
	c.Polled = true
	state, err = c.into(state)
	return state, event, err
}

func (s *Sandbox) needDigest(u User, code string) (idp.Event, error) {
	cert, err := u.certificate()
	if err != nil {
		return nil, fmt.Errorf("sandbox: reading the user's certificate: %w", err)
	}
	return idp.NeedDigest{Certificate: cert, Chain: s.authority.Chain(), Code: code}, nil
}

// answer is the rule of spec 6.2; nil means that the user
// signs.
func (c conversation) answer(now, expires time.Time) idp.Event {
	switch {
	case now.After(expires):
		return expired
	case c.Method == idp.App && !c.Polled, now.Before(c.Began.Add(c.Delay)):
		return c.waits(now)
	case c.Action == Cancel:
		return userCancelled
	}
	return nil
}

// waits says how much of the delay is left. The app's first poll, which has the code, is
// never saved by that: Begin does not say it.
func (c conversation) waits(now time.Time) idp.Waiting {
	return idp.Waiting{Code: verificationCode, RetryAfter: max(0, c.Began.Add(c.Delay).Sub(now))}
}

// sign signs with the user's key, or asks for the digest where it has not come.
func (s *Sandbox) sign(ctx context.Context, c conversation) (idp.Event, error) {
	u, err := s.store.User(ctx, c.Owner, c.User)
	if err != nil {
		return nil, fmt.Errorf("sandbox: reading the user: %w", err)
	}
	if len(c.Digests) == 0 {
		return s.needDigest(u, verificationCode)
	}
	key, err := u.key()
	if err != nil {
		return nil, err
	}
	var signed idp.Signed
	for _, d := range c.Digests {
		value, err := key.Sign(rand.Reader, d.Sum, d.Algorithm.Hash)
		if err != nil {
			return nil, fmt.Errorf("sandbox: signing: %w", err)
		}
		signed.Values = append(signed.Values, value)
	}
	return signed, nil
}

func (s *Sandbox) find(ctx context.Context, p idp.Person) (User, error) {
	if p.Method == idp.SIM {
		return s.store.UserByPhone(ctx, p.Account, p.Phone)
	}
	return s.store.UserByKennitala(ctx, p.Account, p.Kennitala)
}

// The simulated failures, in the words that Auðkenni uses (spec 6.2).
var (
	userNotFound  = idp.Failed{Failure: idp.Failure{Code: idp.UserNotFound, OAuth: "access_denied", Description: "audkenni_404"}}
	userCancelled = idp.Failed{Failure: idp.Failure{Code: idp.UserCancelled, OAuth: "access_denied", Description: "mssp_401"}}
	expired       = idp.Failed{Failure: idp.Failure{Code: idp.ExpiredToken, OAuth: "expired_token", Description: "The signing request has expired."}}
)

func (c conversation) into(state idp.State) (idp.State, error) {
	public, err := json.Marshal(c)
	if err != nil {
		return state, fmt.Errorf("sandbox: encoding the state: %w", err)
	}
	state.Public = public
	return state, nil
}

func from(state idp.State) (conversation, error) {
	var c conversation
	if state.Provider != providerName || state.Version != stateVersion {
		return c, fmt.Errorf("sandbox: state of %q version %d is not ours", state.Provider, state.Version)
	}
	if err := json.Unmarshal(state.Public, &c); err != nil {
		return c, fmt.Errorf("sandbox: reading the state: %w", err)
	}
	return c, nil
}
