package openid_test

import (
	"crypto"
	"net/http"
	"slices"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

// A restart between any two steps changes nothing, nor does one while a phone rings.
func TestARestartForgetsNothing(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{})
	person := jon(t)
	person.Answer = openidtest.Answer{Delay: time.Second}
	p.Person(person)
	issuer := p.Issuer
	id := asked(t, p, sign("sim-sign-pkcs1", person.Phone, crypto.SHA256))
	p.Restart()
	var tokens fields
	testenv.Wait(t, "an answer", func() bool {
		var status int
		status, tokens = poll(t, p, id)
		return status == http.StatusOK
	})
	keys := keyIDs(t, p)
	p.Stop()
	if _, err := http.Get(p.Discovery); err == nil {
		t.Error("a stopped provider answers")
	}
	p.Go()
	checkPKCS1(t, crypto.SHA256, info(t, p, tokens)["signature"])
	if _, got := poll(t, p, id); got["error"] != "invalid_grant" {
		t.Errorf("asked twice: %v", got)
	}
	if _, metadata := get(t, p.Discovery, ""); metadata["issuer"] != issuer || !slices.Equal(keyIDs(t, p), keys) {
		t.Errorf("another provider: %v", metadata)
	}
	if n := len(p.Asked()); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

// A provider knows nothing of the one before it, which may have been in the same process.
func TestProvidersAreApart(t *testing.T) {
	var discovery string
	t.Run("before", func(t *testing.T) {
		p := openidtest.Start(t, openidtest.Options{})
		person := jon(t)
		person.Answer = openidtest.Answer{Delay: time.Minute}
		p.Person(person)
		asked(t, p, sign("app-sign", person.Kennitala, crypto.SHA256))
		p.Fault(openidtest.Fault{Endpoint: openidtest.JWKS, Status: http.StatusInternalServerError})
		discovery = p.Discovery
	})
	if _, err := http.Get(discovery); err == nil {
		t.Error("the provider before still answers")
	}
	p := openidtest.Start(t, openidtest.Options{})
	if n := len(p.Asked()); n != 0 {
		t.Errorf("asked %d times", n)
	}
	if n := len(keyIDs(t, p)); n != 1 {
		t.Errorf("%d keys", n)
	}
	if known := p.Confidential(); !slices.Equal(known, []string{p.Secret}) {
		t.Errorf("it knows %q", known)
	}
}

func TestKeysRotate(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{})
	first := keyIDs(t, p)
	p.RotateKeys(true)
	both := keyIDs(t, p)
	if len(first) != 1 || len(both) != 2 || both[0] == first[0] || both[1] != first[0] {
		t.Errorf("%v after %v", both, first)
	}
	p.Person(jon(t))
	id := granted(t, p, asked(t, p, sign("app-sign", jon(t).Kennitala, crypto.SHA256)))["id_token"].(string)
	if got := tokenKey(t, id); got != both[0] {
		t.Errorf("signed by %s, not by the first of %v", got, both)
	}
	p.RotateKeys(false)
	if only := keyIDs(t, p); len(only) != 1 || slices.Contains(both, only[0]) {
		t.Errorf("%v after %v", only, both)
	}
}

func keyIDs(t *testing.T, p *openidtest.Provider) []string {
	t.Helper()
	_, set := get(t, p.URL(openidtest.JWKS), "")
	var ids []string
	for _, key := range set["keys"].([]any) {
		ids = append(ids, key.(fields)["kid"].(string))
	}
	return ids
}
