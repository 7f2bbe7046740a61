package login_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp/ciba"
	"github.com/innsigli/innsigli/idp/login"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

// pollUntilAnswer polls until there is an answer. It stores the state between polls.
func pollUntilAnswer(t *testing.T, p *login.Phone, s login.PhoneState) (state login.PhoneState, identity *login.Identity, err error) {
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

// beginPhone begins a login on a phone.
func beginPhone(t *testing.T, p *login.Phone, hint string) login.PhoneState {
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
		answer openidtest.Answer
		claims login.ClaimRules
		want   error
	}{
		"at once":           {},
		"a moment later":    {answer: openidtest.Answer{Delay: 300 * time.Millisecond}},
		"by a method":       {claims: login.ClaimRules{Methods: []string{"app-auth"}}},
		"by another method": {claims: login.ClaimRules{Methods: []string{"sim-auth"}}, want: login.ErrMethod},
		"not as requested":  {answer: openidtest.Answer{IDToken: map[string]any{"acr": "sim-auth"}}, want: login.ErrMethod},
		"of no method":      {answer: openidtest.Answer{IDToken: map[string]any{"acr": nil}}, want: login.ErrMethod},
		"in another form":   {answer: claims(map[string]any{"nationalRegisterId": "PNOIS-010130-2989"})},
		"in another claim":  {answer: claims(map[string]any{"nationalRegisterId": "na", "name": kennitala}), claims: login.ClaimRules{Kennitala: "name"}},
		"without kennitala": {answer: claims(map[string]any{"nationalRegisterId": "na"}), want: login.ErrNoKennitala},
	} {
		t.Run(name, func(t *testing.T) {
			p.Person(person(test.answer))
			phone := newPhone(t, login.PhoneOptions{Client: client, ACR: "app-auth", Claims: test.claims})
			_, identity, err := pollUntilAnswer(t, phone, beginPhone(t, phone, kennitala))
			if !errors.Is(err, test.want) || test.want == nil && identity.Kennitala != kennitala {
				t.Errorf("%+v, %v", identity, err)
			}
		})
	}
}

func TestPhoneRefused(t *testing.T) {
	p, client := start(t, openidtest.Options{})
	p.Person(person(openidtest.Answer{Error: &openidtest.Refusal{Code: "access_denied", Description: "mssp_401"}}))
	phone := newPhone(t, login.PhoneOptions{Client: client, ACR: "sim-auth"})
	_, identity, err := pollUntilAnswer(t, phone, beginPhone(t, phone, "5550101"))
	var refused *ciba.Error
	if !errors.As(err, &refused) || identity != nil {
		t.Fatalf("%+v, %v", identity, err)
	}
	if d := cmp.Diff(ciba.Error{Status: 400, Code: "access_denied", Description: "mssp_401"}, *refused); d != "" {
		t.Error(d)
	}
}

// TestPhoneExpires checks that the error is the same whether the local clock or the provider finds the expiry.
func TestPhoneExpires(t *testing.T) {
	p, client := start(t, openidtest.Options{Expires: time.Second})
	p.Person(person(openidtest.Answer{Silent: true}))
	phone := newPhone(t, login.PhoneOptions{Client: client, ACR: "app-auth"})
	ours := beginPhone(t, phone, kennitala)
	theirs := ours
	ours.Expires, theirs.Expires = time.Now(), time.Now().Add(time.Hour)
	for name, state := range map[string]login.PhoneState{"ours": ours, "the provider's": theirs} {
		if _, identity, err := pollUntilAnswer(t, phone, state); !errors.Is(err, login.ErrExpired) {
			t.Errorf("%s: %+v, %v", name, identity, err)
		}
	}
}

// TestPhoneUnknownPerson checks that Begin refuses an unknown person, and that its error does not name the person.
func TestPhoneUnknownPerson(t *testing.T) {
	_, client := start(t, openidtest.Options{})
	phone := newPhone(t, login.PhoneOptions{Client: client, ACR: "sim-auth"})
	_, err := phone.Begin(t.Context(), "0000000000")
	if err == nil {
		t.Fatal("an unknown person was asked")
	}
	if d := cmp.Diff(`ciba: the provider answered with status 400: "access_denied"`, err.Error()); d != "" {
		t.Error(d)
	}
}

// TestPhoneShowsTheCode checks the text on the phone.
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
			state := beginPhone(t, newPhone(t, test.options), kennitala)
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

// TestPhoneRepeatsClaims checks that Poll reads the claims again after a fault, without requesting the tokens again.
func TestPhoneRepeatsClaims(t *testing.T) {
	p, client := start(t, openidtest.Options{})
	phone := newPhone(t, login.PhoneOptions{Client: client, ACR: "app-auth"})
	state := beginPhone(t, phone, kennitala)
	p.Fault(openidtest.Fault{Endpoint: openidtest.UserInfo, Status: 502})
	state, identity, err := pollUntilAnswer(t, phone, state)
	var fault *ciba.TransportError
	if !errors.As(err, &fault) || identity != nil {
		t.Fatalf("%+v, %v", identity, err)
	}
	p.Restart()
	state.Expires = time.Now().Add(-time.Hour) // concerns only the request of tokens
	if _, identity, err = pollUntilAnswer(t, phone, state); err != nil || identity.Kennitala != kennitala {
		t.Errorf("%+v, %v", identity, err)
	}
}

// TestPhoneSlowsDown checks that slow_down increases the interval by 5 seconds for all further polls (CIBA Core 11).
func TestPhoneSlowsDown(t *testing.T) {
	p, client := start(t, openidtest.Options{Interval: 30 * time.Second, SlowDowns: 1})
	p.Person(person(openidtest.Answer{Silent: true}))
	phone := newPhone(t, login.PhoneOptions{Client: client, ACR: "app-auth"})
	state := beginPhone(t, phone, kennitala)
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

// TestGoldenStates checks that states are encoded as in the golden file, and that they are decoded, as are those of
// before Tokens.AuthReqID.
func TestGoldenStates(t *testing.T) {
	now := time.Date(2026, 3, 2, 10, 0, 0, 123456789, time.UTC)
	browser := login.BrowserState{State: "state", Nonce: "nonce", Verifier: "verifier", Expires: now}
	phone := login.PhoneState{
		ID: "1c266114-a1be-4252-8ad1-04986c5b9ac1", Code: "0042", Interval: 5 * time.Second, Expires: now,
		Tokens: &ciba.Tokens{Access: "access", ID: "header.claims.signature", Received: now.Truncate(time.Second), AuthReqID: "1c266114-a1be-4252-8ad1-04986c5b9ac1"},
	}
	made := make(map[string][]byte)
	for name, state := range map[string]any{"browser": browser, "phone": phone} {
		testenv.Filled(t, state)
		encoded, err := json.Marshal(state)
		if err != nil {
			t.Fatal(err)
		}
		made[name] = encoded
	}
	golden := testenv.SameAsGoldenJSON(t, "testdata/states-2.golden.json", made)
	checkDecoded(t, golden["browser"], browser)
	checkDecoded(t, golden["phone"], phone)

	var earlier map[string]json.RawMessage
	text, err := os.ReadFile("testdata/states-1.golden.json")
	if err == nil {
		err = json.Unmarshal(text, &earlier)
	}
	if err != nil {
		t.Fatal(err)
	}
	phone.Tokens.AuthReqID = ""
	checkDecoded(t, earlier["browser"], browser)
	checkDecoded(t, earlier["phone"], phone)
}

// checkDecoded decodes JSON and compares the value.
func checkDecoded[T any](t *testing.T, encoded []byte, want T) {
	t.Helper()
	var got T
	err := json.Unmarshal(encoded, &got)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v, -want +got:\n%s", err, diff)
	}
}
