package httpapi

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/internal/jsonbody"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/webhook"
)

// problem is an answer of RFC 9457.
type problem struct {
	Type   string              `json:"type"`
	Title  string              `json:"title"`
	Status int                 `json:"status"`
	Detail string              `json:"detail,omitempty"`
	Errors map[string][]string `json:"errors,omitempty"`
	Holder *holder             `json:"busySignal,omitempty"` // with 423
	// FailedCheck is the one of an activation (decisions.md 7.4).
	FailedCheck string `json:"failedCheck,omitempty"`
}

// holder is whose hold on a busy signal is in the way (decisions.md 4.1).
type holder struct {
	UserID *string `json:"userId"`
}

func (p *problem) Error() string { return p.Title + ": " + p.Detail }

const validationTitle = "One or more validation errors occurred."

// invalid is the answer to faulty fields (decisions.md 2.3).
func invalid(faults map[string][]string) *problem {
	return &problem{Status: http.StatusBadRequest, Title: validationTitle, Errors: faults}
}

func notFound(what string) *problem {
	return &problem{Status: http.StatusNotFound, Title: "Not found", Detail: what + " does not exist."}
}

func methodNotAllowed(w http.ResponseWriter, m methods) error {
	allowed := slices.Sorted(maps.Keys(m))
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	return &problem{Status: http.StatusMethodNotAllowed, Title: "Method not allowed", Detail: "This path takes " + strings.Join(allowed, ", ") + "."}
}

// row is an error of a package below with its answer.
type row struct {
	err    error
	answer problem
}

// problems turn errors into answers, beside processProblems.
var problems = []row{
	{signing.ErrFinished, problem{Status: http.StatusNotFound, Title: "Not found", Detail: "The signing request has finished, was cleared, or does not exist."}},
	{signing.ErrKeyInUse, keyInUse},
	{signing.ErrKeyReused, keyReused},
	{signing.ErrFormat, *invalid(map[string][]string{"file.type": {"Only Pdf is to be had with this signingMethod: the phone makes the whole signature."}})},
	{signing.ErrLevel, *invalid(map[string][]string{"advancedSignatureSettings.signatureLevel": {"Only B is to be had with this signingMethod: the phone makes the whole signature."}})},
	{stamp.ErrNoRoom, problem{Status: http.StatusBadRequest, Title: "No free signature slot", Detail: "No free place was found on the page for the stamp."}},
	{stamp.ErrNoPage, noPage},
	{pades.ErrPage, noPage},
	{stamp.ErrOverlap, problem{Status: http.StatusBadRequest, Title: "Stamp overlaps another signature", Detail: "The stamp would cover the visible signature that is there."}},
	{pades.ErrForbidden, problem{Status: http.StatusBadRequest, Title: "Document does not allow signatures", Detail: "The document's permissions, or an earlier signature, do not allow another signature."}},
	{pades.ErrEncrypted, unreadable("The document is encrypted and does not open without a password or key.")},
	{pades.ErrBroken, unreadable("The last signature in the document is broken.")},
	{pades.ErrUnreadable, unreadable("The document is not a readable PDF.")},
	{stamp.ErrUnreadable, unreadable("The document is not a readable PDF.")},
	{stamp.ErrImage, *invalid(map[string][]string{"signatureImage.imageB64": {imageFault}})},
	{pades.ErrAppearance, *invalid(map[string][]string{"signatureImage.imageB64": {imageFault}})},
	{stamp.ErrNotReady, problem{Status: http.StatusServiceUnavailable, Title: "Service unavailable", Detail: "The server is being made ready to look for free places on pages, or is looking on others."}},
	{busysignal.ErrNotFound, problem{Status: http.StatusNotFound, Title: "Not found", Detail: "The busy signal does not exist."}},
	{sandbox.ErrNotFound, problem{Status: http.StatusNotFound, Title: "Not found", Detail: "The sandbox user does not exist."}},
	{sandbox.ErrUserExists, problem{Status: http.StatusUnprocessableEntity, Title: "Sandbox user already exists", Detail: "Another of your sandbox users has that kennitala or phone."}},
	{webhook.ErrNotFound, problem{Status: http.StatusNotFound, Title: "Not found", Detail: "The webhook subscription does not exist."}},
	{webhook.ErrTooMany, problem{Status: http.StatusBadRequest, Title: "Too many webhook subscriptions", Detail: "The account has as many webhook subscriptions as it may."}},
	{webhook.ErrChanged, problem{Status: http.StatusConflict, Title: "Subscription was changed", Detail: "The URL was changed, or the subscription switched off, while its activation ran. It is inactive."}},
	{webhook.ErrActivate, problem{Status: http.StatusUnprocessableEntity, Title: "Activation has a call of its own", Detail: "isActive cannot be set to true. A POST to the subscription's path with /activate behind it checks the endpoint and activates the subscription."}},
	{webhook.ErrTooManyCalls, tooManyCalls},
	{errBrokenOff, *invalid(map[string][]string{"$": {"The body ended before it was whole."}})},
	{jsonbody.ErrTooLarge, tooLarge},
	{storage.ErrTooLarge, tooLarge},
	{storage.ErrUnavailable, unavailable},
	{storage.ErrFull, problem{Status: http.StatusInsufficientStorage, Title: "No room left", Detail: "The server has no room left for what the request brings. Nothing of it was stored."}},
}

var (
	keyInUse  = problem{Status: http.StatusConflict, Title: "Request is still running", Detail: "The request with this Idempotency-Key has not been answered yet."}
	keyReused = problem{Status: http.StatusUnprocessableEntity, Title: "Idempotency key was used", Detail: "The Idempotency-Key was used with another request body."}
)

var noPage = problem{Status: http.StatusBadRequest, Title: "Signature page does not exist", Detail: "The document has no page of that number."}

// unreadable is the answer to a document that cannot be signed whoever signs it.
func unreadable(why string) problem {
	return problem{Status: http.StatusBadRequest, Title: "Document could not be read", Detail: why}
}

var unavailable = problem{Status: http.StatusServiceUnavailable, Title: "Service unavailable", Detail: "The server's storage does not answer just now."}

// retryAfter is what problems tell clients to wait, in seconds (RFC 9110 10.2.3): until the store is
// back, one of the activations is over that are in the way (service.md 4.3 item 3), or a test person
// has signed, which takes no longer.
var retryAfter = map[string]string{unavailable.Title: "1", tooManyCalls.Title: "30", turnTitle: "1"}

var tooManyCalls = problem{Status: http.StatusTooManyRequests, Title: "Too many activations and tests", Detail: "Other activations and tests of the account took up the time that this one had."}

var tooLarge = problem{Status: http.StatusRequestEntityTooLarge, Title: "Request too large", Detail: "The request body is longer than the server takes."}

// toProblem finds the answer to an error; false when there is none but 500.
func toProblem(err error) (problem, bool) {
	var p *problem
	var syntax *jsonbody.SyntaxError
	var held *busysignal.HeldError
	var maxBytes *http.MaxBytesError
	switch {
	case errors.As(err, &p):
		return *p, true
	case errors.As(err, &maxBytes):
		return tooLarge, true
	case errors.As(err, &syntax):
		return *invalid(map[string][]string{syntax.Path: {syntax.Message}}), true
	case errors.As(err, &held):
		return problem{Status: http.StatusLocked, Title: "Busy signal is held", Detail: "Another signing request holds the busy signal.", Holder: &holder{held.UserID}}, true
	}
	if faults := invalidFields(err); faults != nil {
		return *invalid(faults), true
	}
	for _, row := range slices.Concat(processProblems, problems) {
		if errors.Is(err, row.err) {
			return row.answer, true
		}
	}
	return problem{Status: http.StatusInternalServerError, Title: "Internal error", Detail: "The request could not be completed. Try again later."}, false
}

// serverFault says whether an answer tells that the server is at fault. A 502 tells that a webhook
// endpoint is, which is its owner's.
func serverFault(status int) bool {
	return status >= http.StatusInternalServerError && status != http.StatusBadGateway
}

// fail answers a request with an error.
func (a *api) fail(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, errGone) {
		return
	}
	var oauth *oauthError
	if errors.As(err, &oauth) {
		oauth.write(w)
		return
	}
	p, known := toProblem(err)
	if (!known || serverFault(p.Status)) && r.Context().Err() == nil && a.Failed != nil {
		a.Failed(r.Context(), err)
	}
	if seconds, waits := retryAfter[p.Title]; waits {
		w.Header().Set("Retry-After", seconds)
	}
	if p.Status == http.StatusRequestEntityTooLarge && r.ContentLength < 0 { // else at once: decisions.md 2.6
		drain(r.Body)
	}
	p.Type = a.BaseURL + "/problems/" + slug(p.Title)
	w.Header().Set("Content-Type", "application/problem+json")
	_ = writeJSON(w, p.Status, p) // nobody is left to tell when this fails
}

// slug is a title as a path: "No free signature slot" is no-free-signature-slot.
func slug(title string) string {
	return strings.ReplaceAll(strings.ToLower(strings.Trim(title, ".")), " ", "-")
}
