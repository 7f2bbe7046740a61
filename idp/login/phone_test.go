package login_test

import (
	"encoding/base64"
	"errors"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp/ciba"
	"github.com/innsigli/innsigli/idp/login"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

// answered polls until there is an answer, through a store.
func answered(t *testing.T, p *login.Phone, s login.PhoneState) (state login.PhoneState, identity *login.Identity, err error) {
	t.Helper()
	state = s
	testenv.Wait(t, "the person's answer", func() bool {
		state, identity, err = p.Poll(t.Context(), stored(t, state))
		return identity != nil || err != nil
	})
	return state, identity, err
}

func newPhone(t *testing.T, o login.PhoneOptions) *login.Phone {
	t.Helper()
	p, err := login.NewPhone(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func ring(t *testing.T, p *login.Phone, hint string) login.PhoneState {
	t.Helper()
	state, err := p.Begin(t.Context(), hint)
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func TestPhone(t *testing.T) {
	p, client := start(t, openidtest.Options{})
	claims := func(c map[string]any) openidtest.Answer { return openidtest.Answer{Claims: c} }
	for name, test := range map[string]struct {
		answer  openidtest.Answer
		reading login.Reading
		want    error
	}{
		"at once":           {},
		"a moment later":    {answer: openidtest.Answer{Delay: 300 * time.Millisecond}},
		"by a method":       {reading: login.Reading{Methods: []string{"app-auth"}}},
		"by another method": {reading: login.Reading{Methods: []string{"sim-auth"}}, want: login.ErrMethod},
		"in another form":   {answer: claims(map[string]any{"nationalRegisterId": "PNOIS-010130-2989"})},
		"in another claim":  {answer: claims(map[string]any{"nationalRegisterId": "na", "name": kennitala}), reading: login.Reading{Kennitala: "name"}},
		"without kennitala": {answer: claims(map[string]any{"nationalRegisterId": "na"}), want: login.ErrNoKennitala},
	} {
		t.Run(name, func(t *testing.T) {
			p.Person(person(test.answer))
			phone := newPhone(t, login.PhoneOptions{Client: client, ACR: "app-auth", Reading: test.reading})
			_, identity, err := answered(t, phone, ring(t, phone, kennitala))
			if !errors.Is(err, test.want) || test.want == nil && identity.Kennitala != kennitala {
				t.Errorf("%+v, %v", identity, err)
			}
		})
	}
}

func TestPhoneRefuses(t *testing.T) {
	p, client := start(t, openidtest.Options{})
	p.Person(person(openidtest.Answer{Error: &openidtest.Refusal{Code: "access_denied", Description: "mssp_401"}}))
	phone := newPhone(t, login.PhoneOptions{Client: client, ACR: "sim-auth"})
	_, identity, err := answered(t, phone, ring(t, phone, "5550101"))
	var refused *ciba.Error
	if !errors.As(err, &refused) || identity != nil {
		t.Fatalf("%+v, %v", identity, err)
	}
	if d := cmp.Diff(ciba.Error{Status: 400, Code: "access_denied", Description: "mssp_401"}, *refused); d != "" {
		t.Error(d)
	}
}

// Whose clock finds it, the error is the same.
func TestPhoneExpires(t *testing.T) {
	p, client := start(t, openidtest.Options{Expires: time.Second})
	p.Person(person(openidtest.Answer{Silent: true}))
	phone := newPhone(t, login.PhoneOptions{Client: client, ACR: "app-auth"})
	ours := ring(t, phone, kennitala)
	theirs := ours
	ours.Expires, theirs.Expires = time.Now(), time.Now().Add(time.Hour)
	for name, state := range map[string]login.PhoneState{"ours": ours, "the provider's": theirs} {
		if _, identity, err := answered(t, phone, state); !errors.Is(err, login.ErrExpired) {
			t.Errorf("%s: %+v, %v", name, identity, err)
		}
	}
}

// Who is not known is refused at once, and no text names whom it is about.
func TestPhoneOfNobody(t *testing.T) {
	_, client := start(t, openidtest.Options{})
	phone := newPhone(t, login.PhoneOptions{Client: client, ACR: "sim-auth"})
	_, err := phone.Begin(t.Context(), "0000000000")
	if err == nil {
		t.Fatal("somebody was asked")
	}
	if d := cmp.Diff(`ciba: the provider answers 400 "access_denied"`, err.Error()); d != "" {
		t.Error(d)
	}
}

// The code is on the phone.
func TestPhoneShowsTheCode(t *testing.T) {
	p, client := start(t, openidtest.Options{})
	content := base64.StdEncoding.EncodeToString(make([]byte, 64))
	for name, test := range map[string]struct {
		options login.PhoneOptions
		code    string // a regular expression
		text    func(code string) string
		content any
	}{
		"drawn":          {code: `^\d{4}$`, text: func(code string) string { return code }},
		"within a text":  {options: login.PhoneOptions{Text: "Innskráning: {code}"}, code: `^\d{4}$`, text: func(code string) string { return "Innskráning: " + code }},
		"of the content": {options: login.PhoneOptions{Text: "Innskráning", Code: func() (string, map[string]any, error) { return "4141", map[string]any{"binding_content": content}, nil }}, code: "^4141$", text: func(string) string { return "Innskráning" }, content: content},
	} {
		t.Run(name, func(t *testing.T) {
			test.options.Client, test.options.ACR = client, "app-auth"
			state := ring(t, newPhone(t, test.options), kennitala)
			if !regexp.MustCompile(test.code).MatchString(state.Code) {
				t.Errorf("the code is %q", state.Code)
			}
			asked := p.Asked()
			claims := asked[len(asked)-1].Claims
			if got := claims["binding_message"]; got != test.text(state.Code) {
				t.Errorf("the text is %q", got)
			}
			if d := cmp.Diff(test.content, claims["binding_content"]); d != "" {
				t.Error(d)
			}
		})
	}
}

// The answer is given once; what is lost on the way to the person's claims is not asked for
// again but read again.
func TestPhoneLosesAnAnswer(t *testing.T) {
	p, client := start(t, openidtest.Options{})
	phone := newPhone(t, login.PhoneOptions{Client: client, ACR: "app-auth"})
	state := ring(t, phone, kennitala)
	p.Fault(openidtest.Fault{Endpoint: openidtest.UserInfo, Status: 502})
	state, identity, err := answered(t, phone, state)
	var fault *ciba.TransportError
	if !errors.As(err, &fault) || identity != nil {
		t.Fatalf("%+v, %v", identity, err)
	}
	p.Restart()
	state.Expires = time.Now().Add(-time.Hour) // which is about asking
	if _, identity, err = answered(t, phone, state); err != nil || identity.Kennitala != kennitala {
		t.Errorf("%+v, %v", identity, err)
	}
}

// CIBA Core 11: the interval is longer by 5 seconds from then on.
func TestPhoneSlowsDown(t *testing.T) {
	p, client := start(t, openidtest.Options{Interval: 30 * time.Second, SlowDowns: 1})
	p.Person(person(openidtest.Answer{Silent: true}))
	phone := newPhone(t, login.PhoneOptions{Client: client, ACR: "app-auth"})
	state := ring(t, phone, kennitala)
	intervals := []time.Duration{state.Interval}
	for range 3 {
		var err error
		if state, _, err = phone.Poll(t.Context(), state); err != nil {
			t.Fatal(err)
		}
		intervals = append(intervals, state.Interval)
	}
	if d := cmp.Diff([]time.Duration{30 * time.Second, 30 * time.Second, 35 * time.Second, 35 * time.Second}, intervals); d != "" {
		t.Error(d)
	}
}
