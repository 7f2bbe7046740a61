package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/internal/jsonbody"
	"github.com/innsigli/innsigli/signing"
)

// pollSigning is GET /api/v1/signing/{pollingId} (service.md 2.3).
func (a *api) pollSigning(w http.ResponseWriter, r *http.Request, caller account.Caller) error {
	written := false
	err := a.Signing.Poll(r.Context(), caller.AccountID, strings.ToLower(r.PathValue("pollingId")), func(answer signing.Answer) error {
		if r.Context().Err() != nil {
			return errGone // before a byte of it: the result is for a later poll
		}
		written = true
		if answer.Document == nil {
			return flushed(w, writeJSON(w, http.StatusBadRequest, failureBody(answer.Failure, answer.Code)))
		}
		return writeDocument(r.Context(), w, answer)
	})
	if !written && errors.Is(err, errGone) {
		panic(http.ErrAbortHandler)
	}
	if !written || err == nil {
		return err
	}
	// The status is out already. Breaking the connection tells the client that the
	// answer is not whole.
	if a.Failed != nil && !errors.Is(err, errGone) {
		a.Failed(r.Context(), err)
	}
	panic(http.ErrAbortHandler)
}

// flushed sends what is still in buffers, so that an answer counts as written only
// when it is on its way whole.
func flushed(w http.ResponseWriter, err error) error {
	if err != nil {
		return err
	}
	if err := http.NewResponseController(w).Flush(); err != nil {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	return nil
}

const (
	documentPrefix = `{"signedFileB64":"`
	documentSuffix = `"}`
)

// writeDocument streams the document. Its length is announced, so that a client
// notices when it is cut off. A client that has gone before the last bytes were
// written does not have it whole.
func writeDocument(ctx context.Context, w http.ResponseWriter, answer signing.Answer) error {
	size := answer.Document.Size()
	length := int64(len(documentPrefix)+len(documentSuffix)) + jsonbody.Base64Len(size)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.FormatInt(length, 10))
	w.WriteHeader(http.StatusOK)
	if err := jsonbody.WriteBase64(clientWriter{w}, documentPrefix, answer.Document, size, ""); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return errGone
	}
	if err := answer.Free(); err != nil {
		return err
	}
	_, err := io.WriteString(clientWriter{w}, documentSuffix)
	return flushed(w, err)
}

// failure is the body of a refused start and of every 400 of a poll, with all
// members (decisions.md 4.3).
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
