// Package webhook signs, verifies and receives the requests by which the service reports events. It imports the
// standard library and golang.org/x only. Package [delivery] sends the requests.
//
// # Receiving
//
// [Verify] reports why a request does not verify. [Receiver] verifies requests for an http.Handler and passes each
// event to a function once:
//
//	secret, err := webhook.ParseKey("5f70…") // from the response that created the subscription
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
// A request is a POST of JSON with the members type, timestamp (RFC 3339 with an offset) and data. It has the
// headers webhook-id, webhook-timestamp, webhook-signature and webhook-subscription-id (spec 5.5). It is signed as
// in Standard Webhooks 1.0.0:
//
//	content    webhook-id "." webhook-timestamp "." body
//	v1         HMAC-SHA256 (RFC 2104) with the 32 bytes of the subscription's secret
//	v1a        Ed25519 (RFC 8032) with the service's key
//
// webhook-signature contains signatures of both schemes, each as "scheme,Base64" (RFC 4648 section 4), separated by
// spaces. During a key rotation it contains several v1a signatures.
//
// [delivery]: https://pkg.go.dev/github.com/innsigli/innsigli/webhook/delivery
package webhook

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"
)

// The headers of a request (spec 5.5).
const (
	HeaderID           = "Webhook-Id"              // of the event; the same in all attempts
	HeaderTimestamp    = "Webhook-Timestamp"       // time of the attempt, Unix seconds
	HeaderSignature    = "Webhook-Signature"       // "scheme,Base64", separated by spaces
	HeaderSubscription = "Webhook-Subscription-Id" // the subscription that the request is sent for
)

// SecretSize is the length in bytes of the secrets that the service generates (spec 5.1).
const SecretSize = 32

// ResponseTimeout is how long the service waits for a response, from resolving the endpoint's name to the last byte
// of the response header (spec 5.2).
const ResponseTimeout = 15 * time.Second

// PingType is the type of the event that checks whether the endpoint is available. It is sent to every active
// subscription, and cannot be subscribed to (spec 5.4). Its data is {}.
const PingType = "webhook.ping"

// Event is the event that a request reports.
type Event struct {
	ID        string    // webhook-id
	Type      string    // such as "process.completed"
	Timestamp time.Time // when it happened
	Data      json.RawMessage
}

// ErrNoEvent: the body of a request is not an event.
var ErrNoEvent = errors.New("webhook: body is not an event")

// ParseEvent returns the event of a request that [Verify] accepted. Error: [ErrNoEvent].
func ParseEvent(header http.Header, body []byte) (Event, error) {
	var members struct {
		Type      string          `json:"type"`
		Timestamp time.Time       `json:"timestamp"`
		Data      json.RawMessage `json:"data"`
	}
	err := json.Unmarshal(body, &members)
	if err != nil || members.Type == "" || members.Timestamp.IsZero() || members.Data == nil {
		return Event{}, ErrNoEvent
	}
	return Event{header.Get(HeaderID), members.Type, members.Timestamp, members.Data}, nil
}

// SignV1 returns the v1 signature of a request with a subscription's secret, as an item of the header
// webhook-signature.
func SignV1(secret []byte, id string, at time.Time, body []byte) string {
	return string(V1) + "," + base64.StdEncoding.EncodeToString(hmacSHA256(secret, content(id, at, body)))
}

// SignV1a returns the v1a signature of a request with the service's key, as an item of the header webhook-signature.
func SignV1a(key ed25519.PrivateKey, id string, at time.Time, body []byte) string {
	return string(V1a) + "," + base64.StdEncoding.EncodeToString(ed25519.Sign(key, content(id, at, body)))
}

// content returns the bytes that are signed (spec 5.5).
func content(id string, at time.Time, body []byte) []byte {
	return append(append(strconv.AppendInt([]byte(id+"."), at.Unix(), 10), '.'), body...)
}

func hmacSHA256(secret, content []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write(content)
	return mac.Sum(nil)
}
