package httpapi

import (
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/httpapi/internal/jsonbody"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/sandbox"
)

// user is the JSON form of a sandbox user (spec 6.1).
type user struct {
	UUID      string `json:"uuid"`
	FullName  string `json:"fullName"`
	Kennitala string `json:"kennitala"`
	Phone     string `json:"phone"`
	Delay     int    `json:"delayInSecondsBeforeAction"`
	Action    string `json:"action"`
	CreatedAt string `json:"createdAt,omitempty"` // empty in the list
	UpdatedAt string `json:"updatedAt,omitempty"`
}

func userBody(u sandbox.User) user {
	return user{
		UUID: u.ID, FullName: u.FullName, Kennitala: u.Kennitala, Phone: u.Phone,
		Delay: int(u.Delay / time.Second), Action: string(u.Action),
	}
}

func (a *api) createSandboxUser(w http.ResponseWriter, r *http.Request, caller account.Caller) error {
	profile, err := readProfile(w, r, jsonbody.Required)
	if err != nil {
		return err
	}
	created, err := a.Sandbox.Create(r.Context(), caller.AccountID, profile)
	if err != nil {
		return err
	}
	body := userBody(created)
	body.CreatedAt, body.UpdatedAt = timestamp(created.CreatedAt), timestamp(created.UpdatedAt)
	return writeJSON(w, http.StatusOK, body)
}

func (a *api) listSandboxUsers(w http.ResponseWriter, r *http.Request, caller account.Caller) error {
	users, err := a.Sandbox.Users(r.Context(), caller.AccountID)
	if err != nil {
		return err
	}
	list := struct {
		Items []user `json:"items"`
	}{[]user{}}
	for _, u := range users {
		list.Items = append(list.Items, userBody(u))
	}
	return writeJSON(w, http.StatusOK, list)
}

func (a *api) updateSandboxUser(w http.ResponseWriter, r *http.Request, caller account.Caller) error {
	profile, err := readProfile(w, r)
	if err != nil {
		return err
	}
	if err := a.Sandbox.Update(r.Context(), caller.AccountID, idInPath(r, "uuid"), profile); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// readProfile reads the fields of a user. required are further rules for the fields that a new user needs.
func readProfile(w http.ResponseWriter, r *http.Request, required ...jsonbody.Rule) (sandbox.Profile, error) {
	body, err := readBody(w, r, jsonbody.Options{})
	if err != nil {
		return sandbox.Profile{}, err
	}
	field := func(path string, rules ...jsonbody.Rule) *string {
		return body.OptionalString(path, append(required[:len(required):len(required)], rules...)...)
	}
	notHyphens := func(s string) bool { return idp.NormalizeKennitala(s) != "" }
	p := sandbox.Profile{
		FullName:  field("fullName", jsonbody.MaxLen(maxFullName)),
		Kennitala: field("kennitala", jsonbody.MaxLen(maxKennitala), jsonbody.Must(notHyphens, "Must contain more than hyphens.")),
		Phone:     field("phone", jsonbody.MaxLen(maxPhone)),
		Action:    (*sandbox.Action)(body.OptionalString("action", jsonbody.OneOf(actionNames...))),
	}
	if seconds := body.OptionalInt("delayInSecondsBeforeAction", jsonbody.Between(0, maxDelaySeconds)); seconds != nil {
		delay := time.Duration(*seconds) * time.Second
		p.Delay = &delay
	}
	if faults := body.Errors(); faults != nil {
		return p, invalid(faults)
	}
	return p, nil
}

// signAs makes a sandbox user sign as a participant of a signing process (spec 6.4).
func (a *api) signAs(w http.ResponseWriter, r *http.Request, caller account.Caller) error {
	body, err := readBody(w, r, jsonbody.Options{})
	if err != nil {
		return err
	}
	user := body.UUID("sandboxUserId", jsonbody.Required)
	if faults := body.Errors(); faults != nil {
		return invalid(faults)
	}
	if err := a.Portal.SignAs(r.Context(), caller.AccountID, idInPath(r, "signingProcessId"), idInPath(r, "participantId"), user); err != nil {
		return sandboxError(err)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// declineAs declines as a participant of a signing process (spec 6.4). The call needs no body: the reason may be empty,
// and a missing reason counts as an empty one (spec 1.2).
func (a *api) declineAs(w http.ResponseWriter, r *http.Request, caller account.Caller) error {
	body, err := readBody(w, r, jsonbody.Options{Optional: true})
	if err != nil {
		return err
	}
	reason := body.String("reason", jsonbody.MaxLen(portal.MaxReason))
	if faults := body.Errors(); faults != nil {
		return invalid(faults)
	}
	if err := a.Portal.DeclineAs(r.Context(), caller.AccountID, idInPath(r, "signingProcessId"), idInPath(r, "participantId"), reason); err != nil {
		return sandboxError(err)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// sandboxError returns the answer to an error of signAs or declineAs. A call names several things, and a 404 does not
// reveal which of them does not exist.
func sandboxError(err error) error {
	if errors.Is(err, portal.ErrNotFound) {
		return new(participantNotFound)
	}
	return err
}

// The endpoints of the test CA, at the paths that its certificates name. Any client may call them without a token, and
// bodies and answers are not JSON.

const (
	timestampQuery = "application/timestamp-query" // RFC 3161 3.4
	timestampReply = "application/timestamp-reply"
	ocspRequest    = "application/ocsp-request" // RFC 6960 A
	ocspResponse   = "application/ocsp-response"
	crlType        = "application/pkix-crl"   // RFC 5280 4.2.1.13
	issuersType    = "application/pkcs7-mime" // RFC 5280 4.2.2.1
	maxQuery       = 64 << 10                 // bytes of a request
	ocspPath       = "/ocsp/"                 // a request in Base64 follows
	ocspInPath     = ocspPath + "{request}"
)

// answerDER answers a request in DER. answer returns the protocol's own error for an unreadable request, which is sent
// with status 200 like any other answer.
func answerDER(request, response string, answer func([]byte) []byte) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != request {
			return new(wrongType(request))
		}
		body, err := io.ReadAll(bodyReader{http.MaxBytesReader(w, r.Body, maxQuery)})
		if err != nil {
			return err
		}
		return writeBytes(w, response, answer(body))
	}
}

// serveDER answers with DER that is made for each request.
func serveDER(kind string, der func() ([]byte, error)) handler {
	return func(w http.ResponseWriter, _ *http.Request) error {
		b, err := der()
		if err != nil {
			return err
		}
		return writeBytes(w, kind, b)
	}
}

// answerOCSPInPath answers a GET of RFC 6960 A.1, where the rest of the path is the request in Base64. The path must not
// be cleaned, because Base64 may contain two slashes in a row.
func (a *api) answerOCSPInPath(w http.ResponseWriter, r *http.Request) error {
	encoded := strings.TrimPrefix(r.URL.Path, ocspPath)
	der, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(der) > maxQuery {
		der = nil // the responder answers malformedRequest
	}
	return writeBytes(w, ocspResponse, a.TestCA.OCSP(der))
}

func (a *api) sandboxRoot(w http.ResponseWriter, _ *http.Request) error {
	return writeBytes(w, "application/x-pem-file", a.TestCA.RootPEM())
}
