package httpapi

import (
	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/httpapi/internal/openapi"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/webhook/delivery"
)

const oneWebhook = webhooksPath + "/{subscriptionId}"

var subscriptionParameters = []openapi.Parameter{inPath("subscriptionId", "The ID of the subscription.")}

// webhookOperations are those of spec 5.1.
func (a *api) webhookOperations() []operation {
	return []operation{
		a.createWebhookOperation(), a.listWebhooksOperation(), a.getWebhookOperation(), a.updateWebhookOperation(),
		a.deleteWebhookOperation(), a.activateWebhookOperation(), a.testWebhookOperation(), a.webhookKeysOperation(),
	}
}

var wrongURL = *invalid(map[string][]string{"url": {"Must be a public https address."}, "eventTypes[0]": {"Must be one of the event types."}})

func (a *api) createWebhookOperation() operation {
	return operation{
		method: "POST", path: webhooksPath, scope: account.ScopePortalWrite, call: a.createWebhook,
		id: "createWebhook", tag: webhooksTag, summary: "Create a webhook subscription",
		text: "The subscription is inactive until it is activated. The secret that requests are signed with is in this answer and never again.",
		body: jsonRequest("WebhookDraft", sample("all", "All events", raw(`{"url":"https://example.com/hooks/innsigli","eventTypes":["participant.signed","participant.declined","process.completed"]}`))),
		answers: []answer{{status: 201, text: "The subscription, with its secret.", headers: location(webhooksPath), content: jsonContent("NewWebhook",
			sample("made", "A new subscription", raw(`{"id":"0f8fad5b-d9cb-469f-a165-70867728950e","url":"https://example.com/hooks/innsigli","eventTypes":["process.completed"],"isActive":false,"createdAt":"2026-03-02T09:15:00.000Z","updatedAt":"2026-03-02T09:15:00.000Z","deactivatedReason":null,"secret":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}`)))}},
		problems: []problem{wrongURL, tooManySubscriptions},
	}
}

func (a *api) listWebhooksOperation() operation {
	return operation{
		method: "GET", path: webhooksPath, scope: account.ScopePortalRead, call: a.listWebhooks,
		id: "listWebhooks", tag: webhooksTag, summary: "List webhook subscriptions",
		text:    "All subscriptions of the account in the order of their creation, without secrets.",
		answers: []answer{{status: 200, text: "The subscriptions.", content: jsonContent("WebhookList", sample("one", "One subscription", raw(`{"items":[`+webhookExample+`]}`)))}},
	}
}

func (a *api) getWebhookOperation() operation {
	return operation{
		method: "GET", path: oneWebhook, scope: account.ScopePortalRead, call: a.getWebhook,
		id: "getWebhook", tag: webhooksTag, summary: "Read a webhook subscription",
		text:       "The subscription, without its secret.",
		parameters: subscriptionParameters,
		answers:    []answer{theWebhook("The subscription.")},
		problems:   []problem{noSubscription},
	}
}

func (a *api) updateWebhookOperation() operation {
	return operation{
		method: "PUT", path: oneWebhook, scope: account.ScopePortalWrite, call: a.updateWebhook,
		id: "updateWebhook", tag: webhooksTag, summary: "Change a webhook subscription",
		text:       "Send the members to change; others stay as they are. A new `url` makes the subscription inactive until it is activated again, and `isActive` false switches it off. It is switched on by activating it alone.",
		parameters: subscriptionParameters,
		body:       jsonRequest("WebhookChange", sample("events", "Other events", raw(`{"eventTypes":["process.completed"]}`)), sample("off", "Switch off", raw(`{"isActive":false}`))),
		answers:    []answer{theWebhook("The subscription as it is now.")},
		problems:   []problem{wrongURL, noSubscription, activateCall},
	}
}

func (a *api) deleteWebhookOperation() operation {
	return operation{
		method: "DELETE", path: oneWebhook, scope: account.ScopePortalWrite, call: a.deleteWebhook,
		id: "deleteWebhook", tag: webhooksTag, summary: "Delete a webhook subscription",
		text:       "Deletes it for good. What was still to be delivered to it is dropped.",
		parameters: subscriptionParameters,
		answers:    []answer{noContent("It is deleted.")},
		problems:   []problem{noSubscription},
	}
}

func (a *api) activateWebhookOperation() operation {
	return operation{
		method: "POST", path: oneWebhook + "/activate", scope: account.ScopePortalWrite, call: a.activateWebhook,
		id: "activateWebhook", tag: webhooksTag, summary: "Activate a webhook subscription",
		text:       "Sends the endpoint two pings, in any order: one that is correctly signed and has to be answered with 2xx, and one that cannot verify and has to be answered with 401. If both are, the subscription is active. It may take 30 seconds.",
		parameters: subscriptionParameters,
		body:       noBody(),
		answers:    []answer{theWebhook("The subscription, which is active.")},
		problems:   []problem{noSubscription, changedMeanwhile, activationFailed(string(delivery.UnverifiablePing), "The ping that cannot verify was answered with 200 instead of 401."), tooManyCalls},
	}
}

func (a *api) testWebhookOperation() operation {
	return operation{
		method: "POST", path: oneWebhook + "/test", scope: account.ScopePortalWrite, call: a.testWebhook,
		id: "testWebhook", tag: webhooksTag, summary: "Test a webhook subscription",
		text:       "Sends the endpoint one correctly signed `webhook.ping`. The subscription may be inactive.",
		parameters: subscriptionParameters,
		body:       noBody(),
		answers:    []answer{noContent("The endpoint answered with 2xx.")},
		problems:   []problem{noSubscription, testFailed("The endpoint answered with 500."), tooManyCalls},
	}
}

func theWebhook(text string) answer {
	return answer{status: 200, text: text, content: jsonContent("Webhook", sample("subscription", "A subscription", raw(webhookExample)))}
}

const webhookExample = `{"id":"0f8fad5b-d9cb-469f-a165-70867728950e","url":"https://example.com/hooks/innsigli","eventTypes":["process.completed"],"isActive":true,"createdAt":"2026-03-02T09:15:00.000Z","updatedAt":"2026-03-02T09:20:00.000Z","deactivatedReason":null}`

// webhookSchemas are the bodies of spec 5.1.
func webhookSchemas() openapi.Map[*openapi.Schema] {
	url := field(delivery.MaxURL, "The endpoint: an `https` address that is public, without a user name or password.")
	url.Format = "uri"
	types := func(most int) *openapi.Schema {
		list := openapi.List(choice(portal.EventTypes(), ""))
		list.MinItems, list.MaxItems = 1, most
		return list.About("The events to send.")
	}
	reason := choice([]string{string(delivery.PingsFailed), string(delivery.SecurityCheckFailed), string(delivery.URLChanged), string(delivery.SwitchedOff)}, "Why the subscription is not active any more; null when it is, or never was.")
	record := openapi.Map[*openapi.Schema]{
		{Name: "id", Value: identifier("Identifies the subscription.")},
		{Name: "url", Value: &openapi.Schema{Type: str, Format: "uri", Description: "The endpoint."}},
		{Name: "eventTypes", Value: types(0)},
		{Name: "isActive", Value: &openapi.Schema{Type: boolean, Description: "Whether events are sent to it."}},
		{Name: "createdAt", Value: moment("When it was created.")},
		{Name: "updatedAt", Value: moment("When it was changed last.")},
		{Name: "deactivatedReason", Value: reason.OrNull()},
	}
	required := []string{"id", "url", "eventTypes", "isActive", "createdAt", "updatedAt", "deactivatedReason"}
	secret := openapi.Member[*openapi.Schema]{Name: "secret", Value: &openapi.Schema{Type: str, Pattern: `^[0-9a-f]{64}$`, Description: "What requests are signed with (`v1`): 64 hexadecimal characters that stand for 32 bytes. It is told once."}}
	return openapi.Map[*openapi.Schema]{
		{Name: "WebhookDraft", Value: openapi.Object([]string{"url", "eventTypes"}, openapi.Map[*openapi.Schema]{{Name: "url", Value: url}, {Name: "eventTypes", Value: types(maxEventTypes)}})},
		{Name: "WebhookChange", Value: openapi.Object(nil, openapi.Map[*openapi.Schema]{
			{Name: "url", Value: url.OrNull()},
			{Name: "eventTypes", Value: types(maxEventTypes).OrNull()},
			{Name: "isActive", Value: &openapi.Schema{Type: openapi.Types{"boolean", "null"}, Not: &openapi.Schema{Const: true}, Description: "False switches the subscription off. True is refused: see the activation."}},
		})},
		{Name: "Webhook", Value: openapi.Object(required, record)},
		{Name: "NewWebhook", Value: openapi.Object(append(required, "secret"), append(record, secret))},
		{Name: "WebhookList", Value: listOf("Webhook")},
	}
}

// listOf is the wrapper of lists (spec 1.5).
func listOf(schema string) *openapi.Schema {
	return openapi.Object([]string{"items"}, openapi.Map[*openapi.Schema]{{Name: "items", Value: openapi.List(openapi.Reference(schema))}})
}

func (a *api) webhookKeysOperation() operation {
	return operation{
		method: "GET", path: "/.well-known/webhook-key.pub", open: a.webhookKeys,
		id: "getWebhookKeys", tag: serverTag, summary: "Read the public keys of webhooks",
		text:     "The ed25519 keys that the `v1a` signatures of requests to webhook endpoints verify with, one a line in OpenSSH's format. There are two for a while when a key is replaced.",
		answers:  []answer{{status: 200, text: "The keys.", content: texts(textType, "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGVsZlzpDl1CvuxoTVjJ1q1zPEtvYkYPdVyI5uH8lT2c innsigli-webhooks\n")}},
		problems: []problem{internalError, unavailable},
	}
}
