package login

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/innsigli/innsigli/idp/ciba"
)

// PhoneOptions configure a [Phone].
type PhoneOptions struct {
	// Client is registered for CIBA.
	Client *ciba.Client
	Scope  []string // none: "openid profile"
	ACR    string   // acr_values: the method; empty: the provider chooses. See ClaimRules.Methods
	// Text is the text on the phone, with {code} for the code; empty: "{code}".
	Text string
	// Code returns the code of a login, and further claims of the request; nil: the code is 4 random digits, and Text
	// has to contain {code}.
	Code   func() (code string, extra map[string]any, err error)
	Claims ClaimRules
}

// Phone authenticates people on their phones.
type Phone struct{ options PhoneOptions }

// PhoneState is the state of a login between calls.
type PhoneState struct {
	ID       string        `json:"id"`       // the auth_req_id of the request
	Code     string        `json:"code"`     // the code that the person compares
	Interval time.Duration `json:"interval"` // the minimum time until the next Poll
	Expires  time.Time     `json:"expires"`
	Tokens   *ciba.Tokens  `json:"tokens,omitempty"` // the token response, which the provider gives only once
}

const codePlaceholder = "{code}"

// NewPhone returns a Phone.
func NewPhone(o PhoneOptions) (*Phone, error) {
	if err := checkClient(o.Client); err != nil {
		return nil, err
	}
	if o.Text == "" {
		o.Text = codePlaceholder
	}
	if o.Code == nil {
		if !strings.Contains(o.Text, codePlaceholder) {
			return nil, fmt.Errorf("login: the text on the phone must contain {code}: %q", o.Text)
		}
		o.Code = drawCode
	}
	o.Claims = o.Claims.withDefault(strings.Fields(o.ACR))
	return &Phone{o}, nil
}

func drawCode() (string, map[string]any, error) {
	n, err := rand.Int(rand.Reader, big.NewInt(10000))
	return fmt.Sprintf("%04d", n), nil, err
}

// Begin asks the person whom the login_hint identifies.
func (p *Phone) Begin(ctx context.Context, hint string) (PhoneState, error) {
	code, extra, err := p.options.Code()
	if err != nil {
		return PhoneState{}, fmt.Errorf("login: making a code: %w", err)
	}
	ack, err := p.options.Client.RequestAuthentication(ctx, ciba.Request{
		LoginHint:      hint,
		Scope:          scopeOrDefault(p.options.Scope),
		ACR:            p.options.ACR,
		BindingMessage: strings.ReplaceAll(p.options.Text, codePlaceholder, code),
		Extra:          extra,
	})
	if err != nil {
		return PhoneState{}, err
	}
	return PhoneState{
		ID:       ack.ID,
		Code:     code,
		Interval: ack.Interval,
		Expires:  time.Now().Add(ack.ExpiresIn),
	}, nil
}

// Poll requests the answer of the person. The identity is nil while there is none. The caller must store the returned
// state even if there is an error; after a [*ciba.TransportError] it may call Poll again with it.
func (p *Phone) Poll(ctx context.Context, s PhoneState) (PhoneState, *Identity, error) {
	if s.Tokens == nil {
		if time.Now().After(s.Expires) {
			return s, nil, ErrExpired
		}
		tokens, err := p.options.Client.Tokens(ctx, s.ID)
		var refused *ciba.Error
		switch {
		case errors.As(err, &refused) && refused.Pending():
			return s.pending(refused), nil, nil
		case errors.As(err, &refused) && refused.Code == "expired_token":
			return s, nil, ErrExpired
		case err != nil:
			return s, nil, err
		}
		s.Tokens = &tokens
	}
	tokens := *s.Tokens
	tokens.AuthReqID = s.ID // states of earlier versions lack it in the tokens
	claims, err := p.options.Client.Claims(ctx, tokens)
	if err != nil {
		return s, nil, err
	}
	identity, err := p.options.Claims.identity(p.options.Client, tokens, claims)
	if err != nil {
		return s, nil, err
	}
	return s, &identity, nil
}

// pending returns the state after an error after which polling continues (CIBA Core 11).
func (s PhoneState) pending(e *ciba.Error) PhoneState {
	if e.Code == "slow_down" {
		s.Interval += 5 * time.Second
	}
	return s
}
