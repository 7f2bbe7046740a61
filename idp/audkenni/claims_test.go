package audkenni_test

import (
	"crypto/elliptic"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/audkenni"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

// TestClaims checks that answers with claims of another person, or with unusable claims, are failures.
func TestClaims(t *testing.T) {
	testenv.Slow(t, "each claim takes a conversation")
	p := openidtest.Start(t, openidtest.Options{})
	provider, _ := open(t, p, audkenni.Options{})
	lax, _ := open(t, p, audkenni.Options{AnyName: true})

	type claims = map[string]any
	encoded := base64.StdEncoding.EncodeToString
	all := []string{choice, appSign, simSign}
	app, value := []string{choice, appSign}, []string{appSign, simSign}
	const ok = idp.ErrorCode("")
	for _, test := range []struct {
		name   string
		in     []string // the answers
		claims func(openidtest.Person) claims
		any    bool // AnyName
		want   idp.ErrorCode
	}{
		{"nothing unusual", all, func(openidtest.Person) claims { return nil }, false, ok},
		{"a kennitala with a hyphen", all, func(p openidtest.Person) claims {
			return claims{"nationalRegisterId": p.Kennitala[:6] + "-" + p.Kennitala[6:]}
		}, false, ok},
		{"a kennitala as in EN 319 412-1", all, func(p openidtest.Person) claims {
			return claims{"nationalRegisterId": "PNOIS-" + p.Kennitala}
		}, false, ok},
		{"no kennitala but in the certificate", all, func(openidtest.Person) claims { return claims{"nationalRegisterId": "na"} }, false, ok},
		{"another's kennitala", all, func(openidtest.Person) claims {
			return claims{"nationalRegisterId": "0101302989"}
		}, false, idp.CertificateValidationError},
		{"another's certificate", all, func(openidtest.Person) claims {
			return claims{"certificate": encoded(newPerson(t).Certificate)}
		}, false, idp.CertificateValidationError},
		{"another's name", all, func(openidtest.Person) claims { return claims{"name": "Jón Prófmaður"} }, false, idp.CertificateValidationError},
		{"a name that may be any", all, func(openidtest.Person) claims { return claims{"name": "Jón Prófmaður"} }, true, ok},
		{"no name", all, func(openidtest.Person) claims { return claims{"name": "na"} }, false, ok},
		{"no certificate", all, func(openidtest.Person) claims { return claims{"certificate": "na"} }, false, idp.CertificateNotFound},
		{"an empty certificate", all, func(openidtest.Person) claims { return claims{"certificate": ""} }, false, idp.CertificateNotFound},
		{"a certificate that is no text", all, func(openidtest.Person) claims { return claims{"certificate": 7} }, false, idp.CertificateNotFound},
		{"a certificate that is no base64", all, func(openidtest.Person) claims { return claims{"certificate": "n/a"} }, false, idp.CertificateValidationError},
		{"a certificate that is none", all, func(openidtest.Person) claims { return claims{"certificate": "bmE="} }, false, idp.CertificateValidationError},
		{"a certificate that is cut off", all, func(p openidtest.Person) claims {
			return claims{"certificate": encoded(p.Certificate[:len(p.Certificate)-1])}
		}, false, idp.CertificateValidationError},
		{"a certificate for a key that cannot sign so", all, func(p openidtest.Person) claims {
			return claims{"certificate": encoded(certificate(t, p.Name, p.Kennitala, certtest.NewKey(t, elliptic.P256()), time.Now()).Raw)}
		}, false, idp.CertificateValidationError},
		{"a certificate as in EN 319 412-1", []string{simSign}, func(p openidtest.Person) claims {
			return claims{"certificate": encoded(certificate(t, p.Name, "PNOIS-"+p.Kennitala, p.Key, time.Now()).Raw)}
		}, false, ok},
		{"another's certificate as in EN 319 412-1", all, func(p openidtest.Person) claims {
			return claims{"certificate": encoded(certificate(t, p.Name, "PNOIS-0101302989", p.Key, time.Now()).Raw)}
		}, false, idp.CertificateValidationError},
		{"another certificate of the person", app[1:], func(p openidtest.Person) claims {
			return claims{"certificate": encoded(certificate(t, p.Name, p.Kennitala, p.Key, time.Now()).Raw)}
		}, false, idp.CertificateValidationError},
		{"a certificate whose key has not signed", []string{simSign}, func(p openidtest.Person) claims {
			key, err := renewedKey()
			if err != nil {
				t.Fatal(err)
			}
			return claims{"certificate": encoded(certificate(t, p.Name, p.Kennitala, key, time.Now()).Raw)}
		}, false, idp.SignatureVerificationError},
		{"no signature", value, func(openidtest.Person) claims { return claims{"signature": "na"} }, false, idp.SignatureVerificationError},
		{"a signature that is no base64", value, func(openidtest.Person) claims { return claims{"signature": "?"} }, false, idp.SignatureVerificationError},
		{"a signature of something else", []string{simSign}, func(openidtest.Person) claims { return claims{"signature": "bmE="} }, false, idp.SignatureVerificationError},
		{"line breaks in base64", all, func(p openidtest.Person) claims {
			s := encoded(p.Certificate)
			return claims{"certificate": "\n" + s[:64] + "\r\n" + s[64:] + "\n"}
		}, false, ok},
		{"no device", app, func(openidtest.Person) claims { return claims{"documentNr": "na"} }, false, ok},
	} {
		for _, acr := range test.in {
			t.Run(test.name+" in "+acr, func(t *testing.T) {
				person := newPerson(t)
				person.Answers = map[string]openidtest.Answer{acr: {Claims: test.claims(person)}}
				p.Person(person)
				method, provider := idp.App, provider
				if strings.HasPrefix(acr, "sim") {
					method = idp.SIM
				}
				if test.any {
					provider = lax
				}
				c := begin(t, provider, named(person, method), nil).run()
				if test.want == ok {
					c.verify()
					return
				}
				f := c.failure()
				if f.Code != test.want || f.OAuth != "" || f.Description == "" {
					t.Errorf("want %s in our own words, got %+v", test.want, f)
				}
			})
		}
	}
}

// TestClaimsWithCMS checks that with a CMS only the person's claims are checked. The caller verifies the CMS.
func TestClaimsWithCMS(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{})
	provider, _ := open(t, p, audkenni.Options{SIM: audkenni.SIMOptions{CMS: true}})
	for _, test := range []struct {
		name   string
		claims map[string]any
		want   idp.Failure
	}{
		{"no CMS", map[string]any{"signature": "na"}, idp.Failure{Code: idp.SignatureVerificationError, Description: "The identity provider gave no signature."}},
		{"another's", map[string]any{"nationalRegisterId": "0101302989"}, idp.Failure{Code: idp.CertificateValidationError, Description: "The identity provider's answer is about another person."}},
	} {
		t.Run(test.name, func(t *testing.T) {
			person := newPerson(t)
			person.Answer.Claims = test.claims
			p.Person(person)
			if diff := cmp.Diff(test.want, begin(t, provider, named(person, idp.SIM), nil).run().failure()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestUntrustedIDTokens checks that an ID token about another person than the userinfo, with a further audience, or for
// another request is a failure.
func TestUntrustedIDTokens(t *testing.T) {
	testenv.Slow(t, "each claim takes a conversation")
	p := openidtest.Start(t, openidtest.Options{})
	provider, _ := open(t, p, audkenni.Options{})
	for name, test := range map[string]struct {
		claims map[string]any
		want   idp.ErrorCode
	}{
		"no kennitala":            {map[string]any{"nationalRegisterId": "na"}, ""},
		"another kennitala":       {map[string]any{"nationalRegisterId": "0101302989"}, idp.CertificateValidationError},
		"another subject":         {map[string]any{"sub": "another"}, idp.InternalError},
		"another audience beside": {map[string]any{"aud": []string{p.ClientID, "another"}}, idp.InternalError},
		"another request":         {map[string]any{"urn:openid:params:jwt:claim:auth_req_id": "another"}, idp.InternalError},
	} {
		for _, acr := range []string{choice, appSign, simSign} {
			t.Run(name+" in "+acr, func(t *testing.T) {
				person := newPerson(t)
				person.Answers = map[string]openidtest.Answer{acr: {IDToken: test.claims}}
				p.Person(person)
				method := idp.App
				if strings.HasPrefix(acr, "sim") {
					method = idp.SIM
				}
				c := begin(t, provider, named(person, method), nil).run()
				if test.want == "" {
					c.verify()
				} else if f := c.failure(); f.Code != test.want {
					t.Errorf("want %s, got %+v", test.want, f)
				}
			})
		}
	}
}

// TestIDTokenNamesTheRequest checks that an ID token with the auth_req_id of the request is accepted, also from a
// stored State.
func TestIDTokenNamesTheRequest(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{})
	provider, _ := open(t, p, audkenni.Options{})
	person := newPerson(t)
	person.Answer = openidtest.Answer{Silent: true}
	p.Person(person)
	c := begin(t, provider, named(person, idp.App), nil)
	asked := p.Asked()
	person.Answers = map[string]openidtest.Answer{
		choice:  {IDToken: map[string]any{"urn:openid:params:jwt:claim:auth_req_id": asked[len(asked)-1].ID}},
		appSign: {},
	}
	p.Person(person)
	c.run().verify()
}
