package httpapi

import (
	"net/http"
	"time"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/httpapi/internal/jsonbody"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/sandbox"
)

// user is a sandbox user on the wire (spec 6.1).
type user struct {
	UUID      string `json:"uuid"`
	FullName  string `json:"fullName"`
	Kennitala string `json:"kennitala"`
	Phone     string `json:"phone"`
	Delay     int    `json:"delayInSecondsBeforeAction"`
	Action    string `json:"action"`
	CreatedAt string `json:"createdAt,omitempty"` // not in the list
	UpdatedAt string `json:"updatedAt,omitempty"`
}

func userBody(u sandbox.User) user {
	return user{
		UUID: u.ID, FullName: u.FullName, Kennitala: u.Kennitala, Phone: u.Phone,
		Delay: int(u.Delay / time.Second), Action: string(u.Action),
	}
}

// timestamp is the format of createdAt and updatedAt (spec 1.5).
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

func (a *api) createSandboxUser(w http.ResponseWriter, r *http.Request, caller account.Caller) error {
	profile, err := readProfile(w, r, jsonbody.Required)
	if err != nil {
		return err
	}
	created, err := a.Sandbox.Create(r.Context(), caller.AccountID, profile)
	if err != nil {
		return err
	}
	body := userBody(created)
	body.CreatedAt, body.UpdatedAt = timestamp(created.CreatedAt), timestamp(created.UpdatedAt)
	return writeJSON(w, http.StatusOK, body)
}

func (a *api) listSandboxUsers(w http.ResponseWriter, r *http.Request, caller account.Caller) error {
	users, err := a.Sandbox.Users(r.Context(), caller.AccountID)
	if err != nil {
		return err
	}
	list := struct {
		Items []user `json:"items"`
	}{[]user{}}
	for _, u := range users {
		list.Items = append(list.Items, userBody(u))
	}
	return writeJSON(w, http.StatusOK, list)
}

func (a *api) updateSandboxUser(w http.ResponseWriter, r *http.Request, caller account.Caller) error {
	profile, err := readProfile(w, r)
	if err != nil {
		return err
	}
	if err := a.Sandbox.Update(r.Context(), caller.AccountID, idInPath(r, "uuid"), profile); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// readProfile reads the fields of a user; required has the rules of the first
// three.
func readProfile(w http.ResponseWriter, r *http.Request, required ...jsonbody.Rule) (sandbox.Profile, error) {
	body, err := readBody(w, r, jsonbody.Options{})
	if err != nil {
		return sandbox.Profile{}, err
	}
	field := func(path string, rules ...jsonbody.Rule) *string {
		return body.OptionalString(path, append(required[:len(required):len(required)], rules...)...)
	}
	notHyphens := func(s string) bool { return idp.NormalizeKennitala(s) != "" }
	p := sandbox.Profile{
		FullName:  field("fullName", jsonbody.MaxLen(maxFullName)),
		Kennitala: field("kennitala", jsonbody.MaxLen(maxKennitala), jsonbody.Must(notHyphens, "Must be more than hyphens.")),
		Phone:     field("phone", jsonbody.MaxLen(maxPhone)),
		Action:    (*sandbox.Action)(body.OptionalString("action", jsonbody.OneOf(actionNames...))),
	}
	if seconds := body.OptionalInt("delayInSecondsBeforeAction", jsonbody.Between(0, maxDelaySeconds)); seconds != nil {
		delay := time.Duration(*seconds) * time.Second
		p.Delay = &delay
	}
	if faults := body.Errors(); faults != nil {
		return p, invalid(faults)
	}
	return p, nil
}
