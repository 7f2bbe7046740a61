package simulated_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/simulated"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// A state of a login that version 1 stored is encoded the same way, and is read.
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
