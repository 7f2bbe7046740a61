package httpapi

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/httpapi/internal/jsonbody"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/pades/inspect"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// problem is an error answer (RFC 9457).
type problem struct {
	Type   string              `json:"type"`
	Title  string              `json:"title"`
	Status int                 `json:"status"`
	Detail string              `json:"detail,omitempty"`
	Errors map[string][]string `json:"errors,omitempty"`
	// Holder is set with 423.
	Holder *holder `json:"busySignal,omitempty"`
	// FailedCheck is the check that an activation failed (spec 5.3).
	FailedCheck string `json:"failedCheck,omitempty"`
	// expected reports that the answer is not a fault of the server, although its status is 5xx.
	expected bool
}

// holder is the holder of a busy signal (spec 3.11).
type holder struct {
	UserID *string `json:"userId"`
}

func (p *problem) Error() string { return p.Title + ": " + p.Detail }

const validationTitle = "One or more validation errors occurred."

// invalid is the answer to invalid fields (spec 1.3).
func invalid(faults map[string][]string) *problem {
	return &problem{Status: http.StatusBadRequest, Title: validationTitle, Errors: faults}
}

func methodNotAllowed(w http.ResponseWriter, m methods) error {
	allowed := slices.Sorted(maps.Keys(m))
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	return &problem{Status: http.StatusMethodNotAllowed, Title: "Method not allowed", Detail: "This path accepts " + strings.Join(allowed, ", ") + "."}
}

// mapping is an error of another package with its answer.
type mapping struct {
	err    error
	answer problem
}

// problems are the answers to errors. The first mapping whose error matches counts.
var problems = []mapping{
	{portal.ErrNotFound, processNotFound},
	{portal.ErrViewer, isViewer},
	{portal.ErrAnswered, hasAnswered},
	{portal.ErrOtherPerson, otherPerson},
	{portal.ErrCannotSign, cannotSign},
	{portal.ErrNotWaiting, notWaiting},
	{portal.ErrTurn, signatureInProgress},
	{portal.ErrTooMany, tooManyStamps},
	{portal.ErrNotDrawn, slotsUnknown},
	{pades.ErrRect, tooManyStamps}, // the page lies outside the coordinates that a PDF may use
	{portal.ErrPayment, paymentRequired},
	{portal.ErrQuota, quotaExceeded},
	{portal.ErrKeyInUse, keyInUse},
	{portal.ErrKeyReused, keyReused},
	{signing.ErrFinished, requestNotFound},
	{signing.ErrKeyInUse, keyInUse},
	{signing.ErrKeyReused, keyReused},
	{signing.ErrFormat, *invalid(map[string][]string{"file.type": {"Must be Pdf with this signingMethod, because the phone makes the whole signature."}})},
	{signing.ErrLevel, *invalid(map[string][]string{"advancedSignatureSettings.signatureLevel": {"Must be B with this signingMethod, because the phone makes the whole signature."}})},
	{stamp.ErrNoRoom, noFreeSlot},
	{stamp.ErrNotDrawn, slotUnknown},
	{stamp.ErrNoPage, pageNotFound},
	{pades.ErrPage, pageNotFound},
	{stamp.ErrOverlap, overlap},
	{ades.ErrForbidden, notAllowed},
	{pades.ErrEncrypted, unreadable("The document is encrypted and cannot be opened without a password or key.")},
	{ades.ErrBroken, unreadable("The last signature in the document is broken.")},
	{ades.ErrUnreadable, unreadablePDF},
	{stamp.ErrUnreadable, unreadablePDF},
	{stamp.ErrImage, *invalid(map[string][]string{"signatureImage.imageB64": {imageFault}})},
	{pades.ErrAppearance, *invalid(map[string][]string{"signatureImage.imageB64": {imageFault}})},
	{stamp.ErrNotReady, notReady},
	{busysignal.ErrNotFound, busySignalNotFound},
	{sandbox.ErrNotFound, sandboxUserNotFound},
	{sandbox.ErrUserExists, userExists},
	{delivery.ErrNotFound, subscriptionNotFound},
	{delivery.ErrTooMany, tooManySubscriptions},
	{delivery.ErrChanged, subscriptionChanged},
	{delivery.ErrActivate, notActivatedByUpdate},
	{delivery.ErrTooManyCalls, tooManyCalls},
	{errSlowBody, *invalid(map[string][]string{"$": {"The body arrived too slowly."}})},
	{errIncompleteBody, *invalid(map[string][]string{"$": {"The body is incomplete."}})},
	{jsonbody.ErrTooLarge, fieldsTooLarge},
	{storage.ErrTooLarge, tooLarge},
	{storage.ErrUnavailable, unavailable},
	{storage.ErrFull, storageFull},
}

// retryAfter is the Retry-After of problems in seconds, by title (RFC 9110 10.2.3): the time until the store may answer
// again, until another activation has ended (spec 5.3), or until a sandbox user has signed.
var retryAfter = map[string]string{unavailable.Title: "1", tooManyCalls.Title: "30", signatureInProgress.Title: "1"}

// toProblem returns the answer to an error. For an error that it does not know, it returns 500 and false.
func toProblem(err error) (problem, bool) {
	var p *problem
	var syntax *jsonbody.SyntaxError
	var h *busysignal.HeldError
	var maxBytes *http.MaxBytesError
	var refused *inspect.RefusedError
	var limit *idp.TooManyRequestsError
	switch {
	case errors.As(err, &p):
		return *p, true
	case errors.Is(err, account.ErrClosed), errors.Is(err, account.ErrNotFound): // the caller's account is being deleted
		return invalidToken, true
	case errors.As(err, &limit):
		return tooManyPrompts, true
	case errors.As(err, &maxBytes):
		return tooLarge, true
	case errors.As(err, &syntax):
		return *invalid(map[string][]string{syntax.Path: {syntax.Message}}), true
	case errors.As(err, &refused):
		return documentRefused(refused.Codes), true
	case errors.As(err, &h):
		return busySignalHeld(h.UserID), true
	}
	if faults := invalidFields(err); faults != nil {
		return *invalid(faults), true
	}
	for _, row := range problems {
		if errors.Is(err, row.err) {
			return row.answer, true
		}
	}
	return internalError, false
}

// serverFault reports whether a status means that the server is at fault. 502 means a fault of a webhook endpoint.
func serverFault(status int) bool {
	return status >= http.StatusInternalServerError && status != http.StatusBadGateway
}

// fail answers a request with an error.
func (a *api) fail(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, errClientGone) {
		return
	}
	var oauth *oauthError
	if errors.As(err, &oauth) {
		oauth.write(w)
		return
	}
	p, known := toProblem(err)
	if (!known || serverFault(p.Status) && !p.expected) && r.Context().Err() == nil && a.Failed != nil {
		a.Failed(r.Context(), err)
	}
	var limit *idp.TooManyRequestsError
	if errors.As(err, &limit) {
		w.Header().Set("Retry-After", strconv.Itoa(max(1, ceilSeconds(limit.RetryAfter))))
	}
	if seconds, waits := retryAfter[p.Title]; waits && w.Header().Get("Retry-After") == "" {
		w.Header().Set("Retry-After", seconds)
	}
	if p.Status == http.StatusUnauthorized && w.Header().Get("WWW-Authenticate") == "" {
		challenge(w, `, error="invalid_token"`)
	}
	if p.Status == http.StatusRequestEntityTooLarge && r.ContentLength < 0 { // a body of known length is refused at once (spec 1.6)
		drain(r.Body)
	}
	p.Type = a.BaseURL + "/problems/" + slug(p.Title)
	w.Header().Set("Content-Type", "application/problem+json")
	discard := p.Status != http.StatusRequestEntityTooLarge && prepareEarlyAnswer(w, r)
	_ = writeJSON(w, p.Status, p) // if this fails, the client is gone
	if discard {
		a.discardBody(w, r)
	}
}

// slug returns a title as a path segment: "No free signature slot" is no-free-signature-slot.
func slug(title string) string {
	return strings.ReplaceAll(strings.ToLower(strings.Trim(title, ".")), " ", "-")
}
