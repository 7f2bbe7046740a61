package httpapi_test

import (
	"context"
	"crypto/x509"
	"testing"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/sandbox"
)

// failing is the sandbox with people who answer with failures that the sandbox does
// not simulate.
type failing struct {
	*sandbox.Sandbox
	begin, poll *idp.Failure
}

func (f *failing) Begin(ctx context.Context, key string, p idp.Person, t idp.Text, known *x509.Certificate) (idp.State, idp.Event, error) {
	if f.begin != nil {
		return idp.State{}, idp.Failed{Failure: *f.begin}, nil
	}
	return f.Sandbox.Begin(ctx, key, p, t, known)
}

func (f *failing) Poll(ctx context.Context, s idp.State) (idp.State, idp.Event, error) {
	if f.poll != nil {
		return s, idp.Failed{Failure: *f.poll}, nil
	}
	return f.Sandbox.Poll(ctx, s)
}

// spec 3.7: the codes reach the client under their names, at the start and at
// a poll, with the provider's own error and description unchanged; an error that the
// service does not know is null.
func TestErrorCodes(t *testing.T) {
	t.Parallel()
	var people *failing
	c := start(t, wiring{provider: func(s *sandbox.Sandbox) idp.Provider {
		people = &failing{Sandbox: s}
		return people
	}}).signer(t)
	c.user(person)
	type row struct{ code, oauth, description any }
	rows := []row{
		{nil, "server_error", "Villa nr. 4711 <\"&\">"},
		{nil, nil, nil},
		{"AccessDenied", nil, "audkenni_500"},
		{"AccessDenied", "access_denied", nil},
	}
	for _, code := range []string{
		"AccessDenied", "TimeoutNoAnswer", "UserCancelled", "UserNotFound", "UserHasNoPhone", "WrongVerificationCodeSelected", "RequestInProgress",
		"PinBlocked", "CardBlocked", "KeyNotFound", "CertificateNotFound", "CertificateIsRevoked", "CertificateValidationError", "SignatureVerificationError",
		"InternalErrorCheckApp", "CommunicationError", "SystemUnderMaintenance", "InternalError", "AuthorizationPartyUnknown",
		"InvalidRequest", "InvalidClient", "InvalidGrant", "UnauthorizedClient", "UnsupportedGrantType",
		"IncorrectParameter", "MissingParameter", "WrongDataLength", "UnableToHandleGivenData", "IncompatibleVersion", "UnsupportedProfile",
	} {
		rows = append(rows, row{code, "access_denied", "audkenni_500"})
	}
	text := func(v any) string { s, _ := v.(string); return s }
	for _, r := range rows {
		failed := &idp.Failure{Code: idp.ErrorCode(text(r.code)), OAuth: text(r.oauth), Description: text(r.description)}
		want := failure(r.code, r.oauth, r.description, nil)
		people.begin = failed
		a := c.start(startBody(idpApp))
		diff(t, "status of the start", 400, a.status)
		diff(t, "refused start", want, c.object(a))
		people.begin = nil
		id := c.begin(startBody(idpApp))
		c.wantFailure(c.poll(id), pending)
		people.poll = failed
		a = c.poll(id)
		diff(t, "status of the poll", 400, a.status)
		diff(t, "poll", want, c.object(a))
		people.poll = nil
		c.wantFinished(id)
	}
	c.wantDocuments(0)
}

// spec 3.6: ExpiredToken alone repeats.
func TestExpiredTokenOfTheProvider(t *testing.T) {
	t.Parallel()
	people := new(failing)
	c := start(t, wiring{provider: func(s *sandbox.Sandbox) idp.Provider { people.Sandbox = s; return people }}).signer(t)
	c.user(person)
	id := c.begin(startBody(idpApp))
	people.poll = &idp.Failure{Code: idp.ExpiredToken, OAuth: "expired_token", Description: "audkenni_408"}
	want := failure("ExpiredToken", "expired_token", "audkenni_408", nil)
	c.wantFailure(c.poll(id), want)
	people.poll = nil
	c.wantFailure(c.poll(id), want)
	c.wantFailure(c.poll(id), want)
}
