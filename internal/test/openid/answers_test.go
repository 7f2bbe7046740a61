package openid_test

import (
	"crypto"
	"crypto/rsa"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

func refusal(code, description string) *openidtest.Refusal {
	return &openidtest.Refusal{Code: code, Description: description}
}

func failure(code, description string) fields {
	return fields{"error": code, "error_description": description}
}

func TestRefusedRequests(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{Pin: "login_hint"})
	p.Person(jon(t))
	p.Person(openidtest.Person{Kennitala: "0102302979", Name: "Símalaus"})
	blocked := openidtest.Answer{AtStart: refusal("access_denied", "mssp_402")}
	p.Person(openidtest.Person{Kennitala: "0103302969", Answer: blocked})

	for name, test := range map[string]struct {
		change fields // of a request of Jón's that is good
		want   fields
	}{
		"an unknown person":   {fields{"login_hint": "0104302959"}, failure("access_denied", "audkenni_404")},
		"no phone":            {fields{"login_hint": "0102302979"}, failure("access_denied", "audkenni_400")},
		"of their own":        {fields{"login_hint": "0103302969", "acr_values": "app-sign"}, failure("access_denied", "mssp_402")},
		"no content":          {fields{"binding_content": ""}, failure("access_denied", "mssp_102")},
		"no digest":           {fields{"binding_content": "aGFzaA=="}, failure("access_denied", "mssp_103")},
		"base64url":           {fields{"binding_content": strings.Repeat("_", 43)}, failure("access_denied", "mssp_103")},
		"not the device":      {fields{"acr_values": "app-sign-with-certificate"}, failure("access_denied", "mssp_422")},
		"a long message":      {fields{"binding_message": strings.Repeat("ð", 61)}, failure("invalid_binding_message", "at most 60 characters, none of them a control character")},
		"a line":              {fields{"binding_message": "a\nb"}, failure("invalid_binding_message", "at most 60 characters, none of them a control character")},
		"a longer message":    {fields{"binding_message_long": strings.Repeat("ð", 201)}, failure("access_denied", "mssp_103")},
		"an unknown kind":     {fields{"acr_values": "nexus"}, failure("invalid_request", "unknown acr_values")},
		"another audience":    {fields{"aud": "https://example.is"}, failure("invalid_request", "Request Object claims are invalid")},
		"no time of issuance": {fields{"iat": nil}, failure("invalid_request", "Request Object is missing the 'iat' claim")},
	} {
		t.Run(name, func(t *testing.T) {
			request := sign("sim-sign-pkcs1", "6990001", crypto.SHA256)
			for claim, value := range test.change {
				request[claim] = value
			}
			status, got := ask(t, p, request)
			if diff := cmp.Diff(test.want, got); status != http.StatusBadRequest || diff != "" {
				t.Errorf("%d, %s", status, diff)
			}
		})
	}
}

func TestRefusalsOnThePhone(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{})
	person := jon(t)
	person.Answers = map[string]openidtest.Answer{
		"app-sign":       {Error: refusal("access_denied", "mssp_401")},
		"sim-sign-pkcs1": {Error: refusal("server_error", "mssp_900")},
	}
	p.Person(person)
	for acr, want := range map[string]fields{
		"app-sign":       failure("access_denied", "mssp_401"),
		"sim-sign-pkcs1": failure("server_error", "mssp_900"),
	} {
		id := asked(t, p, sign(acr, person.Phone, crypto.SHA256))
		if _, got := poll(t, p, id); !cmp.Equal(want, got) {
			t.Errorf("%s: %s", acr, cmp.Diff(want, got))
		}
		if _, got := poll(t, p, id); got["error"] != "invalid_grant" {
			t.Errorf("%s, asked twice: %v", acr, got)
		}
	}
	approved(t, p, fields{"login_hint": person.Kennitala, "acr_values": "app-certificate-choice"})
}

func TestOtherAnswers(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{})
	person := jon(t)
	person.Answer = openidtest.Answer{WrongSignature: true, Claims: map[string]any{"certificate": "na"}}
	p.Person(person)
	got := approved(t, p, sign("app-sign", person.Kennitala, crypto.SHA512))
	if err := rsa.VerifyPKCS1v15(&openidtest.RSAKey().PublicKey, crypto.SHA512, digest(crypto.SHA512), decoded(t, got["signature"])); err == nil {
		t.Error("the signature is right")
	}
	if got["certificate"] != "na" {
		t.Errorf("certificate: %v", got["certificate"])
	}
	person.Answer = openidtest.Answer{}
	person.Certificate = certificate(t).Raw // renewed
	p.Person(person)
	if got := approved(t, p, sign("app-sign", person.Kennitala, crypto.SHA512)); got["certificate"] != encoded(person.Certificate) {
		t.Error("the certificate is the one of before")
	}
}

// A person who says nothing may change their mind.
func TestSilence(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{OneAtATime: true, Interval: 30 * time.Second, SlowDowns: 1})
	person := jon(t)
	person.Answer = openidtest.Answer{Silent: true}
	p.Person(person)
	request := sign("app-sign", person.Kennitala, crypto.SHA512)
	status, got := ask(t, p, request)
	if status != http.StatusOK || got["interval"] != 30.0 || got["expires_in"] != 600.0 {
		t.Fatalf("%d, %v", status, got)
	}
	id := got["auth_req_id"].(string)
	for _, want := range []string{"authorization_pending", "slow_down", "authorization_pending"} {
		if _, got := poll(t, p, id); got["error"] != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
	if _, got := ask(t, p, request); got["error_description"] != "mssp_406" {
		t.Errorf("asked twice: %v", got)
	}
	person.Answer = openidtest.Answer{}
	p.Person(person)
	checkPKCS1(t, crypto.SHA512, info(t, p, granted(t, p, id))["signature"])
}

// A person who has not answered in time may be asked again.
func TestRequestsExpire(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{OneAtATime: true})
	person := jon(t)
	person.Answer = openidtest.Answer{Silent: true}
	p.Person(person)
	request := sign("app-sign", person.Kennitala, crypto.SHA512)
	request["requested_expiry"] = "1"
	id := asked(t, p, request)
	testenv.Wait(t, "the end of the request", func() bool { _, got := poll(t, p, id); return got["error"] == "expired_token" })
	asked(t, p, request)
}

func TestAnswersAfterAWhile(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{})
	person := jon(t)
	person.Answer = openidtest.Answer{Delay: 200 * time.Millisecond}
	p.Person(person)
	before := time.Now()
	id := asked(t, p, sign("app-sign", person.Kennitala, crypto.SHA512))
	testenv.Wait(t, "an answer", func() bool { status, _ := poll(t, p, id); return status == http.StatusOK })
	if after := time.Now(); after.Before(before.Add(person.Answer.Delay)) {
		t.Errorf("asked at %v and answered at %v", before, after)
	}
}
