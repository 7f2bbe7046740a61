package page

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/signing"
)

// pageStatus is the answer to the script of a waiting page. The script goes to To, or loads the page again,
// when State is "done" or "failed", or differs from the last one: "waiting" for the person on the phone,
// "landing" while the signature is added to the document, "busy" while another participant signs.
type pageStatus struct {
	State string `json:"state"`
	To    string `json:"to,omitempty"` // path
}

// wantsStatus reports whether a request comes from the page's script.
func wantsStatus(r *http.Request) bool { return r.Header.Get("Accept") == "application/json" }

// writeStatus answers the page's script.
func writeStatus(w http.ResponseWriter, status int, body pageStatus) error {
	content, err := json.Marshal(body)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(content) // a failed write means that the client is gone
	return nil
}

// sendStatus answers the script of the page of a participant.
func (p *Page) sendStatus(w http.ResponseWriter, r *http.Request, view *portal.ParticipantView) error {
	status, err := p.statusOf(r, view)
	if err != nil {
		return err
	}
	return writeStatus(w, http.StatusOK, status)
}

// statusOf returns the status of the page of a participant.
func (p *Page) statusOf(r *http.Request, view *portal.ParticipantView) (pageStatus, error) {
	switch pageStateOf(view) {
	case stateBusy:
		return pageStatus{State: "busy"}, nil
	case stateSigning:
		return p.signingStatus(r, view)
	}
	failure, err := p.failureOf(r, view)
	if err != nil || failure == "" {
		return pageStatus{"done", pathOf(view)}, err
	}
	return pageStatus{"failed", r.URL.RequestURI()}, nil
}

// signingStatus returns the status of the person's own signature.
func (p *Page) signingStatus(r *http.Request, view *portal.ParticipantView) (pageStatus, error) {
	request := view.Turn.Request
	progress, err := p.config.Portal.Progress(r.Context(), view.ID, view.Participant.ID, request)
	switch {
	case err != nil && !errors.Is(err, portal.ErrNotFound): // not found: the turn has ended just now, which the next request shows
		return pageStatus{}, err
	case !isAbout(r, request, progress.Code):
		return pageStatus{"done", attemptPath(view, request, progress.Code)}, nil
	case progress.Given:
		return pageStatus{State: "landing"}, nil
	}
	return pageStatus{State: "waiting"}, nil
}

// Reload intervals of pages without a script, in seconds.
const (
	codeRefresh = 3
	busyRefresh = 5
)

// codeView is the data of signing.html, the page of a signature under way.
type codeView struct {
	Path, File string
	Code       string    // empty: not known yet
	Spoken     string    // Code digit by digit
	Until      time.Time // latest end of the request
	Approved   bool      // the person has confirmed on the phone
}

// showCode shows what to do on the phone. The address names the signing request, so that it shows the outcome
// afterwards, and whether the code is shown, so that the script notices when the code is known.
func (p *Page) showCode(w http.ResponseWriter, r *http.Request, view *portal.ParticipantView, person portal.Person) error {
	request := view.Turn.Request
	progress, err := p.config.Portal.Progress(r.Context(), view.ID, view.Participant.ID, request)
	if err != nil && !errors.Is(err, portal.ErrNotFound) { // not found: the turn has ended just now, which the next request shows
		return err
	}
	if !isAbout(r, request, progress.Code) {
		return seeOther(w, r, attemptPath(view, request, progress.Code))
	}
	return p.render(w, r, htmlPage{
		file: "signing.html", title: stateSigning.Title, refresh: codeRefresh, person: &person,
		data: codeOf(view, progress),
	})
}

// codeOf returns the data of a signature under way.
func codeOf(view *portal.ParticipantView, progress signing.Progress) codeView {
	return codeView{
		Path: pathOf(view), File: displayText(view.FileName),
		Code: progress.Code, Spoken: spaced(progress.Code),
		Until: progress.Expires, Approved: progress.Given,
	}
}

// busyView is the data of busy.html, shown while another participant signs.
type busyView struct{ Path, File string }

// showBusy shows that another participant is signing.
func (p *Page) showBusy(w http.ResponseWriter, r *http.Request, view *portal.ParticipantView, person portal.Person) error {
	return p.render(w, r, htmlPage{
		file: "busy.html", title: stateBusy.Title, refresh: busyRefresh, person: &person,
		data: busyView{pathOf(view), displayText(view.FileName)},
	})
}

// attemptPath returns the page of a participant about a signing request.
func attemptPath(view *portal.ParticipantView, request, code string) string {
	path := pathOf(view) + "?" + attemptQuery + "=" + request
	if code != "" {
		path += "&" + codeQuery + "=shown"
	}
	return path
}

// isAbout reports whether a request is for the page of attemptPath.
func isAbout(r *http.Request, request, code string) bool {
	query := r.URL.Query()
	return query.Get(attemptQuery) == request && (code == "" || query.Has(codeQuery))
}

// failures maps error codes of the provider to keys of the catalogue.
var failures = map[idp.ErrorCode]string{
	idp.UserCancelled:                 "failure.cancelled",
	idp.AccessDenied:                  "failure.cancelled",
	idp.TimeoutNoAnswer:               "failure.timeout",
	idp.ExpiredToken:                  "failure.timeout",
	idp.UserNotFound:                  "failure.nobody",
	idp.UserHasNoPhone:                "failure.nophone",
	idp.WrongVerificationCodeSelected: "failure.wrongcode",
	idp.RequestInProgress:             "failure.inprogress",
	idp.PinBlocked:                    "failure.pin",
	idp.CardBlocked:                   "failure.card",
	idp.InternalErrorCheckApp:         "failure.app",
	idp.KeyNotFound:                   "failure.certificate",
	idp.CertificateNotFound:           "failure.certificate",
	idp.CertificateIsRevoked:          "failure.revoked",
	idp.CertificateValidationError:    "failure.untrusted",
	idp.SignatureVerificationError:    "failure.untrusted",
	idp.CommunicationError:            "failure.communication",
	idp.SystemUnderMaintenance:        "failure.maintenance",
	idp.InternalError:                 "failure.internal",
	idp.AuthorizationPartyUnknown:     "failure.operator",
	idp.InvalidRequest:                "failure.operator",
	idp.InvalidClient:                 "failure.operator",
	idp.InvalidGrant:                  "failure.operator",
	idp.UnauthorizedClient:            "failure.operator",
	idp.UnsupportedGrantType:          "failure.operator",
	idp.IncorrectParameter:            "failure.operator",
	idp.MissingParameter:              "failure.operator",
	idp.WrongDataLength:               "failure.operator",
	idp.UnableToHandleGivenData:       "failure.document",
	idp.IncompatibleVersion:           "failure.operator",
	idp.UnsupportedProfile:            "failure.operator",
}

// failureKey returns the key of an error code, and a general one for unknown codes.
func failureKey(code idp.ErrorCode) string {
	if key := failures[code]; key != "" {
		return key
	}
	return "failure.unknown"
}

// failureOf returns the key of the reason why the attempt that the address names failed. It returns "" if the
// address names none, or one that did not fail.
func (p *Page) failureOf(r *http.Request, view *portal.ParticipantView) (string, error) {
	query := r.URL.Query()
	if query.Has(refusedQuery) {
		return failureKey(idp.ErrorCode(query.Get(refusedQuery))), nil
	}
	request := query.Get(attemptQuery)
	if request == "" {
		return "", nil
	}
	progress, err := p.config.Portal.Progress(r.Context(), view.ID, view.Participant.ID, request)
	switch {
	case errors.Is(err, portal.ErrNotFound): // an old request, or none
		return "", nil
	case err != nil || progress.Failure == nil:
		return "", err
	}
	return failureKey(progress.Failure.Code), nil
}
