package main

import (
	"crypto/x509"
	"net/http"
	"testing"
	"time"

	"github.com/innsigli/innsigli/idp"
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

// another: the provider knows somebody else.
func another(_ *testing.T, _ *production, one *openidtest.Person) {
	one.Kennitala += "0"
	one.Phone, one.Document = "", ""
}

func withoutPhone(_ *testing.T, _ *production, one *openidtest.Person) { one.Phone = "" }

// ofAnother: the certificate is somebody else's.
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

// anotherRequest has rung the phone already, which nobody answers.
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
