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

// PhoneOptions describe logins on phones.
type PhoneOptions struct {
	// Client is known to the provider for CIBA.
	Client *ciba.Client
	Scope  []string // none: "openid profile"
	ACR    string   // the method, as acr_values; empty: the provider's choice
	// Text is what the phone shows. "{code}" in it is replaced by the code; empty: "{code}".
	Text string
	// Code makes the code of a login, and further claims of the request to which it belongs;
	// nil: 4 digits are drawn, and the text has to show them.
	Code    func() (code string, extra map[string]any, err error)
	Reading Reading
}

// Phone asks people on their phones.
type Phone struct{ options PhoneOptions }

// PhoneState is a login between the calls.
type PhoneState struct {
	ID       string        `json:"id"`       // of the request: auth_req_id
	Code     string        `json:"code"`     // for the person to compare
	Interval time.Duration `json:"interval"` // the least time until the next Poll
	Expires  time.Time     `json:"expires"`
	Tokens   *ciba.Tokens  `json:"tokens,omitempty"` // the answer, which is given once
}

const codePlace = "{code}"

// NewPhone checks the options.
func NewPhone(o PhoneOptions) (*Phone, error) {
	if err := check(o.Client); err != nil {
		return nil, err
	}
	if o.Text == "" {
		o.Text = codePlace
	}
	if o.Code == nil {
		if !strings.Contains(o.Text, codePlace) {
			return nil, fmt.Errorf("login: the text on the phone has no place for the code: %q", o.Text)
		}
		o.Code = drawCode
	}
	return &Phone{o}, nil
}

func drawCode() (string, map[string]any, error) {
	n, err := rand.Int(rand.Reader, big.NewInt(10000))
	return fmt.Sprintf("%04d", n), nil, err
}

// Begin asks the person whom the hint means (the provider's login_hint).
func (p *Phone) Begin(ctx context.Context, hint string) (PhoneState, error) {
	code, extra, err := p.options.Code()
	if err != nil {
		return PhoneState{}, fmt.Errorf("login: making a code: %w", err)
	}
	asked, err := p.options.Client.Ask(ctx, ciba.Request{
		LoginHint:      hint,
		Scope:          scope(p.options.Scope),
		ACR:            p.options.ACR,
		BindingMessage: strings.ReplaceAll(p.options.Text, codePlace, code),
		Extra:          extra,
	})
	if err != nil {
		return PhoneState{}, err
	}
	return PhoneState{
		ID:       asked.ID,
		Code:     code,
		Interval: asked.Interval,
		Expires:  time.Now().Add(asked.ExpiresIn),
	}, nil
}

// Poll asks whether the person has answered: identity is nil while not. The state is to be
// kept also with an error; after a [*ciba.TransportError] Poll may be called again with it.
func (p *Phone) Poll(ctx context.Context, s PhoneState) (PhoneState, *Identity, error) {
	if s.Tokens == nil {
		if time.Now().After(s.Expires) {
			return s, nil, ErrExpired
		}
		tokens, err := p.options.Client.Tokens(ctx, s.ID)
		var refused *ciba.Error
		switch {
		case errors.As(err, &refused) && refused.Pending():
			return s.waiting(refused), nil, nil
		case errors.As(err, &refused) && refused.Code == "expired_token":
			return s, nil, ErrExpired
		case err != nil:
			return s, nil, err
		}
		s.Tokens = &tokens
	}
	tokens := *s.Tokens
	tokens.AuthReqID = s.ID // which states of before AuthReqID lack
	claims, err := p.options.Client.Claims(ctx, tokens)
	if err != nil {
		return s, nil, err
	}
	identity, err := p.options.Reading.identity(claims)
	if err != nil {
		return s, nil, err
	}
	return s, &identity, nil
}

// waiting is the state after an answer that is none yet (CIBA Core 11).
func (s PhoneState) waiting(e *ciba.Error) PhoneState {
	if e.Code == "slow_down" {
		s.Interval += 5 * time.Second
	}
	return s
}
