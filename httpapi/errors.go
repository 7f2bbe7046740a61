package httpapi

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/httpapi/internal/jsonbody"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// problem is an answer of RFC 9457.
type problem struct {
	Type   string              `json:"type"`
	Title  string              `json:"title"`
	Status int                 `json:"status"`
	Detail string              `json:"detail,omitempty"`
	Errors map[string][]string `json:"errors,omitempty"`
	Holder *holder             `json:"busySignal,omitempty"` // with 423
	// FailedCheck is the one of an activation (spec 5.3).
	FailedCheck string `json:"failedCheck,omitempty"`
	meant       bool   // whatever the status: the server refuses as it should, and is at no fault
}

// holder is whose hold on a busy signal is in the way (spec 3.11).
type holder struct {
	UserID *string `json:"userId"`
}

func (p *problem) Error() string { return p.Title + ": " + p.Detail }

const validationTitle = "One or more validation errors occurred."

// invalid is the answer to faulty fields (spec 1.3).
func invalid(faults map[string][]string) *problem {
	return &problem{Status: http.StatusBadRequest, Title: validationTitle, Errors: faults}
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
	{signing.ErrFinished, noRequest},
	{signing.ErrKeyInUse, keyInUse},
	{signing.ErrKeyReused, keyReused},
	{signing.ErrFormat, *invalid(map[string][]string{"file.type": {"Only Pdf is to be had with this signingMethod: the phone makes the whole signature."}})},
	{signing.ErrLevel, *invalid(map[string][]string{"advancedSignatureSettings.signatureLevel": {"Only B is to be had with this signingMethod: the phone makes the whole signature."}})},
	{stamp.ErrNoRoom, noSlot},
	{stamp.ErrNotDrawn, slotUnknown},
	{stamp.ErrNoPage, noPage},
	{pades.ErrPage, noPage},
	{stamp.ErrOverlap, overlap},
	{ades.ErrForbidden, notAllowed},
	{pades.ErrEncrypted, unreadable("The document is encrypted and does not open without a password or key.")},
	{ades.ErrBroken, unreadable("The last signature in the document is broken.")},
	{ades.ErrUnreadable, unreadablePDF},
	{stamp.ErrUnreadable, unreadablePDF},
	{stamp.ErrImage, *invalid(map[string][]string{"signatureImage.imageB64": {imageFault}})},
	{pades.ErrAppearance, *invalid(map[string][]string{"signatureImage.imageB64": {imageFault}})},
	{stamp.ErrNotReady, notReady},
	{busysignal.ErrNotFound, noSignal},
	{sandbox.ErrNotFound, noUser},
	{sandbox.ErrUserExists, userExists},
	{delivery.ErrNotFound, noSubscription},
	{delivery.ErrTooMany, tooManySubscriptions},
	{delivery.ErrChanged, changedMeanwhile},
	{delivery.ErrActivate, activateCall},
	{delivery.ErrTooManyCalls, tooManyCalls},
	{errTooSlow, *invalid(map[string][]string{"$": {"The body came too slowly, and the rest of it was not waited for."}})},
	{errBrokenOff, *invalid(map[string][]string{"$": {"The body ended before it was whole."}})},
	{jsonbody.ErrTooLarge, tooMuchBeside},
	{storage.ErrTooLarge, tooLarge},
	{storage.ErrUnavailable, unavailable},
	{storage.ErrFull, noRoomLeft},
}

// retryAfter is what problems tell clients to wait, in seconds (RFC 9110 10.2.3): until the store is
// back, one of the activations is over that are in the way (spec 5.3), or a test person
// has signed, which takes no longer.
var retryAfter = map[string]string{unavailable.Title: "1", tooManyCalls.Title: "30", turnTaken.Title: "1"}

// toProblem finds the answer to an error; false when there is none but 500.
func toProblem(err error) (problem, bool) {
	var p *problem
	var syntax *jsonbody.SyntaxError
	var h *busysignal.HeldError
	var maxBytes *http.MaxBytesError
	switch {
	case errors.As(err, &p):
		return *p, true
	case errors.Is(err, account.ErrClosed), errors.Is(err, account.ErrNotFound): // the caller's account is being deleted
		return badToken, true
	case errors.As(err, &maxBytes):
		return tooLarge, true
	case errors.As(err, &syntax):
		return *invalid(map[string][]string{syntax.Path: {syntax.Message}}), true
	case errors.As(err, &h):
		return held(h.UserID), true
	}
	if faults := invalidFields(err); faults != nil {
		return *invalid(faults), true
	}
	for _, row := range slices.Concat(processProblems, problems) {
		if errors.Is(err, row.err) {
			return row.answer, true
		}
	}
	return internalError, false
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
	if (!known || serverFault(p.Status) && !p.meant) && r.Context().Err() == nil && a.Failed != nil {
		a.Failed(r.Context(), err)
	}
	if seconds, waits := retryAfter[p.Title]; waits && w.Header().Get("Retry-After") == "" {
		w.Header().Set("Retry-After", seconds)
	}
	if p.Status == http.StatusUnauthorized && w.Header().Get("WWW-Authenticate") == "" {
		challenge(w, `, error="invalid_token"`)
	}
	if p.Status == http.StatusRequestEntityTooLarge && r.ContentLength < 0 { // else at once: spec 1.6
		drain(r.Body)
	}
	p.Type = a.BaseURL + "/problems/" + slug(p.Title)
	w.Header().Set("Content-Type", "application/problem+json")
	linger := p.Status != http.StatusRequestEntityTooLarge && early(w, r)
	_ = writeJSON(w, p.Status, p) // nobody is left to tell when this fails
	if linger {
		a.receive(w, r)
	}
}

// slug is a title as a path: "No free signature slot" is no-free-signature-slot.
func slug(title string) string {
	return strings.ReplaceAll(strings.ToLower(strings.Trim(title, ".")), " ", "-")
}
