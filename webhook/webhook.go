// Package webhook sends signed requests when something has happened, and receives them.
//
// # Receiving
//
// [Verify] says whether a request is the service's; [Receiver] does so for an http.Handler and
// keeps repeated events from it:
//
//	secret, err := webhook.ParseKey("5f70…") // as the creation of the subscription answered
//	receiver := &webhook.Receiver{Keys: []webhook.Key{secret}}
//	http.Handle("POST /hooks", receiver.Handler(func(ctx context.Context, e webhook.Event) error {
//		switch e.Type {
//		case "process.completed": …
//		}
//		return nil
//	}))
//
// # Sending
//
// A [Service] keeps subscriptions, sends events to those that are active, and watches over their
// endpoints with pings and security checks. What the events mean is no concern of it. Emit joins
// the transaction of the change that the event tells of:
//
//	hooks := webhook.New(store, tx, jobs, webhook.Options{EventTypes: []string{"process.completed"}})
//	err := hooks.EnsureKey(ctx) // before anything else
//	…
//	err = tx.InTx(ctx, func(ctx context.Context) error {
//		…
//		return hooks.Emit(ctx, account, "process.completed", time.Now(), result)
//	})
//	…
//	_, err = hooks.Sweep(ctx, time.Now().AddDate(0, 0, -30)) // every few minutes
//
// Requests are made by jobs. Doing them is for a runner of the caller's, which claims them from the
// [storage.Jobs] as [Service.Work] says: the example of [Service] has a small one. A job is done at
// least once, and its requests have the same webhook-id each time. What was logged stays until it is
// swept.
//
// # The requests
//
// A request is a POST of JSON with the members type, timestamp (RFC 3339 with an offset) and data.
// It carries the headers webhook-id, webhook-timestamp, webhook-signature and
// webhook-subscription-id (service.md 6.3). The scheme is that of Standard Webhooks 1.0.0:
//
//	content    webhook-id "." webhook-timestamp "." body
//	v1         HMAC-SHA256 (RFC 2104) with the 32 bytes of the subscription's secret
//	v1a        Ed25519 (RFC 8032) with the service's key
//
// webhook-signature has both, each as "scheme,Base64" (RFC 4648 section 4), separated by spaces;
// while keys change, v1a occurs more than once.
package webhook

import (
	"encoding/json"
	"time"
)

// PingType is the type of the event that only asks whether the endpoint is there. It goes to every
// active subscription, and nobody subscribes to it (service.md 6.1). Its data is {}.
const PingType = "webhook.ping"

// The headers of a request (service.md 6.3).
const (
	HeaderID           = "Webhook-Id"              // of the event; the same in all attempts
	HeaderTimestamp    = "Webhook-Timestamp"       // when the attempt was made, Unix seconds
	HeaderSignature    = "Webhook-Signature"       // "scheme,Base64", separated by spaces
	HeaderSubscription = "Webhook-Subscription-Id" // whom the request is for
)

// Event is what a request says.
type Event struct {
	ID        string    // webhook-id
	Type      string    // such as "process.completed"
	Timestamp time.Time // when it happened
	Data      json.RawMessage
}
