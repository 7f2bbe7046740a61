package simulated_test

import (
	"crypto"
	"crypto/x509"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/simulated"
)

// ask has a conversation with a person, and says when it ended and how.
func ask(t *testing.T, p *simulated.Provider, person idp.Person) (took time.Duration, certificate *x509.Certificate, end idp.Event) {
	t.Helper()
	began := time.Now()
	state, event, err := p.Begin(t.Context(), "key", person, idp.Text{}, nil)
	for err == nil {
		switch e := event.(type) {
		case idp.NeedDigest:
			certificate = e.Certificate
			state, event, err = p.Sign(t.Context(), state, []ades.Digest{digest})
		case idp.Waiting:
			time.Sleep(max(e.RetryAfter, time.Second))
			state, event, err = p.Poll(t.Context(), state)
		default:
			return time.Since(began), certificate, event
		}
	}
	t.Fatal(err)
	return 0, nil, nil
}

var digest = ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.ECDSA}.Digest([]byte("a document"))

// The table of the package comment.
func TestStatusCodes(t *testing.T) {
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
		"504": {idp.ExpiredToken, simulated.Expiry},
	} {
		for _, person := range []idp.Person{
			{Method: idp.App, Kennitala: "1203894" + status, Phone: "5550101"},
			{Method: idp.SIM, Kennitala: "1203894569", Phone: "+354 555 0" + status},
		} {
			t.Run(status+" "+string(person.Method), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					took, _, end := ask(t, open(t, simulated.Options{Delay: delay}), person)
					failed, ok := end.(idp.Failed)
					if !ok || failed.Code != want.code || took != want.took {
						t.Errorf("%+v after %v, want %s after %v", end, took, want.code, want.took)
					}
					if words := "mssp_" + status; status != "504" && (failed.Description != words || failed.OAuth != "access_denied") {
						t.Errorf("the provider's words are %+v, want %s", failed.Failure, words)
					}
				})
			})
		}
	}
}

// Only the kennitala counts with the app, only the phone with the SIM.
func TestDigitsOfTheOtherMethodChooseNothing(t *testing.T) {
	for _, person := range []idp.Person{
		{Method: idp.App, Kennitala: "120389-4569", Phone: "5550401"},
		{Method: idp.SIM, Kennitala: "1203894401", Phone: "5550101"},
		{Method: idp.SIM, Kennitala: "1203894569", Phone: ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			if _, certificate, end := ask(t, open(t, simulated.Options{}), person); certificate == nil {
				t.Errorf("%s: %+v", person.Method, end)
			} else if _, signed := end.(idp.Signed); !signed {
				t.Errorf("%s: %+v", person.Method, end)
			}
		})
	}
}

func TestNobodyHasAnotherKennitala(t *testing.T) {
	p := open(t, simulated.Options{})
	for _, kennitala := range []string{"", "120389456", "12038945691", "120389456x", "１２０３８９４５６９", "+203894569"} {
		_, event, err := p.Begin(t.Context(), "key", idp.Person{Method: idp.App, Kennitala: kennitala}, idp.Text{}, nil)
		if failed, ok := event.(idp.Failed); !ok || failed.Code != idp.UserNotFound || err != nil {
			t.Errorf("%q: %+v, %v", kennitala, event, err)
		}
	}
}

// What the person's key cannot sign is refused before anybody is asked.
func TestDigestsThatCannotBeSigned(t *testing.T) {
	p := open(t, simulated.Options{})
	state, _, err := p.Begin(t.Context(), "key", idp.Person{Method: idp.SIM, Kennitala: "1203894569"}, idp.Text{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, digests := range map[string][]ades.Digest{
		"none":              nil,
		"of RSA":            {{Algorithm: ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.PKCS1v15}, Sum: digest.Sum}},
		"of no hash":        {{Algorithm: ades.Algorithm{Scheme: ades.ECDSA}, Sum: digest.Sum}},
		"of another length": {{Algorithm: digest.Algorithm, Sum: digest.Sum[1:]}},
		"the second is bad": {digest, {}},
	} {
		if _, event, err := p.Sign(t.Context(), state, digests); err == nil {
			t.Errorf("%s: %T", name, event)
		}
	}
}
