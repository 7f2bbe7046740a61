package webhook

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"
)

// ErrNoEvent: a body is not that of an event.
var ErrNoEvent = errors.New("webhook: body is not an event")

// ParseEvent reads the event of a request that [Verify] has let through; [ErrNoEvent].
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
