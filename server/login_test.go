package server

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"testing"
	"time"

	openidtest "github.com/innsigli/innsigli/internal/test/openid"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/ciba"
	"github.com/innsigli/innsigli/idp/login"
	"github.com/innsigli/innsigli/portal/page"
)

// Every code of spec 3.7 that ends a login is one of the page's reasons, but for those after
// which the same may be asked again.
func TestWhyLoginsFail(t *testing.T) {
	want := map[idp.ErrorCode]error{
		idp.UserCancelled: page.ErrCancelled, idp.AccessDenied: page.ErrCancelled,
		idp.UserNotFound: page.ErrUnknown, idp.UserHasNoPhone: page.ErrUnknown, idp.CertificateNotFound: page.ErrUnknown, idp.KeyNotFound: page.ErrUnknown,
		idp.TimeoutNoAnswer: page.ErrTimeout, idp.ExpiredToken: page.ErrTimeout,
		idp.SystemUnderMaintenance: nil, idp.CommunicationError: nil,
	}
	for _, code := range append(idp.ErrorCodes(), "") {
		expected, named := want[code]
		if !named {
			expected = page.ErrRefusedLogin
		}
		if got := loginFailure(code); got != expected {
			t.Errorf("%s: %v, want %v", code, got, expected)
		}
		if got := loginFailure(code); got != nil && !errors.Is(got, page.ErrLogin) {
			t.Errorf("%s is none of the page's", code)
		}
	}
}

// loginsOf are logins at a provider that is not there, and their log.
func loginsOf(t *testing.T, phones ...idp.Method) (OpenIDLogin, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	client, err := ciba.New(ciba.Options{Issuer: "http://127.0.0.1:1", ClientID: "sign.example", Secret: "a secret of mine", Key: openidtest.RSAKey()})
	if err != nil {
		t.Fatal(err)
	}
	l := OpenIDLogin{Log: slog.New(slog.NewTextHandler(&log, nil)), Phones: make(map[idp.Method]*login.Phone)}
	if l.Browser, err = login.NewBrowser(login.BrowserOptions{Client: client, Redirect: "https://sign.example" + LoginPath}); err != nil {
		t.Fatal(err)
	}
	for _, method := range phones {
		if l.Phones[method], err = login.NewPhone(login.PhoneOptions{Client: client}); err != nil {
			t.Fatal(err)
		}
	}
	l.Refusal = func(err error) *idp.Failure {
		if said := new(ciba.Error); errors.As(err, &said) {
			return &idp.Failure{Code: idp.ErrorCode(said.Code)}
		}
		return nil
	}
	return l, &log
}

// Where the provider cannot be reached the same may be asked again; no person has refused.
func TestLoginsWithoutTheProvider(t *testing.T) {
	l, log := loginsOf(t, idp.App, idp.SIM)
	for _, way := range l.Methods() {
		if _, err := l.Begin(t.Context(), way, "0101302989"); err == nil || errors.Is(err, page.ErrLogin) {
			t.Errorf("%s: %v", way, err)
		}
	}
	if _, err := l.Begin(t.Context(), "fax", "0101302989"); err == nil {
		t.Error("by fax")
	}
	if log.Len() > 0 {
		t.Errorf("the log: %s", log)
	}
}

// A state that is damaged, or of ways that there were, leads to no person.
func TestStatesOfLogins(t *testing.T) {
	l, _ := loginsOf(t)
	trial := newTrialLogin("http://localhost")
	if ways := l.Methods(); len(ways) != 1 || ways[0] != page.Browser {
		t.Errorf("ways %v", ways)
	}
	if _, who, err := l.Poll(t.Context(), page.LoginState{Method: page.App, Provider: []byte("{}")}); !errors.Is(err, page.ErrRefusedLogin) || who != nil {
		t.Errorf("on the phone: %v, %v", who, err)
	}
	for _, provider := range []string{"", "null", "{", `{"state":"","nonce":""}`} {
		kept := page.LoginState{Method: page.Browser, Provider: []byte(provider)}
		for _, one := range []page.Login{l, trial} {
			if _, err := one.Finish(t.Context(), kept, url.Values{"state": {"another"}, "code": {"1"}, "kennitala": {"0101302989"}}); err == nil {
				t.Errorf("%q is finished by %T", provider, one)
			}
		}
		if _, who, err := trial.Poll(t.Context(), kept); who != nil {
			t.Errorf("%q: %v, %v", provider, who, err)
		}
	}
}

// The operator hears of what the provider refuses, and of nothing that people decide or that was not
// meant for the login.
func TestRefusedLoginsAreLogged(t *testing.T) {
	for code, logged := range map[idp.ErrorCode]bool{idp.InvalidClient: true, idp.UserCancelled: false, idp.TimeoutNoAnswer: false} {
		l, log := loginsOf(t)
		err := l.pageError(fmt.Errorf("asking: %w", &ciba.Error{Code: string(code), Description: "0101302989"}))
		if !errors.Is(err, page.ErrLogin) || (log.Len() > 0) != logged || bytes.Contains(log.Bytes(), []byte("0101302989")) {
			t.Errorf("%s: %v, log %q", code, err, log)
		}
	}
	l, log := loginsOf(t)
	if err := l.pageError(login.ErrMismatch); !errors.Is(err, page.ErrForeignAnswer) || log.Len() > 0 {
		t.Errorf("%v, log %q", err, log)
	}
	for _, refused := range []error{login.ErrMethod, login.ErrNoKennitala, login.ErrKennitalaMismatch} {
		l, log := loginsOf(t)
		if err := l.pageError(refused); !errors.Is(err, page.ErrRefusedLogin) || log.Len() == 0 {
			t.Errorf("%v, log %q", err, log)
		}
	}
}

// A limit of the provider is no outage: the error says when to begin again, or when to ask for the answer.
func TestLoginsBeyondTheProvidersLimit(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{})
	p.Person(openidtest.Person{Kennitala: "0101302989", Phone: "5550101", Name: "Anna", Key: openidtest.RSAKey(), Answer: openidtest.Answer{Silent: true}})
	client, err := ciba.New(ciba.Options{Issuer: p.Issuer, ClientID: p.ClientID, Secret: p.Secret, Key: p.Key, KeyID: p.KeyID})
	if err != nil {
		t.Fatal(err)
	}
	phone, err := login.NewPhone(login.PhoneOptions{Client: client, ACR: "app-auth"})
	if err != nil {
		t.Fatal(err)
	}
	l := OpenIDLogin{Phones: map[idp.Method]*login.Phone{idp.App: phone}}
	fault := openidtest.Fault{Endpoint: openidtest.Backchannel, Status: http.StatusTooManyRequests, Header: map[string]string{"Retry-After": "90"}}
	p.Fault(fault)
	var limit *idp.TooManyRequestsError
	if _, err := l.Begin(t.Context(), page.App, "0101302989"); !errors.As(err, &limit) || limit.RetryAfter != 90*time.Second {
		t.Errorf("%#v", err)
	}
	state, err := l.Begin(t.Context(), page.App, "0101302989")
	if err != nil {
		t.Fatal(err)
	}
	fault.Endpoint = openidtest.Token
	p.Fault(fault)
	var wait *idp.FaultError
	if _, _, err := l.Poll(t.Context(), state); !errors.As(err, &wait) || wait.RetryAfter != 90*time.Second {
		t.Errorf("%#v", err)
	}
	if _, person, err := l.Poll(t.Context(), state); person != nil || err != nil {
		t.Error(person, err)
	}
}
