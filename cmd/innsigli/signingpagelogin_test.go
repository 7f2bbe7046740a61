package main

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/ciba"
	"github.com/innsigli/innsigli/idp/login"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
	"github.com/innsigli/innsigli/portal/page"
)

// Every code of service.md 7.2 that ends a login is one of the page's reasons, but for those after
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

// A method whose answer is a CMS does not come to the level of processes.
func TestMethodsOfProcesses(t *testing.T) {
	for answer, want := range map[bool]int{false: 2, true: 1} {
		if got := signingMethods(cmsBySIM(answer)); len(got) != want || got[0] != idp.App {
			t.Errorf("CMS %v: %v", answer, got)
		}
	}
}

// cmsBySIM is a provider that says of the SIM whether its answer is a CMS.
type cmsProvider struct {
	idp.Provider
	bySIM bool
}

func cmsBySIM(yes bool) idp.Provider { return cmsProvider{bySIM: yes} }

func (p cmsProvider) Traits(m idp.Method) idp.Traits {
	return idp.Traits{CMS: p.bySIM && m == idp.SIM}
}

// loginsOf are logins at a provider that is not there, and their log.
func loginsOf(t *testing.T, phones map[idp.Method]login.PhoneOptions) (logins, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	p := loginProvider{client: ciba.Options{Issuer: "http://127.0.0.1:1", ClientID: "sign.example", Secret: "a secret of mine", Key: openidtest.RSAKey()}, phones: phones}
	refusal := func(err error) *idp.Failure {
		if said := new(ciba.Error); errors.As(err, &said) {
			return &idp.Failure{Code: idp.ErrorCode(said.Code)}
		}
		return nil
	}
	l, err := p.logins("https://sign.example", refusal, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return l, &log
}

// Where the provider cannot be reached the same may be asked again; nobody has refused anything.
func TestLoginsWithoutTheProvider(t *testing.T) {
	l, log := loginsOf(t, map[idp.Method]login.PhoneOptions{idp.App: {}, idp.SIM: {}})
	for _, way := range l.Ways() {
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
	l, _ := loginsOf(t, nil)
	trial := newTrialLogins("http://localhost")
	if ways := l.Ways(); len(ways) != 1 || ways[0] != page.Browser {
		t.Errorf("ways %v", ways)
	}
	if _, who, err := l.Poll(t.Context(), page.LoginState{Way: page.App, Provider: []byte("{}")}); !errors.Is(err, page.ErrRefusedLogin) || who != nil {
		t.Errorf("on the phone: %v, %v", who, err)
	}
	for _, provider := range []string{"", "null", "{", `{"state":"","nonce":""}`} {
		kept := page.LoginState{Way: page.Browser, Provider: []byte(provider)}
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
		l, log := loginsOf(t, nil)
		err := l.meaning(fmt.Errorf("asking: %w", &ciba.Error{Code: string(code), Description: "0101302989"}))
		if !errors.Is(err, page.ErrLogin) || (log.Len() > 0) != logged || bytes.Contains(log.Bytes(), []byte("0101302989")) {
			t.Errorf("%s: %v, log %q", code, err, log)
		}
	}
	l, log := loginsOf(t, nil)
	if err := l.meaning(login.ErrForeign); !errors.Is(err, page.ErrForeignAnswer) || log.Len() > 0 {
		t.Errorf("%v, log %q", err, log)
	}
	if err := l.meaning(login.ErrMethod); !errors.Is(err, page.ErrRefusedLogin) || log.Len() == 0 {
		t.Errorf("%v, log %q", err, log)
	}
}

// Without a [login] links lead to a page that says so.
func TestSigningPageWithoutLogin(t *testing.T) {
	testenv.Slow(t, "people log in at a provider")
	t.Parallel()
	p := startPages(t, "")
	made := p.invite(t)
	if _, err := p.stop(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(p.folder, "innsigli.toml")
	rest, _, found := strings.Cut(string(mustRead(t, file)), "[login]")
	if !found {
		t.Fatal(rest)
	}
	p.write(t, "innsigli.toml", []byte(rest))
	p.run(t)
	v := newVisitor(t)
	v.open(made.link(0))
	v.sees(http.StatusOK, documentName, "the service is not connected to electronic IDs")
	if strings.Contains(v.page, "<form") || !strings.Contains(p.logs(), "there is no [login]") {
		t.Error(v.page, p.logs())
	}
}
