package page

import (
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/innsigli/innsigli/portal"
)

// Way is a way to log in.
type Way string

const (
	App     Way = "app"     // the provider's app, which is asked by kennitala
	SIM     Way = "sim"     // the phone's SIM card, which is asked by number
	Browser Way = "browser" // the provider's own pages
)

// Login finds out who a person is.
type Login interface {
	// Ways are those that there are, the usual one first.
	Ways() []Way
	// Begin asks the person with a kennitala of ten digits ([App]) or a phone number of seven ([SIM]), or
	// says where to send the browser, which is asked for no hint. [ErrLogin].
	Begin(ctx context.Context, way Way, hint string) (LoginState, error)
	// Poll asks whether the person on the phone has answered; nil: not yet. The state is to be kept
	// also with an error. [ErrLogin]; after any other error Poll may be called again.
	Poll(ctx context.Context, s LoginState) (LoginState, *portal.Person, error)
	// Finish reads the query with which the browser came back to /sign/back. [ErrLogin],
	// [ErrForeignAnswer].
	Finish(ctx context.Context, s LoginState, query url.Values) (portal.Person, error)
}

// LoginState is a login between the calls.
type LoginState struct {
	Way      Way           `json:"way"`
	Redirect string        `json:"redirect,omitempty"` // where to send the browser
	Code     string        `json:"code,omitempty"`     // that the phone shows too
	Interval time.Duration `json:"interval,omitempty"` // the least time until the next Poll
	Expires  time.Time     `json:"expires"`
	Provider []byte        `json:"provider"` // secret: what the provider needs to know
}

// The reasons for which a login comes to nothing. An error that is none of them is an outage.
var (
	// ErrLogin is what all of them are.
	ErrLogin = errors.New("login")
	// ErrCancelled: the person did not want to.
	ErrCancelled error = loginError("cancelled by the person")
	// ErrUnknown: nobody has such an electronic ID.
	ErrUnknown error = loginError("nobody known")
	// ErrTimeout: the person did not answer in time.
	ErrTimeout error = loginError("not answered in time")
	// ErrRefusedLogin: the provider says no for another reason, or its answer cannot be trusted.
	ErrRefusedLogin error = loginError("refused")
)

// ErrForeignAnswer: what the browser came back with does not belong to the login, which goes on.
var ErrForeignAnswer = errors.New("the answer is not one to the login")

type loginError string

func (e loginError) Error() string        { return "login: " + string(e) }
func (e loginError) Is(target error) bool { return target == ErrLogin }
