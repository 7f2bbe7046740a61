package httpapi

import (
	"errors"
	"net/http"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/httpapi/internal/jsonbody"
	"github.com/innsigli/innsigli/portal"
)

// signAs has a test person sign in the place of a participant (spec 6.4).
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
		return inSandbox(err)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// declineAs declines in the place of a participant. The reason may be empty (spec 6.4),
// which is what one that is missing counts as (spec 1.2), so the call needs no body.
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
		return inSandbox(err)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// inSandbox is the error of a call that names more than a process, all of which production knows nothing of.
func inSandbox(err error) error {
	if errors.Is(err, portal.ErrNotFound) {
		return new(noParticipant)
	}
	return err
}
