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
	// verificationCode is the code that all sandbox users see (spec 6.2).
	verificationCode = "1234"
	// Expiry is how long a sandbox user has to answer a request (spec 3.5).
	Expiry = 600 * time.Second

	providerName = "sandbox"
	stateVersion = 1
)

// conversation is the public part of an [idp.State]. It has the user's Delay and Action as they were when the
// conversation began, so that a later change of the user does not affect it.
type conversation struct {
	User    string        `json:"user"`
	Account string        `json:"account"`
	Method  idp.Method    `json:"method"`
	Began   time.Time     `json:"began"`
	Delay   time.Duration `json:"delay"`
	Action  Action        `json:"action"`
	Polled  bool          `json:"polled"`
	// Digests are the digests to sign, set by Sign.
	Digests []ades.Digest `json:"digests,omitempty"`
}

var _ idp.Provider = (*Sandbox)(nil)

// Traits implements [idp.Provider].
func (s *Sandbox) Traits(m idp.Method) idp.Traits { return idp.Traits{ByPhone: m == idp.SIM} }

// Begin implements [idp.Provider]. It finds the user of the account by kennitala for the app, and by phone for
// the SIM. With the SIM it returns the certificate at once. With the app, a later Poll returns it, as with a
// provider whose users choose the certificate on their phone.
func (s *Sandbox) Begin(ctx context.Context, key string, p idp.Person, _ idp.Text, _ *x509.Certificate) (idp.State, idp.Event, error) {
	u, err := s.findUser(ctx, p)
	if errors.Is(err, storage.ErrNotFound) {
		return idp.State{}, userNotFound, nil
	}
	if err != nil {
		return idp.State{}, nil, err
	}
	now := s.now(ctx)
	c := conversation{User: u.ID, Account: u.Account, Method: p.Method, Began: now, Delay: u.Delay, Action: u.Action}
	state := idp.State{Provider: providerName, Version: stateVersion, Key: key, Expires: now.Add(Expiry)}
	if state, err = c.encode(state); err != nil || c.Method == idp.App {
		return state, idp.Waiting{}, err
	}
	event, err := s.needDigest(u)
	return state, event, err
}

// Sign implements [idp.Provider]. With the app, the person approved before the certificate was returned, so Sign
// returns the signatures.
func (s *Sandbox) Sign(ctx context.Context, state idp.State, digests []ades.Digest) (idp.State, idp.Event, error) {
	c, err := decodeConversation(state)
	if err != nil {
		return state, nil, err
	}
	c.Digests = digests
	if state, err = c.encode(state); err != nil || c.Method == idp.SIM {
		return state, c.waiting(s.now(ctx)), err
	}
	event, err := s.sign(ctx, c)
	return state, event, err
}

// Poll implements [idp.Provider].
func (s *Sandbox) Poll(ctx context.Context, state idp.State) (idp.State, idp.Event, error) {
	c, err := decodeConversation(state)
	if err != nil {
		return state, nil, err
	}
	event := c.outcome(s.now(ctx), state.Expires)
	if event == nil {
		if event, err = s.sign(ctx, c); err != nil {
			return state, nil, err
		}
	}
	c.Polled = true
	state, err = c.encode(state)
	return state, event, err
}

func (s *Sandbox) needDigest(u User) (idp.Event, error) {
	cert, err := u.certificate()
	if err != nil {
		return nil, fmt.Errorf("sandbox: reading the user's certificate: %w", err)
	}
	return idp.NeedDigest{Certificate: cert, Chain: s.authority.Chain(), Code: verificationCode}, nil
}

// outcome returns the event of a poll by the rule of spec 6.2; nil means that the user signs.
func (c conversation) outcome(now, expires time.Time) idp.Event {
	switch {
	case now.After(expires):
		return expired
	case c.Method == idp.App && !c.Polled, now.Before(c.Began.Add(c.Delay)):
		return c.waiting(now)
	case c.Action == Cancel:
		return userCancelled
	}
	return nil
}

// waiting returns the event that the user has not answered yet, with the rest of the delay as RetryAfter. Begin
// does not use it for the app, so that the caller does not delay the first poll, which returns the code.
func (c conversation) waiting(now time.Time) idp.Waiting {
	return idp.Waiting{Code: verificationCode, RetryAfter: max(0, c.Began.Add(c.Delay).Sub(now))}
}

// sign signs the digests with the user's key, or returns NeedDigest if Sign was not called yet.
func (s *Sandbox) sign(ctx context.Context, c conversation) (idp.Event, error) {
	u, err := s.store.User(ctx, c.Account, c.User)
	if err != nil {
		return nil, fmt.Errorf("sandbox: reading the user: %w", err)
	}
	if len(c.Digests) == 0 {
		return s.needDigest(u)
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

func (s *Sandbox) findUser(ctx context.Context, p idp.Person) (User, error) {
	if p.Method == idp.SIM {
		return s.store.UserByPhone(ctx, p.Account, p.Phone)
	}
	return s.store.UserByKennitala(ctx, p.Account, p.Kennitala)
}

// The simulated failures, with the codes and texts of Auðkenni (spec 6.2).
var (
	userNotFound  = idp.Failed{Failure: idp.Failure{Code: idp.UserNotFound, OAuth: "access_denied", Description: "audkenni_404"}}
	userCancelled = idp.Failed{Failure: idp.Failure{Code: idp.UserCancelled, OAuth: "access_denied", Description: "mssp_401"}}
	expired       = idp.Failed{Failure: idp.Failure{Code: idp.ExpiredToken, OAuth: "expired_token", Description: "The signing request has expired."}}
)

// encode stores the conversation in the state.
func (c conversation) encode(state idp.State) (idp.State, error) {
	public, err := json.Marshal(c)
	if err != nil {
		return state, fmt.Errorf("sandbox: encoding the state: %w", err)
	}
	state.Public = public
	return state, nil
}

func decodeConversation(state idp.State) (conversation, error) {
	var c conversation
	if state.Provider != providerName || state.Version != stateVersion {
		return c, fmt.Errorf("sandbox: the state of %q, version %d, was not made by this provider", state.Provider, state.Version)
	}
	if err := json.Unmarshal(state.Public, &c); err != nil {
		return c, fmt.Errorf("sandbox: reading the state: %w", err)
	}
	return c, nil
}
