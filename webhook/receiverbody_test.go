package webhook_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/webhook"
)

func TestWhatIsNoEvent(t *testing.T) {
	t.Parallel()
	e := newReceiving(t, webhook.Receiver{})
	for _, body := range []string{
		"", "null", "[]", `"process.completed"`, "{}", eventBody + "{}", eventBody[1:],
		`{"timestamp":"2026-06-17T12:00:00Z","data":{}}`,
		`{"type":"","timestamp":"2026-06-17T12:00:00Z","data":{}}`,
		`{"type":1,"timestamp":"2026-06-17T12:00:00Z","data":{}}`,
		`{"type":"a","data":{}}`,
		`{"type":"a","timestamp":"yesterday","data":{}}`,
		`{"type":"a","timestamp":1781697600,"data":{}}`,
		`{"type":"a","timestamp":"2026-06-17T12:00:00Z"}`,
		strings.Repeat(`{"data":`, 100_000),
	} {
		e.answers("1", body, http.StatusBadRequest, 0)
	}
	for _, err := range e.reports {
		if !errors.Is(err, webhook.ErrNoEvent) {
			t.Error(err)
		}
	}
	e.answers("1", `{"type":"a","timestamp":"2026-06-17T12:00:00.123456Z","data":null,"more":[]}`, http.StatusNoContent, 1)
}

func TestBodiesAreBounded(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		limit int64
		size  int
		want  int
	}{
		"a mebibyte":       {0, 1 << 20, http.StatusNoContent},
		"a byte more":      {0, 1<<20 + 1, http.StatusRequestEntityTooLarge},
		"as many as said":  {1000, 1000, http.StatusNoContent},
		"more than that":   {1000, 1001, http.StatusRequestEntityTooLarge},
		"more than usual":  {2 << 20, 2 << 20, http.StatusNoContent},
		"more than enough": {2 << 20, 3 << 20, http.StatusRequestEntityTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			e := newReceiving(t, webhook.Receiver{MaxBody: test.limit})
			if got := e.send("1", eventBody+strings.Repeat(" ", test.size-len(eventBody))); got.Code != test.want {
				t.Errorf("%d, want %d", got.Code, test.want)
			}
		})
	}
}
