package httpapi

import (
	"context"
	"encoding/hex"
	"errors"
	"net/http"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/httpapi/internal/jsonbody"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// Webhooks manages webhook subscriptions. *delivery.Service implements it.
type Webhooks interface {
	Validate(url *string, eventTypes []string) error
	Create(ctx context.Context, account, url string, eventTypes []string) (delivery.Subscription, error)
	Subscription(ctx context.Context, account, id string) (delivery.Subscription, error)
	Subscriptions(ctx context.Context, account string) ([]delivery.Subscription, error)
	Update(ctx context.Context, account, id string, c delivery.Change) (delivery.Subscription, error)
	Delete(ctx context.Context, account, id string) error
	Activate(ctx context.Context, account, id string) (delivery.Subscription, error)
	Test(ctx context.Context, account, id string) error
	PublicKeys(ctx context.Context) ([]byte, error)
}

// maxEventTypes is the largest number of elements in a list of event types, including duplicates.
const maxEventTypes = 100

// subscription is the JSON form of a webhook subscription (spec 5.1).
type subscription struct {
	ID         string           `json:"id"`
	URL        string           `json:"url"`
	EventTypes []string         `json:"eventTypes"`
	Active     bool             `json:"isActive"`
	CreatedAt  string           `json:"createdAt"`
	UpdatedAt  string           `json:"updatedAt"`
	Reason     *delivery.Reason `json:"deactivatedReason"`
	Secret     string           `json:"secret,omitempty"` // only in the answer to its creation
}

func subscriptionBody(s delivery.Subscription) subscription {
	body := subscription{
		ID: s.ID, URL: s.URL, EventTypes: s.EventTypes, Active: s.Active,
		CreatedAt: timestamp(s.CreatedAt), UpdatedAt: timestamp(s.UpdatedAt),
	}
	if s.Reason != "" {
		body.Reason = &s.Reason
	}
	return body
}

func (a *api) createWebhook(w http.ResponseWriter, r *http.Request, caller account.Caller) error {
	body, err := readBody(w, r, jsonbody.Options{})
	if err != nil {
		return err
	}
	c, err := a.readChange(body, jsonbody.Required)
	if err != nil {
		return err
	}
	made, err := a.Webhooks.Create(r.Context(), caller.AccountID, *c.URL, c.EventTypes)
	if err != nil {
		return err
	}
	answer := subscriptionBody(made)
	answer.Secret = hex.EncodeToString(made.Secret)
	w.Header().Set("Location", webhooksPath+"/"+made.ID)
	return writeJSON(w, http.StatusCreated, answer)
}

func (a *api) updateWebhook(w http.ResponseWriter, r *http.Request, caller account.Caller) error {
	body, err := readBody(w, r, jsonbody.Options{})
	if err != nil {
		return err
	}
	active := body.OptionalBool("isActive")
	c, err := a.readChange(body)
	if err != nil {
		return err
	}
	c.Active = active
	updated, err := a.Webhooks.Update(r.Context(), caller.AccountID, idInPath(r, "subscriptionId"), c)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, subscriptionBody(updated))
}

// readChange reads the URL and the event types. Its error names all faults: wrong types, and values that the service
// does not accept.
func (a *api) readChange(body *jsonbody.Object, rules ...jsonbody.Rule) (delivery.Change, error) {
	c := delivery.Change{
		URL:        body.OptionalString("url", rules...),
		EventTypes: body.Strings("eventTypes", append(rules, jsonbody.Items(1, maxEventTypes))...),
	}
	addFaults(body, a.Webhooks.Validate(c.URL, c.EventTypes))
	if faults := body.Errors(); faults != nil {
		return c, invalid(faults)
	}
	return c, nil
}

func (a *api) getWebhook(w http.ResponseWriter, r *http.Request, caller account.Caller) error {
	found, err := a.Webhooks.Subscription(r.Context(), caller.AccountID, idInPath(r, "subscriptionId"))
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, subscriptionBody(found))
}

func (a *api) listWebhooks(w http.ResponseWriter, r *http.Request, caller account.Caller) error {
	all, err := a.Webhooks.Subscriptions(r.Context(), caller.AccountID)
	if err != nil {
		return err
	}
	list := struct {
		Items []subscription `json:"items"`
	}{[]subscription{}}
	for _, s := range all {
		list.Items = append(list.Items, subscriptionBody(s))
	}
	return writeJSON(w, http.StatusOK, list)
}

func (a *api) deleteWebhook(w http.ResponseWriter, r *http.Request, caller account.Caller) error {
	if err := a.Webhooks.Delete(r.Context(), caller.AccountID, idInPath(r, "subscriptionId")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (a *api) activateWebhook(w http.ResponseWriter, r *http.Request, caller account.Caller) error {
	if _, err := readBody(w, r, jsonbody.Options{Optional: true}); err != nil {
		return err
	}
	active, err := a.Webhooks.Activate(r.Context(), caller.AccountID, idInPath(r, "subscriptionId"))
	var failed *delivery.EndpointError
	if errors.As(err, &failed) {
		return new(activationFailed(string(failed.Failed), failed.Detail))
	}
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, subscriptionBody(active))
}

func (a *api) testWebhook(w http.ResponseWriter, r *http.Request, caller account.Caller) error {
	if _, err := readBody(w, r, jsonbody.Options{Optional: true}); err != nil {
		return err
	}
	err := a.Webhooks.Test(r.Context(), caller.AccountID, idInPath(r, "subscriptionId"))
	var failed *delivery.EndpointError
	if errors.As(err, &failed) {
		return new(testFailed(failed.Detail))
	}
	if err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (a *api) webhookKeys(w http.ResponseWriter, r *http.Request) error {
	lines, err := a.Webhooks.PublicKeys(r.Context())
	if err != nil {
		return err
	}
	return writeText(w, "text/plain; charset=utf-8", string(lines))
}
