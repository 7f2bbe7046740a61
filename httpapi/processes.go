package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/httpapi/internal/jsonbody"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/pades/inspect"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/storage"
)

// Portal manages signing processes. *portal.Service implements it.
type Portal interface {
	Create(ctx context.Context, d portal.Draft) (portal.ProcessView, error)
	Process(ctx context.Context, account, id string) (portal.ProcessView, error)
	List(ctx context.Context, account string, q portal.Query) (portal.Page, error)
	Document(ctx context.Context, account, id string) (fileName string, content storage.Blob, err error)
	Delete(ctx context.Context, account, id string) error
	SignAs(ctx context.Context, account, process, participant, sandboxUserID string) error
	DeclineAs(ctx context.Context, account, process, participant, reason string) error
}

// createProcess is POST /api/v1/portal/signing-processes (spec 4.1).
func (a *api) createProcess(w http.ResponseWriter, r *http.Request, caller account.Caller) error {
	key, err := idempotencyKey(r)
	if err != nil {
		return err
	}
	upload := a.upload(r.Context(), caller)
	defer upload.close() // discards the document unless take was called
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
	if errors.Is(err, pades.ErrEncrypted) { // also a document that opens without a password
		return new(unreadable("The document is encrypted."))
	}
	if err != nil {
		return err
	}
	w.Header().Set("Location", processesPath+"/"+made.ID)
	return writeJSON(w, http.StatusCreated, a.processBody(made))
}

// readDraft reads the fields of spec 4.1. The faults of the body include those that portal.Draft.Check reports.
func readDraft(body *jsonbody.Object) (d portal.Draft) {
	body.Content(jsonbody.Required) // only for its fault
	d.FileName = body.String("file.name", jsonbody.Required)
	page := jsonbody.Or(body.OptionalInt("signaturePage"), 1)
	d.Page = int(min(max(page, 0), math.MaxInt32)) // larger numbers are not pages either
	d.Corner = corners.valueOr(body.String("signatureLocation", jsonbody.Required, corners.oneOf()), stamp.TopLeft)
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

// getProcessDocument streams the document of a signing process (spec 4.4). For HEAD it does not read the document.
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
	release, err := acquire(r.Context(), w, a.answers, caller.AccountID, content.Size())
	if err != nil {
		return err
	}
	defer release()
	if err := writeDocument(r.Context(), w, prefix, content, func() error { return nil }); err != nil {
		panic(a.reportAbort(r.Context(), err))
	}
	return nil
}

// process is the JSON form of a signing process (spec 4.2).
type process struct {
	ID           string            `json:"signingProcessId"`
	Status       portal.Status     `json:"status"`
	CreatedAt    string            `json:"createdAt"`
	Participants []participant     `json:"participants"`
	Warnings     []inspect.Warning `json:"warnings"`
}

// participant is the JSON form of a participant of a signing process.
type participant struct {
	ID            string        `json:"participantId"`
	Name          string        `json:"name"`
	Email         string        `json:"email"`
	Role          portal.Role   `json:"role"`
	Status        portal.Status `json:"status"`
	HasCompleted  bool          `json:"hasCompleted"`
	HasDeclined   bool          `json:"hasDeclined"`
	DeclineReason *string       `json:"declineReason"`
	SigningURL    *string       `json:"signingUrl"`
}

func (a *api) processBody(v portal.ProcessView) process {
	body := process{ID: v.ID, Status: v.Status, CreatedAt: timestamp(v.CreatedAt), Participants: []participant{}, Warnings: []inspect.Warning{}}
	for _, one := range v.Participants {
		body.Participants = append(body.Participants, a.participantBody(one))
	}
	body.Warnings = append(body.Warnings, v.Warnings...)
	return body
}

func (a *api) participantBody(v portal.ParticipantState) participant {
	body := participant{
		ID: v.ID, Name: v.Name, Email: v.Email, Role: v.Role, Status: v.Status,
		HasCompleted: v.Signature != nil, HasDeclined: v.Decline != nil,
	}
	if v.Decline != nil {
		body.DeclineReason = &v.Decline.Reason
	}
	if v.Path != "" {
		body.SigningURL = new(a.BaseURL + v.Path)
	}
	return body
}

// listedProcess is the JSON form of a signing process in a list (spec 4.8). It has no links and no personal data.
type listedProcess struct {
	ID        string        `json:"signingProcessId"`
	Status    portal.Status `json:"status"`
	CreatedAt string        `json:"createdAt"`
	ExpiresAt *string       `json:"expiresAt"`
	EndedAt   *string       `json:"endedAt"`
	FileName  string        `json:"fileName"`
	Signers   int           `json:"signers"`
	Signed    int           `json:"signed"`
	Viewers   int           `json:"viewers"`
}

// listProcesses is GET /api/v1/portal/signing-processes (spec 4.8).
func (a *api) listProcesses(w http.ResponseWriter, r *http.Request, caller account.Caller) error {
	q, faults := readProcessQuery(r.URL.RawQuery)
	for field, messages := range invalidFields(q.Check()) {
		if faults[field] == nil {
			faults[field] = messages
		}
	}
	if len(faults) > 0 {
		return invalid(faults)
	}
	page, err := a.Portal.List(r.Context(), caller.AccountID, q)
	if err != nil {
		return err
	}
	list := struct {
		Items []listedProcess `json:"items"`
		Next  *string         `json:"next"`
	}{Items: []listedProcess{}}
	for _, v := range page.Processes {
		list.Items = append(list.Items, listedBody(v))
	}
	if page.Next != "" {
		list.Next = &page.Next
	}
	return writeJSON(w, http.StatusOK, list)
}

// readProcessQuery reads the query parameters of a list. faults has the messages by parameter.
func readProcessQuery(query string) (q portal.Query, faults map[string][]string) {
	q.Limit, faults = portal.DefaultPage, make(map[string][]string)
	values, err := url.ParseQuery(query)
	if err != nil {
		faults["$"] = []string{"The query of the URL cannot be parsed."}
		return q, faults
	}
	value := func(name string) string {
		switch {
		case len(values[name]) > 1:
			faults[name] = []string{"Must be given only once."}
		case values.Has(name) && values.Get(name) == "":
			faults[name] = []string{"Must not be empty."}
		}
		return values.Get(name)
	}
	q.Status, q.After = portal.Status(value("status")), value("after")
	if text := value("createdAfter"); text != "" {
		if q.CreatedAfter, err = time.Parse(time.RFC3339Nano, text); err != nil {
			faults["createdAfter"] = []string{"Must be a time such as 2026-03-02T09:15:00Z (RFC 3339)."}
		}
	}
	if text := value("limit"); text != "" {
		if q.Limit, err = strconv.Atoi(text); err != nil {
			q.Limit = 0 // is invalid as well
		}
	}
	return q, faults
}

func listedBody(v portal.ProcessView) listedProcess {
	body := listedProcess{ID: v.ID, Status: v.Status, CreatedAt: timestamp(v.CreatedAt), FileName: v.FileName}
	if until := v.WaitsUntil(); !until.IsZero() {
		body.ExpiresAt = new(timestamp(until))
	}
	if !v.EndedAt.IsZero() {
		body.EndedAt = new(timestamp(v.EndedAt))
	}
	body.Signers, body.Signed, body.Viewers = v.Counts()
	return body
}
