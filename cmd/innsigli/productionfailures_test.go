package main

import (
	"crypto/x509"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

// failures are how each errorCode comes about: by what is wrong where that can be had, and else
// by the provider's word for it.
var failures = map[idp.ErrorCode]failure{
	idp.AuthorizationPending: {
		bySIM: true, answer: openidtest.Answer{Silent: true}, code: true,
		oauth: "authorization_pending", description: "authorization request is still pending as the end-user hasn't yet completed the user interaction steps",
	},
	idp.SlowDown: {
		bySIM: true, answer: openidtest.Answer{Error: &openidtest.Refusal{Code: "slow_down", Description: "Of tíð köll."}}, code: true,
		oauth: "slow_down", description: "Of tíð köll.",
	},

	idp.ExpiredToken:                  answers("expired_token", "Beiðnin rann út."),
	idp.AccessDenied:                  answers("access_denied", `Notandi hafnaði: <"&'> \`),
	idp.TimeoutNoAnswer:               answers("access_denied", "mssp_208"),
	idp.UserCancelled:                 answers("access_denied", "mssp_401"),
	idp.UserNotFound:                  {atStart: true, oauth: "access_denied", description: "audkenni_404", person: another},
	idp.UserHasNoPhone:                {atStart: true, oauth: "access_denied", description: "audkenni_400", bySIM: true, person: withoutPhone},
	idp.WrongVerificationCodeSelected: answers("access_denied", "mssp_601: rangur kóði"), // a row of the configuration
	idp.RequestInProgress:             {atStart: true, oauth: "access_denied", description: "mssp_406", answer: openidtest.Answer{Silent: true}, before: anotherRequest},
	idp.PinBlocked:                    answers("access_denied", "mssp_402"),
	idp.CardBlocked:                   answers("access_denied", "mssp_403"),
	idp.InternalErrorCheckApp:         answers("access_denied", "mssp_602"), // likewise

	idp.KeyNotFound:                answers("access_denied", "mssp_404"),
	idp.CertificateNotFound:        {description: "The identity provider gave no certificate.", answer: openidtest.Answer{Claims: map[string]any{"certificate": "na"}}},
	idp.CertificateIsRevoked:       {description: "The certificate is revoked.", person: revoked},
	idp.CertificateValidationError: {description: "The identity provider's answer is about another person.", person: ofAnother},
	idp.SignatureVerificationError: {description: "The signature does not belong to the document and the certificate.", answer: openidtest.Answer{WrongSignature: true}},

	idp.CommunicationError:        {atStart: true, description: "The identity provider could not be reached.", disturb: stopped},
	idp.SystemUnderMaintenance:    {atStart: true, description: "The identity provider is under maintenance.", disturb: maintained},
	idp.InternalError:             answers("server_error", "mssp_900"),
	idp.AuthorizationPartyUnknown: refused("access_denied", "InvalidClientId"),

	idp.InvalidRequest:          refused("invalid_request", "no such thing"),
	idp.InvalidClient:           {atStart: true, oauth: "invalid_client", description: "client authentication failed", disturb: otherSecret},
	idp.InvalidGrant:            {oauth: "invalid_grant", description: "grant request is invalid", disturb: answerLost},
	idp.UnauthorizedClient:      refused("unauthorized_client", "not for you"),
	idp.UnsupportedGrantType:    answers("unsupported_grant_type", "not by CIBA"),
	idp.IncorrectParameter:      refused("access_denied", "mssp_101"),
	idp.MissingParameter:        refused("access_denied", "mssp_102"),
	idp.WrongDataLength:         refused("access_denied", "mssp_103"),
	idp.UnableToHandleGivenData: answers("access_denied", "mssp_107"),
	idp.IncompatibleVersion:     answers("access_denied", "mssp_108"),
	idp.UnsupportedProfile:      refused("access_denied", "mssp_109"),
}

// unknownErrors are errors without an errorCode.
var unknownErrors = []failure{
	answers("access_denied", "mssp_699"),
	refused("access_denied", "audkenni_999: óþekkt"),
	answers("some_error", "Óþekkt villa."),
	answers("access_denied", "mssp_750"), // a row of the configuration goes before the table
}

// answers is an answer of the provider's to a poll.
func answers(oauth, description string) failure {
	return failure{oauth: oauth, description: description, answer: openidtest.Answer{Error: &openidtest.Refusal{Code: oauth, Description: description}}}
}

// refused is one to the start.
func refused(oauth, description string) failure {
	return failure{atStart: true, oauth: oauth, description: description, answer: openidtest.Answer{AtStart: &openidtest.Refusal{Code: oauth, Description: description}}}
}

// another: the provider knows another person instead.
func another(_ *testing.T, _ *production, one *openidtest.Person) {
	one.Kennitala += "0"
	one.Phone, one.Document = "", ""
}

func withoutPhone(_ *testing.T, _ *production, one *openidtest.Person) { one.Phone = "" }

// ofAnother: the certificate is another person's.
func ofAnother(t *testing.T, p *production, one *openidtest.Person) {
	one.Certificate = p.certificate(t, people[0], one.Key)
}

func revoked(t *testing.T, p *production, one *openidtest.Person) {
	cert, err := x509.ParseCertificate(one.Certificate)
	if err != nil {
		t.Fatal(err)
	}
	p.ca.Revoke(cert.SerialNumber, time.Now(), 1) // keyCompromise (RFC 5280 5.3.1)
}

// anotherRequest has rung the phone already, and the person has not answered.
func anotherRequest(t *testing.T, p *production, o order) {
	if a := p.order(t, o); a.Status != http.StatusOK {
		t.Fatalf("%s", a.Body)
	}
}

func stopped(_ *testing.T, p *production) (*production, func()) {
	p.provider.Stop()
	return p, p.provider.Go
}

func maintained(_ *testing.T, p *production) (*production, func()) {
	p.provider.Fault(openidtest.Fault{Endpoint: openidtest.Backchannel, Status: http.StatusServiceUnavailable})
	return p, func() {}
}

// answerLost: the connection breaks when the answer, which is given once, is on its way.
func answerLost(_ *testing.T, p *production) (*production, func()) {
	p.provider.Fault(openidtest.Fault{Endpoint: openidtest.Token, Handled: true})
	return p, func() {}
}

// otherSecret: the server's secret is not the one that the provider has.
func otherSecret(t *testing.T, p *production) (*production, func()) {
	other := p.beside(t, productionOptions{secret: "another"})
	return other, func() {}
}

// Every errorCode of spec 3.7 comes about in production, at the start or at a poll, and
// arrives in a body of four members, with the provider's own error and words. So does null, for
// an error that is not in the table.
func TestErrorCodesOfProduction(t *testing.T) {
	testenv.Slow(t, "people are asked at the pace of production")
	if diff := cmp.Diff(slices.Sorted(slices.Values(idp.ErrorCodes())), slices.Sorted(maps.Keys(failures))); diff != "" {
		t.Fatalf("the table has not what package idp has (-want +got):\n%s", diff)
	}
	p := startProduction(t, installed(t), productionOptions{
		provider: openidtest.Options{Interval: time.Second, OneAtATime: true},
		sections: `
[identity-provider.sim]
login-hint = "kennitala"
[[identity-provider.error]]
description = "mssp_601"
code = "WrongVerificationCodeSelected"
[[identity-provider.error]]
description = "mssp_602"
code = "InternalErrorCheckApp"
[[identity-provider.error]]
description = "mssp_750"
code = ""
`})
	var together []*failing
	for code, f := range failures {
		if f.disturb == nil {
			together = append(together, f.begin(t, p, code, len(together)))
		}
	}
	for _, f := range unknownErrors {
		together = append(together, f.begin(t, p, "", len(together)))
	}
	checkAll(t, together...)
	if !slices.ContainsFunc(p.provider.Polled(), func(one openidtest.Polled) bool { return one.Error == "slow_down" }) {
		t.Error("only the server said to slow down")
	}
	for code, f := range failures {
		if f.disturb != nil {
			together = append(together, f.begin(t, p, code, len(together)))
			checkAll(t, together[len(together)-1])
		}
	}
	t.Logf("figure: %d errorCodes through the API of production, and null in %d ways", len(failures), len(unknownErrors))
}

// failure is how a request comes to an errorCode, and what is told of it.
type failure struct {
	bySIM   bool
	answer  openidtest.Answer                                   // of the person
	person  func(*testing.T, *production, *openidtest.Person)   // what else is about the person
	before  func(*testing.T, *production, order)                // the start
	disturb func(*testing.T, *production) (*production, func()) // what others would suffer from; the server to ask, and the end of it

	atStart            bool
	oauth, description any
	code               bool // there is a verification code
}

// failing is a request that comes to an errorCode.
type failing struct {
	failure
	*production
	errorCode     idp.ErrorCode
	started, last reply
}

// begin makes the start call of a person of its own, the n-th.
func (f failure) begin(t *testing.T, p *production, code idp.ErrorCode, n int) *failing {
	t.Helper()
	who := person{fmt.Sprintf("Prófun Villudóttir %d", n), fmt.Sprintf("020285%04d", n), fmt.Sprintf("698%04d", n)}
	one := openidtest.Person{
		Kennitala: who.kennitala, Phone: who.phone, Name: who.name, Document: "PNOIS-" + who.kennitala + "-TEST-Q",
		Key: openidtest.RSAKey(), Answer: f.answer,
	}
	one.Certificate = p.certificate(t, who, one.Key)
	if f.person != nil {
		f.person(t, p, &one)
	}
	p.provider.Person(one)
	o := order{who, "IdpApp", "B"}
	if f.bySIM {
		o.method = "IdpSim"
	}
	if f.before != nil {
		f.before(t, p, o)
	}
	if f.disturb != nil {
		server, restore := f.disturb(t, p)
		defer restore()
		p = server
	}
	started := p.order(t, o)
	return &failing{f, p, code, started, started}
}

// checkAll polls at the pace of production until all have come to their end.
func checkAll(t *testing.T, all ...*failing) {
	t.Helper()
	running := slices.Clone(all)
	testenv.Wait(t, "the end of all that fails", func() bool {
		if running = slices.DeleteFunc(running, func(f *failing) bool { return f.over(t) }); len(running) > 0 {
			pause(2 * time.Second)
		}
		return len(running) == 0
	})
	for _, f := range all {
		t.Run(f.name(), f.check)
	}
}

func (f *failing) name() string {
	if f.errorCode == "" {
		return "null"
	}
	return string(f.errorCode)
}

// over polls, unless the start was refused. As long as a request is pending, most of its polls
// are answered in the server's own words, without the provider being asked.
func (f *failing) over(t *testing.T) bool {
	t.Helper()
	if f.started.Status != http.StatusOK {
		return true
	}
	f.last = f.poll(t, f.started.PollingID)
	if !idp.ErrorCode(f.last.ErrorCode).Pending() {
		return true
	}
	var said struct {
		Description any `json:"errorDescription"`
	}
	err := json.Unmarshal(f.last.Body, &said)
	return err == nil && f.last.ErrorCode == string(f.errorCode) && said.Description == f.description
}

func (f *failing) check(t *testing.T) {
	want := map[string]any{"errorCode": nil, "error": f.oauth, "errorDescription": f.description, "verificationCode": nil}
	if f.errorCode != "" {
		want["errorCode"] = string(f.errorCode)
	}
	if f.code {
		want["verificationCode"] = f.started.Code
	}
	var got map[string]any
	if err := json.Unmarshal(f.last.Body, &got); err != nil {
		t.Fatalf("%v: %v", f.last, err)
	}
	if diff := cmp.Diff(want, got); diff != "" || f.last.Status != http.StatusBadRequest {
		t.Errorf("%d (-want +got):\n%s\n%s", f.last.Status, diff, f.logs())
	}
	if refused := f.started.Status == http.StatusBadRequest; refused != f.atStart {
		t.Errorf("the start: %v", f.started)
	}
}
