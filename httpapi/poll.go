package httpapi

import (
	"errors"
	"net/http"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/signing"
)

// pollSigning is GET /api/v1/signing/{pollingId} (spec 3.7).
func (a *api) pollSigning(w http.ResponseWriter, r *http.Request, caller account.Caller) error {
	written := false
	err := a.Signing.Poll(r.Context(), caller.AccountID, idInPath(r, "pollingId"), func(answer signing.Answer) error {
		if r.Context().Err() != nil {
			return errGone // before a byte of it: the result is for a later poll
		}
		if answer.Document == nil {
			written = true
			return flushed(w, writeJSON(w, http.StatusBadRequest, failureBody(answer.Failure, answer.Code)))
		}
		leave, err := enter(r.Context(), w, a.out, caller.AccountID, answer.Document.Size())
		if err != nil {
			return err
		}
		defer leave()
		written = true
		return writeDocument(r.Context(), w, `{"signedFileB64":"`, answer.Document, answer.Free)
	})
	if !written && errors.Is(err, errGone) {
		panic(http.ErrAbortHandler)
	}
	if !written || err == nil {
		return err
	}
	a.breakOff(r.Context(), err)
	return nil
}

// failure is the body of a refused start and of every 400 of a poll, with all
// members (spec 3.7).
type failure struct {
	Code             *string `json:"errorCode"`
	Error            *string `json:"error"`
	Description      *string `json:"errorDescription"`
	VerificationCode *string `json:"verificationCode"`
}

func failureBody(f idp.Failure, code string) failure {
	return failure{nullable(string(f.Code)), nullable(f.OAuth), nullable(f.Description), nullable(code)}
}

func nullable(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
