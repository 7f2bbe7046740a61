package httpapi_test

import (
	"errors"
	"net/http"
	"strings"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/httpapi"
	"github.com/innsigli/innsigli/httpapi/internal/jsonbody"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/webhook/delivery"
)

const (
	signingPath   = "/api/v1/signing"
	processesPath = "/api/v1/portal/signing-processes"
	aStart        = `{"file":{"name":"a.pdf","type":"Pdf","contentB64":"UERG"},"signer":{"signingMethod":"IdpApp","kennitala":"0101302989"}}`
	aStamp        = `{"file":{"name":"a.pdf","type":"Pdf","contentB64":"UERG"},"signer":{"signingMethod":"IdpApp","kennitala":"0101302989"},"signatureImage":{"alignment":"TopLeft","originX":1,"originY":1}}`
	aProcess      = `{"file":{"name":"a.pdf","contentBase64":"UERG"},"signatureLocation":"TopLeft","participants":[{"name":"Jóna Prófdóttir","email":"jona@example.com","role":"Signer"}]}`
)

// subjects are what the errors of a package are about, by the name that they begin with. The golden
// file has the subjects, which stay when a package gets another name.
var subjects = map[string]string{
	"ades": "document", "busysignal": "busy signal", "http": "body", "httpapi": "body", "jsonbody": "JSON", "pades": "PDF", "portal": "process", "process": "process", "sandbox": "test user",
	"signing": "request", "stamp": "stamp", "storage": "store", "test": "test", "webhook": "webhook",
}

// mappedErrors have each error of the tables, and those that carry what the answer says.
func mappedErrors() (all []failingCall) {
	user := "case <4711>"
	for _, err := range append(httpapi.MappedErrors(), errors.New("test: an error that is not known"),
		&http.MaxBytesError{Limit: 1}, &jsonbody.SyntaxError{Path: "signer.phone", Message: "Is there twice."},
		&delivery.InvalidError{Faults: []delivery.Fault{{Field: "url", Message: "Is no URL."}, {Field: "url", Message: "Is too long."}}},
		&portal.InvalidError{Faults: []portal.Fault{{Field: "participants[1].email", Message: "Is no address."}}},
		&busysignal.HeldError{}, &busysignal.HeldError{UserID: &user}) {
		of, says, _ := strings.Cut(err.Error(), ": ")
		all = append(all, failingCall{name: "error of " + subjects[of] + ": " + says, method: "GET", path: signingPath + "/1", caller: err})
	}
	return all
}

// callerErrors depend on the caller and the path.
var callerErrors = []failingCall{
	{name: "caller: no token", method: "GET", path: webhooks, header: http.Header{"Authorization": {""}}},
	{name: "caller: bad token", method: "GET", path: webhooks, caller: account.ErrInvalidToken},
	{name: "caller: two tokens", method: "GET", path: webhooks + "?access_token=1"},
	{name: "caller: no scope to sign", method: "POST", path: signingPath, scopes: []string{}},
	{name: "caller: no scope to read", method: "GET", path: webhooks, scopes: []string{}},
	{name: "caller: no scope to write", method: "POST", path: webhooks, scopes: []string{}},
	{name: "caller: too often", method: "GET", path: webhooks, scopes: []string{}, limits: httpapi.Limits{Client: storage.Rate{PerSecond: 1, Burst: 1}}, again: true},
	{name: "address: too often", method: "POST", path: tokens, limits: httpapi.Limits{Address: storage.Rate{PerSecond: 1, Burst: 1}}, again: true},
	{name: "address: too often with bad tokens", method: "GET", path: webhooks, caller: account.ErrInvalidToken, limits: httpapi.Limits{Address: storage.Rate{PerSecond: 1, Burst: 1}}, again: true},
	{name: "path: none", method: "GET", path: "/api/v2"},
	{name: "path: other methods", method: "PATCH", path: webhooks + "/1"},
	{name: "path: no problem", method: "GET", path: "/problems/none"},
}

// bodyErrors depend on the body.
func bodyErrors() []failingCall {
	text := http.Header{"Content-Type": {"text/plain"}}
	return []failingCall{
		{name: "body: no JSON", method: "POST", path: webhooks, body: "{}", header: text},
		{name: "body: no OCSP request", method: "POST", path: "/ocsp", body: "{}", header: text},
		{name: "body: no query for a timestamp", method: "POST", path: "/tsa", body: "{}", header: text},
		{name: "body: no parameters", method: "POST", path: tokens, body: "{}", header: text},
		{name: "body: too large", method: "POST", path: webhooks, body: strings.Repeat(" ", 1<<20+1)},
		{name: "body: cut off", method: "POST", path: webhooks, body: "{"},
		{name: "body: a member twice", method: "POST", path: webhooks, body: `{"url":"","url":""}`},
		{name: "body: wrong types", method: "PUT", path: webhooks + "/1", body: `{"url":1,"eventTypes":{},"isActive":"yes"}`},
		{name: "body: empty start", method: "POST", path: signingPath, body: "{}"},
		{name: "body: empty process", method: "POST", path: processesPath, body: "{}"},
		{name: "body: empty webhook", method: "POST", path: webhooks, body: "{}"},
		{name: "body: empty user", method: "POST", path: users, body: "{}"},
		{name: "body: bad idempotency key", method: "POST", path: signingPath, body: "{}", header: http.Header{"Idempotency-Key": {`"`}}},
	}
}

// serviceErrors are errors of services that are not in the tables.
var serviceErrors = []failingCall{
	{name: "start: a stamp outside", method: "POST", path: signingPath, body: aStamp, err: pades.ErrRect},
	{name: "start: no room in time", method: "POST", path: signingPath, body: aStart, limits: httpapi.Limits{Documents: 2}, meanwhile: true, err: signing.ErrFinished},
	{name: "process: encrypted", method: "POST", path: processesPath, body: aProcess, err: pades.ErrEncrypted},
	{name: "participant: none", method: "POST", path: "/api/v1/sandbox/portal/signing-processes/1/participants/1/sign", body: `{"sandboxUserId":"0f8fad5b-d9cb-469f-a165-70867728950e"}`, err: portal.ErrNotFound},
	{name: "activation: signed ping", method: "POST", path: webhooks + "/1/activate", err: &delivery.EndpointError{Failed: delivery.SignedPing, Detail: "What the endpoint did."}},
	{name: "activation: unverifiable ping", method: "POST", path: webhooks + "/1/activate", err: &delivery.EndpointError{Failed: delivery.UnverifiablePing, Detail: "What the endpoint did."}},
	{name: "activation: unreachable", method: "POST", path: webhooks + "/1/activate", err: &delivery.EndpointError{Failed: delivery.Unreachable, Detail: "What the endpoint did."}},
	{name: "test of a webhook", method: "POST", path: webhooks + "/1/test", err: &delivery.EndpointError{Detail: "What the endpoint did."}},
	{name: "notification: not authentic", method: "POST", path: httpapi.NotificationPath, err: errors.New("test: not authentic")},
	{name: "notification: too large", method: "POST", path: httpapi.NotificationPath, err: &http.MaxBytesError{Limit: 1}},
	{name: "server: not ready", method: "GET", path: "/readyz", err: storage.ErrUnavailable},
}

// failureErrors have each code that a start or a poll fails with (spec 3.7).
func failureErrors() (all []failingCall) {
	for _, code := range idp.ErrorCodes() {
		failure := idp.Failure{Code: code, OAuth: "access_denied", Description: "audkenni_500 <\"&\">"}
		all = append(all, failingCall{name: "poll: " + string(code), method: "GET", path: signingPath + "/1", poll: signing.Answer{Failure: failure, Code: "0042"}})
	}
	return append(all,
		failingCall{name: "poll: no code", method: "GET", path: signingPath + "/1"},
		failingCall{name: "start: refused", method: "POST", path: signingPath, body: aStart, err: &signing.Refusal{Failure: idp.Failure{Code: idp.UserNotFound, OAuth: "access_denied", Description: "audkenni_404"}}})
}

// tokenErrors are about tokens (RFC 6749 5.2).
func tokenErrors() []failingCall {
	const client, grant = "client_id=client&client_secret=secret", "&grant_type=client_credentials"
	form := func(name, path, body, authorization string, err error) failingCall {
		return failingCall{name: "token: " + name, method: "POST", path: path, body: body, err: err, header: http.Header{"Content-Type": {formType}, "Authorization": {authorization}}}
	}
	return []failingCall{
		{name: "token: JSON with another type", method: "POST", path: tokens, body: `{"grant_type":1}`},
		{name: "token: no JSON", method: "POST", path: tokens, body: "{"},
		{name: "token: broken off", method: "POST", path: tokens, body: "{", breaks: true},
		form("in the address", tokens+"?client_id=client", client+grant, "", nil),
		form("not form-encoded", tokens, "%", "", nil),
		form("a parameter twice", tokens, client+"&scope=a&scope=b", "", nil),
		form("control characters", tokens, client+"&scope=%00", "", nil),
		form("no client", tokens, "grant_type=client_credentials", "", nil),
		form("two clients", tokens, client+grant, "Basic Y2xpZW50OnNlY3JldA==", nil),
		form("not Basic", tokens, "grant_type=client_credentials", "Digest 1", nil),
		form("client not form-encoded", tokens, "grant_type=client_credentials", "Basic JTo=", nil),
		form("no grant", tokens, client, "", nil),
		form("another grant", tokens, client+"&grant_type=password", "", nil),
		form("wrong client", tokens, client+grant, "", account.ErrInvalidClient),
		form("wrong scope", tokens, client+grant, "", account.ErrInvalidScope),
		form("revocation without a token", revocation, client, "", nil),
		form("revocation by a wrong client", revocation, client+"&token=1", "", account.ErrInvalidClient),
		form("revocation by another client", revocation, client+"&token=1", "", account.ErrOtherClient),
		form("store", tokens, client+grant, "", storage.ErrUnavailable),
	}
}
