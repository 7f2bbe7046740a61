package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/httpapi/internal/jsonbody"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

// Portal keeps signing processes; *portal.Service is one.
type Portal interface {
	Create(ctx context.Context, d portal.Draft) (portal.ProcessView, error)
	Process(ctx context.Context, account, id string) (portal.ProcessView, error)
	List(ctx context.Context, account string, q portal.Query) (portal.Page, error)
	Document(ctx context.Context, account, id string) (fileName string, content storage.Blob, err error)
	Delete(ctx context.Context, account, id string) error
	SignAs(ctx context.Context, account, process, participant, testUser string) error
	DeclineAs(ctx context.Context, account, process, participant, reason string) error
}

// createProcess is POST /api/v1/portal/signing-processes (spec 4.1).
func (a *api) createProcess(w http.ResponseWriter, r *http.Request, caller account.Caller) error {
	key, err := idempotencyKey(r)
	if err != nil {
		return err
	}
	upload := a.upload(r.Context(), caller)
	defer upload.drop()
	body, err := upload.read(w, r, jsonbody.Options{Content: "file.contentBase64", Limit: maxSmallBody})
	if err != nil {
		return err
	}
	d := readDraft(body)
	if faults := body.Errors(); faults != nil {
		return invalid(faults)
	}
	d.Account, d.Client, d.Origin, d.Document = caller.AccountID, caller.ClientID, portal.API, upload.take()
	if key != "" {
		d.Key = &portal.DraftKey{Value: key, Fingerprint: upload.fingerprint()}
	}
	made, err := a.Portal.Create(r.Context(), d)
	if errors.Is(err, pades.ErrEncrypted) { // also when it opens without a password
		return new(unreadable("The document is encrypted."))
	}
	if err != nil {
		return err
	}
	w.Header().Set("Location", processesPath+"/"+made.ID)
	return writeJSON(w, http.StatusCreated, a.processBody(made))
}

// readDraft reads the fields of spec 4.1. What the portal has against them is among the
// faults together with what is of another type.
func readDraft(body *jsonbody.Object) (d portal.Draft) {
	body.Content(jsonbody.Required)
	d.FileName = body.String("file.name", jsonbody.Required)
	page := jsonbody.Or(body.OptionalInt("signaturePage"), 1)
	d.Page = int(min(max(page, 0), math.MaxInt32)) // the numbers beyond are no pages either
	d.Corner = corners[body.String("signatureLocation", jsonbody.Required, jsonbody.OneOf(cornerNames...))]
	for _, one := range body.Objects("participants", jsonbody.Required, jsonbody.Items(1, portal.MaxParticipants)) {
		d.Participants = append(d.Participants, portal.Invitee{
			Name:      one.String("name", jsonbody.Required),
			Email:     one.String("email", jsonbody.Required),
			Role:      portal.Role(one.String("role", jsonbody.Required)),
			Kennitala: one.String("kennitala"),
			Phone:     one.String("phoneNumber"),
		})
	}
	addFaults(body, d.Check())
	return d
}

func (a *api) getProcess(w http.ResponseWriter, r *http.Request, caller account.Caller) error {
	found, err := a.Portal.Process(r.Context(), caller.AccountID, idInPath(r, "signingProcessId"))
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, a.processBody(found))
}

func (a *api) deleteProcess(w http.ResponseWriter, r *http.Request, caller account.Caller) error {
	if err := a.Portal.Delete(r.Context(), caller.AccountID, idInPath(r, "signingProcessId")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// getProcessDocument streams the body of spec 4.4. For HEAD it reads nothing of the document.
func (a *api) getProcessDocument(w http.ResponseWriter, r *http.Request, caller account.Caller) error {
	name, content, err := a.Portal.Document(r.Context(), caller.AccountID, idInPath(r, "signingProcessId"))
	if err != nil {
		return err
	}
	defer content.Close()
	encoded, err := json.Marshal(name)
	if err != nil {
		return err
	}
	prefix := `{"fileName":` + string(encoded) + `,"contentBase64":"`
	if r.Method == http.MethodHead {
		writeDocumentHeader(w, prefix, content.Size())
		return nil
	}
	leave, err := enter(r.Context(), w, a.out, caller.AccountID, content.Size())
	if err != nil {
		return err
	}
	defer leave()
	if err := writeDocument(r.Context(), w, prefix, content, func() error { return nil }); err != nil {
		a.breakOff(r.Context(), err)
	}
	return nil
}
