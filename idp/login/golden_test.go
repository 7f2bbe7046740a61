package login_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp/ciba"
	"github.com/innsigli/innsigli/idp/login"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// States are encoded as the golden file has them, and are read, as are those of before Tokens.AuthReqID.
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
	reads(t, golden["browser"], browser)
	reads(t, golden["phone"], phone)

	var earlier map[string]json.RawMessage
	text, err := os.ReadFile("testdata/states-1.golden.json")
	if err == nil {
		err = json.Unmarshal(text, &earlier)
	}
	if err != nil {
		t.Fatal(err)
	}
	phone.Tokens.AuthReqID = ""
	reads(t, earlier["browser"], browser)
	reads(t, earlier["phone"], phone)
}

// reads fails the test unless a value is read from JSON.
func reads[T any](t *testing.T, encoded []byte, want T) {
	t.Helper()
	var got T
	err := json.Unmarshal(encoded, &got)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v, -want +got:\n%s", err, diff)
	}
}
