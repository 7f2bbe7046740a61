package simulated_test

import (
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/simulated"
)

// Whatever a store gives back, it is answered or refused.
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

func TestOtherMethods(t *testing.T) {
	p := open(t, simulated.Options{})
	if _, event, err := p.Begin(t.Context(), "key", idp.Person{Method: "Fax", Kennitala: "1203894569"}, idp.Text{}, nil); err == nil {
		t.Errorf("Begin: %T, %v", event, err)
	}
}
