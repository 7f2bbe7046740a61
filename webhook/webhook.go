// Package webhook signs, verifies and receives the requests by which the service reports events.
// It imports the standard library and golang.org/x alone. Package [delivery] sends them.
//
// # Receiving
//
// [Verify] reports why a request does not verify. [Receiver] verifies requests for an http.Handler
// and passes each event to it once:
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
// # The requests
//
// A request is a POST of JSON with the members type, timestamp (RFC 3339 with an offset) and data.
// It carries the headers webhook-id, webhook-timestamp, webhook-signature and
// webhook-subscription-id (spec 5.5). The scheme is that of Standard Webhooks 1.0.0:
//
//	content    webhook-id "." webhook-timestamp "." body
//	v1         HMAC-SHA256 (RFC 2104) with the 32 bytes of the subscription's secret
//	v1a        Ed25519 (RFC 8032) with the service's key
//
// webhook-signature has both, each as "scheme,Base64" (RFC 4648 section 4), separated by spaces;
// while keys change, v1a occurs more than once.
//
// [delivery]: https://pkg.go.dev/github.com/innsigli/innsigli/webhook/delivery
package webhook

import (
	"encoding/json"
	"time"
)

// PingType is the type of the event that only asks whether the endpoint is there. It goes to every
// active subscription, and no subscription names it (spec 5.4). Its data is {}.
const PingType = "webhook.ping"

// The headers of a request (spec 5.5).
const (
	HeaderID           = "Webhook-Id"              // of the event; the same in all attempts
	HeaderTimestamp    = "Webhook-Timestamp"       // when the attempt was made, Unix seconds
	HeaderSignature    = "Webhook-Signature"       // "scheme,Base64", separated by spaces
	HeaderSubscription = "Webhook-Subscription-Id" // whom the request is for
)

// SecretSize is the length in bytes of the secrets that the service makes (spec 5.1).
const SecretSize = 32

// AnswerTime is how long the service waits for an answer, from resolving the endpoint's name to the
// last byte of the header (spec 5.2).
const AnswerTime = 15 * time.Second

// Event is what a request says.
type Event struct {
	ID        string    // webhook-id
	Type      string    // such as "process.completed"
	Timestamp time.Time // when it happened
	Data      json.RawMessage
}
