package server

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"testing"

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
