package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/httpapi/internal/jsonbody"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/xades"
)

// createBusySignal is POST /api/v1/signing/busy-signal (spec 3.11).
func (a *api) createBusySignal(w http.ResponseWriter, r *http.Request, caller account.Caller) error {
	// The body is optional and has no fields. It is read only to refuse one that is not a JSON object (spec 1.1).
	if _, err := readBody(w, r, jsonbody.Options{Optional: true}); err != nil {
		return err
	}
	id, err := a.Signals.Create(r.Context(), caller.AccountID)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, struct {
		ID string `json:"id"`
	}{id})
}

// startSigning is POST /api/v1/signing (spec 3.2 and 3.5).
func (a *api) startSigning(w http.ResponseWriter, r *http.Request, caller account.Caller) error {
	key, err := idempotencyKey(r)
	if err != nil {
		return err
	}
	upload := a.upload(r.Context(), caller)
	defer upload.close() // discards the document unless take was called
	body, err := upload.read(w, r, jsonbody.Options{Content: "file.contentB64"})
	if err != nil {
		return err
	}
	in := a.startFields(r.Context(), body)
	if faults := body.Errors(); faults != nil {
		return invalid(faults)
	}
	in.Account, in.Client = caller.AccountID, caller.ClientID
	if key != "" {
		in.Key = &signing.IdempotencyKey{Client: caller.ClientID, Key: key, Fingerprint: upload.fingerprint()}
	}
	in.Document = upload.take() // from here on Start owns the document, also if it fails
	started, err := a.Signing.Start(r.Context(), in)
	var refusal *signing.Refusal
	switch {
	case errors.As(err, &refusal):
		return writeJSON(w, http.StatusBadRequest, failureBody(refusal.Failure, ""))
	case errors.Is(err, stamp.ErrOutside), errors.Is(err, pades.ErrRect):
		return outsidePageProblem(in.Stamp)
	case err != nil:
		return err
	}
	return writeJSON(w, http.StatusOK, struct {
		PollingID        string  `json:"pollingId"`
		ExpiresIn        int     `json:"expiresIn"` // seconds
		Interval         int     `json:"interval"`  // seconds
		VerificationCode *string `json:"verificationCode"`
	}{started.ID, int(started.ExpiresIn.Seconds()), int(started.Interval.Seconds()), nullable(started.Code)})
}

// startFields reads the fields of spec 3.2, whose faults the body collects. The document itself is in the upload.
func (a *api) startFields(ctx context.Context, body *jsonbody.Object) (in signing.Start) {
	body.Content(jsonbody.Required) // only for its fault
	in.Name = body.String("file.name", jsonbody.Required, jsonbody.MaxLen(maxFileName))
	fileType := body.String("file.type", jsonbody.Required, formats.oneOf())
	in.Format = formats.valueOr(fileType, signing.PDF)
	in.Person = readSigner(body)
	in.Country = body.String("signer.country", jsonbody.MaxLen(maxSignerText))
	in.City = body.String("signer.city", jsonbody.MaxLen(maxSignerText))
	in.Reason = body.String("signer.reason", jsonbody.MaxLen(maxSignerText))
	in.Stamp = a.signatureImage(ctx, body, fileType)
	in.Level, in.Packing = advancedSettings(body, fileType)
	if signal := body.Object("busySignal"); signal != nil {
		in.BusySignal = &signing.BusySignalUse{
			ID:     signal.UUID("id", jsonbody.Required),
			UserID: signal.OptionalString("userId", jsonbody.MaxLen(maxUserID)),
		}
	}
	return in
}

// readSigner reads who is to sign, and with which method.
func readSigner(body *jsonbody.Object) (p idp.Person) {
	p.Method = idp.Method(body.String("signer.signingMethod", jsonbody.Required, jsonbody.OneOf(methodNames...)))
	p.Kennitala = idp.NormalizeKennitala(body.String("signer.kennitala", jsonbody.Required, kennitalaRule))
	if p.Method == idp.SIM {
		p.Phone = body.String("signer.phone", jsonbody.Required, jsonbody.MaxLen(maxPhone))
	} else { // with the app, the value is ignored (spec 3.2), but not a wrong type (spec 1.1)
		body.CheckStrings("signer.phone")
	}
	return p
}

var kennitalaRule = jsonbody.Must(validKennitala, fmt.Sprintf("Must be 1 to %d characters, not counting hyphens.", maxKennitala))

func validKennitala(s string) bool {
	n := len([]rune(idp.NormalizeKennitala(s)))
	return n >= 1 && n <= maxKennitala
}

// advancedSettings reads advancedSignatureSettings for a document of a file type. The defaults are Lt and Enveloped (spec
// 3.4).
func advancedSettings(body *jsonbody.Object, fileType string) (ades.Level, signing.Packing) {
	level := levels.valueOr(body.String("advancedSignatureSettings.signatureLevel", levels.oneOf()), ades.LT)
	packing := packings.valueOr(body.String("advancedSignatureSettings.signaturePacking", packings.oneOf()), xades.Enveloped)
	if fileType == pdfType && packing != xades.Enveloped {
		body.Fault("advancedSignatureSettings.signaturePacking", "Must be Enveloped for a PDF.")
	}
	return level, packing
}

// pollSigning is GET /api/v1/signing/{pollingId} (spec 3.7).
func (a *api) pollSigning(w http.ResponseWriter, r *http.Request, caller account.Caller) error {
	mayHaveSent := false // whether the client may have received a part of the answer
	err := a.Signing.Poll(r.Context(), caller.AccountID, idInPath(r, "pollingId"), func(answer signing.Answer) (err error) {
		mayHaveSent, err = a.writeAnswer(w, r, caller, answer)
		return err
	})
	if err != nil && (mayHaveSent || errors.Is(err, errClientGone)) { // the client cannot get an answer about the error
		panic(a.reportAbort(r.Context(), err))
	}
	return err
}

// writeAnswer writes the answer to a poll. It is 400 unless there is a document, also while the signature is pending (spec
// 3.7). mayHaveSent is true once writing was tried.
func (a *api) writeAnswer(w http.ResponseWriter, r *http.Request, caller account.Caller, answer signing.Answer) (mayHaveSent bool, err error) {
	if r.Context().Err() != nil {
		return false, errClientGone
	}
	if answer.Document == nil {
		return true, flush(w, writeJSON(w, http.StatusBadRequest, failureBody(answer.Failure, answer.Code)))
	}
	release, err := acquire(r.Context(), w, a.answers, caller.AccountID, answer.Document.Size())
	if err != nil {
		return false, err
	}
	defer release()
	const prefix = `{"signedFileB64":"` // writeDocument closes the string and the object
	return true, writeDocument(r.Context(), w, prefix, answer.Document, answer.ReleaseSignal)
}

// failure is the body of a refused start, and of every answer to a poll but the document. It always has all members
// (spec 3.7).
type failure struct {
	ErrorCode        *string `json:"errorCode"`
	Error            *string `json:"error"`
	Description      *string `json:"errorDescription"`
	VerificationCode *string `json:"verificationCode"`
}

// failureBody returns the body for a failure. verificationCode is empty if there is none.
func failureBody(f idp.Failure, verificationCode string) failure {
	return failure{nullable(string(f.Code)), nullable(f.OAuth), nullable(f.Description), nullable(verificationCode)}
}
