package delivery

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/webhook"
)

const (
	goldenRequests = "testdata/requests-1.golden"
	requestMark    = "### " // before the name of each request in the file
	securityCheck  = "security check"
)

// The requests are what version 1 sent, to the byte. Only the order of the headers is not compared.
func TestGoldenRequests(t *testing.T) {
	golden(t, func(t *testing.T, s *sending) {
		var text strings.Builder
		note := func(name string) {
			text.WriteString(requestMark + name + "\n" + requestText(s.wire.String(), name == securityCheck))
			s.wire.Reset()
		}
		data := goldenData(t)
		for _, eventType := range s.to.EventTypes {
			if err := s.service.Emit(t.Context(), s.to.Account, eventType, goldenTime, data[eventType]); err != nil {
				t.Fatal(err)
			}
			s.do(t) // makes the delivery
			s.do(t) // sends it
			note(eventType)
		}
		for _, round := range []struct{ name, kind string }{{"ping", pingKind}, {securityCheck, checkKind}} {
			if err := s.service.enqueueRound(t.Context(), round.kind, s.to, outcome{}); err != nil {
				t.Fatal(err)
			}
			s.status = map[string]int{pingKind: http.StatusNoContent, checkKind: http.StatusUnauthorized}[round.kind]
			s.do(t)
			note(round.name)
		}
		testenv.SameAsGolden(t, goldenRequests, []byte(text.String()))
	})
}

var signatures = regexp.MustCompile(`(v1a?),[A-Za-z0-9+/=]+`)

// requestText is a request as the file has it. The headers are sorted. Random signatures are
// replaced.
func requestText(wire string, random bool) string {
	head, body, _ := strings.Cut(wire, "\r\n\r\n")
	if random {
		head = signatures.ReplaceAllString(head, "$1,RANDOM")
	}
	lines := strings.Split(head, "\r\n")
	slices.Sort(lines[1:])
	return strings.Join(lines, "\n") + "\n\n" + body + "\n\n"
}

// eachRequest reads the requests of the file, and calls do with each and its name.
func eachRequest(t *testing.T, do func(name string, r *http.Request)) {
	t.Helper()
	content, err := os.ReadFile(goldenRequests)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(content), requestMark)[1:] {
		name, text, _ := strings.Cut(part, "\n")
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text)))
		if err != nil {
			t.Fatal(err)
		}
		do(name, r)
	}
}

// Every golden request verifies with the secret and with each public key, and is read as the event
// that was sent. A security check verifies with none of the keys.
func TestGoldenRequestsAreReceived(t *testing.T) {
	keys := []webhook.Key{webhook.Secret(goldenSecret)}
	for _, seed := range goldenSeeds {
		keys = append(keys, webhook.PublicKey(ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey)))
	}
	golden(t, func(t *testing.T, s *sending) { // at the time of the requests, and with their IDs
		var want []webhook.Event
		data := goldenData(t)
		for _, eventType := range s.to.EventTypes {
			want = append(want, webhook.Event{ID: uuid.NewString(), Type: eventType, Timestamp: goldenTime.Truncate(time.Millisecond), Data: data[eventType]})
		}
		for _, key := range keys {
			var got []webhook.Event
			handler := (&webhook.Receiver{Keys: []webhook.Key{key}}).Handler(func(_ context.Context, e webhook.Event) error {
				got = append(got, e)
				return nil
			})
			eachRequest(t, func(name string, r *http.Request) {
				status := http.StatusNoContent
				if name == securityCheck {
					status = http.StatusUnauthorized
				}
				w := httptest.NewRecorder()
				if handler.ServeHTTP(w, r); w.Code != status {
					t.Errorf("%v, %s: status %d, want %d: %s", key, name, w.Code, status, w.Body)
				}
			})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%v: -want +got:\n%s", key, diff)
			}
		}
	})
}
