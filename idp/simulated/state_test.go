package simulated_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/simulated"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// FuzzState checks that a State of any content has either an event or an error.
func FuzzState(f *testing.F) {
	p := open(f, simulated.Options{Seed: seed})
	for _, method := range []idp.Method{idp.App, idp.SIM} {
		state, _, err := p.Begin(f.Context(), "key", idp.Person{Method: method, Kennitala: "1203894569"}, idp.Text{}, nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(state.Public)
		state, _, err = p.Sign(f.Context(), state, []ades.Digest{digest})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(state.Public)
	}
	f.Add([]byte(`{"certificates":[""],"digests":[{}]}`))
	f.Fuzz(func(t *testing.T, public []byte) {
		state := idp.State{Provider: "simulated", Version: 1, Key: "key", Public: public, Expires: time.Now().Add(time.Hour)}
		_, polled, err := p.Poll(t.Context(), state)
		if (polled == nil) != (err != nil) {
			t.Errorf("Poll: %T, %v", polled, err)
		}
		_, asked, err := p.Sign(t.Context(), state, []ades.Digest{digest})
		if (asked == nil) != (err != nil) {
			t.Errorf("Sign: %T, %v", asked, err)
		}
	})
}

func TestUnknownMethod(t *testing.T) {
	p := open(t, simulated.Options{})
	if _, event, err := p.Begin(t.Context(), "key", idp.Person{Method: "Fax", Kennitala: "1203894569"}, idp.Text{}, nil); err == nil {
		t.Errorf("Begin: %T, %v", event, err)
	}
}

// TestGoldenLogin checks that a LoginState is encoded as in version 1, and decoded.
func TestGoldenLogin(t *testing.T) {
	now := time.Date(2026, 3, 2, 10, 0, 0, 123456789, time.UTC)
	want := simulated.LoginState{
		Person: idp.Person{Account: "account", Method: idp.SIM, Kennitala: "0101302989", Phone: "5550101"},
		Code:   "0042", Answers: now, Expires: now.Add(simulated.LoginExpiry),
	}
	testenv.Filled(t, want)
	encoded, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got simulated.LoginState
	golden := testenv.SameAsGoldenJSON(t, "testdata/login-1.golden.json", map[string][]byte{"login": encoded})
	err = json.Unmarshal(golden["login"], &got)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v, -want +got:\n%s", err, diff)
	}
}
