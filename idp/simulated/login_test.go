package simulated_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/simulated"
)

// logIn has a person log in, and returns the time that it took and the result. It stores the state between calls.
func logIn(t *testing.T, l *simulated.Login, p idp.Person) (took time.Duration, who *simulated.Identity, err error) {
	t.Helper()
	began := time.Now()
	state, err := l.Begin(t.Context(), p)
	for err == nil && who == nil {
		if len(state.Code) != 4 {
			t.Fatalf("the code is %q", state.Code)
		}
		text, failed := json.Marshal(state)
		state = simulated.LoginState{}
		if failed = errors.Join(failed, json.Unmarshal(text, &state)); failed != nil {
			t.Fatal(failed)
		}
		if who, err = l.Poll(t.Context(), state); who == nil && err == nil {
			time.Sleep(time.Second)
		}
	}
	return time.Since(began), who, err
}

// TestLoginStatusCodes checks the table of the package comment for logins.
func TestLoginStatusCodes(t *testing.T) {
	const delay = 5 * time.Second
	for status, want := range map[string]struct {
		code idp.ErrorCode
		took time.Duration
	}{
		"105": {idp.UserNotFound, 0},
		"406": {idp.RequestInProgress, 0},
		"422": {idp.CertificateNotFound, 0},
		"208": {idp.TimeoutNoAnswer, delay},
		"401": {idp.UserCancelled, delay},
		"402": {idp.PinBlocked, delay},
		"403": {idp.CardBlocked, delay},
		"404": {idp.KeyNotFound, delay},
		"501": {idp.CertificateIsRevoked, delay},
		"504": {idp.ExpiredToken, simulated.LoginExpiry},
	} {
		for _, person := range []idp.Person{
			{Method: idp.App, Kennitala: "1203894" + status},
			{Method: idp.SIM, Phone: "+354 555 0" + status},
		} {
			t.Run(status+" "+string(person.Method), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					took, who, err := logIn(t, simulated.NewLogin(simulated.LoginOptions{Delay: delay}), person)
					refused := new(simulated.Refusal)
					if !errors.As(err, &refused) || refused.Code != want.code || who != nil || took != want.took {
						t.Errorf("after %v: %v, %v", took, who, err)
					}
				})
			})
		}
	}
}

func TestPeopleLogIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const delay = 3 * time.Second
		l := simulated.NewLogin(simulated.LoginOptions{Delay: delay, Name: simulated.Name})
		took, who, err := logIn(t, l, idp.Person{Method: idp.App, Kennitala: "120389-4569"})
		if err != nil || took != delay || who.Kennitala != "1203894569" || who.Name != simulated.Name("1203894569") {
			t.Errorf("by kennitala, after %v: %v, %v", took, who, err)
		}
		took, who, err = logIn(t, l, idp.Person{Method: idp.SIM, Phone: "555 0101"})
		if err != nil || took != delay || who.Kennitala != simulated.KennitalaOf("5550101") || who.Name != simulated.Name(who.Kennitala) {
			t.Errorf("by phone, after %v: %v, %v", took, who, err)
		}
	})
}

func TestLoginRefused(t *testing.T) {
	l := simulated.NewLogin(simulated.LoginOptions{})
	for _, p := range []idp.Person{{Method: idp.App, Kennitala: "12038945"}, {Method: idp.SIM, Phone: "55501"}, {Method: idp.SIM}, {Method: idp.App}} {
		_, err := l.Begin(t.Context(), p)
		if refused := new(simulated.Refusal); !errors.As(err, &refused) || refused.Code != idp.UserNotFound {
			t.Errorf("%+v: %v", p, err)
		}
	}
	if _, err := l.Begin(t.Context(), idp.Person{Method: "Fax", Kennitala: "1203894569"}); err == nil {
		t.Error("by fax")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Begin(ended, idp.Person{Method: idp.App, Kennitala: "1203894569"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := l.Poll(ended, simulated.LoginState{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestIdentify checks that on a page the same people answer immediately.
func TestIdentify(t *testing.T) {
	l := simulated.NewLogin(simulated.LoginOptions{})
	if who, err := l.Identify("120389-4569"); err != nil || who.Kennitala != "1203894569" || who.Name == "" {
		t.Errorf("%v, %v", who, err)
	}
	for kennitala, want := range map[string]idp.ErrorCode{"1203894401": idp.UserCancelled, "1203894504": idp.ExpiredToken, "": idp.UserNotFound, "<b>": idp.UserNotFound} {
		_, err := l.Identify(kennitala)
		if refused := new(simulated.Refusal); !errors.As(err, &refused) || refused.Code != want {
			t.Errorf("%q: %v", kennitala, err)
		}
	}
}

// TestKennitalaOf checks that each phone number has a valid kennitala of its own, in all spellings of the number.
func TestKennitalaOf(t *testing.T) {
	const want = "5550101"
	for _, written := range []string{"+354 555 0101", "555-0101", "00354 5550101"} {
		if got := simulated.KennitalaOf(written); got != simulated.KennitalaOf(want) {
			t.Errorf("%s: %s", written, got)
		}
	}
	for _, none := range []string{"", "555010", "a phone"} {
		if got := simulated.KennitalaOf(none); got != "" {
			t.Errorf("%q: %s", none, got)
		}
	}
	seen := make(map[string]bool)
	for n := range 2000 {
		number := []byte("5550000")
		for i, left := 6, n; left > 0; i, left = i-1, left/10 {
			number[i] += byte(left % 10)
		}
		kennitala := simulated.KennitalaOf(string(number))
		checkKennitala(t, kennitala)
		seen[kennitala] = true
	}
	if len(seen) < 1990 {
		t.Errorf("2000 numbers have %d kennitölur", len(seen))
	}
}

// checkKennitala checks the day, the serial number, which begins at 20, the check digit and the century.
func checkKennitala(t *testing.T, k string) {
	t.Helper()
	if len(k) != 10 || k[9] != '9' || k[6:8] < "20" {
		t.Fatalf("%q", k)
	}
	if _, err := time.Parse("020106", k[:6]); err != nil {
		t.Errorf("%s: %v", k, err)
	}
	sum := 0
	for i, weight := range []int{3, 2, 7, 6, 5, 4, 3, 2, 1} {
		sum += weight * int(k[i]-'0')
	}
	if sum%11 != 0 {
		t.Errorf("%s: the check digit is wrong", k)
	}
}

// TestName checks that names are made up and always the same.
func TestName(t *testing.T) {
	seen := make(map[string]bool)
	for _, kennitala := range []string{"0101302989", "1203894569", "0101302990", "1203894570", "1203894571", "1203894572"} {
		name := simulated.Name(kennitala)
		if name != simulated.Name(kennitala) || !strings.Contains(name, " Prufu") {
			t.Errorf("%s: %s", kennitala, name)
		}
		seen[name] = true
	}
	if len(seen) < 2 {
		t.Errorf("%v", seen)
	}
}
