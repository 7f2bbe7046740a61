package httpapi

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/portal"
)

// listedProcess is a signing process in a list (spec 4.8): neither links nor what is personal.
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

// readProcessQuery reads the parameters of a list. The faults are those of single parameters, by their names.
func readProcessQuery(query string) (q portal.Query, faults map[string][]string) {
	q.Limit, faults = portal.DefaultPage, make(map[string][]string)
	values, err := url.ParseQuery(query)
	if err != nil {
		faults["$"] = []string{"The query of the address cannot be read."}
		return q, faults
	}
	value := func(name string) string {
		switch {
		case len(values[name]) > 1:
			faults[name] = []string{"Must be given once."}
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
			q.Limit = 0 // which is none either
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
