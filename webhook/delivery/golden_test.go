package delivery

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/webhook"
)

// goldenTime is the time of the events in the golden files.
var goldenTime = time.Date(2026, 3, 2, 10, 0, 0, 123456000, time.UTC)

// counted replaces the source of random bytes. The first read returns only bytes of 1, the second only bytes of 2,
// and so on, so that the UUIDs are always the same.
type counted byte

func (c *counted) Read(to []byte) (int, error) {
	*c++
	return copy(to, bytes.Repeat([]byte{byte(*c)}, len(to))), nil
}

// sending is a service with one subscription, and with its store, jobs and endpoint in memory.
type sending struct {
	Store
	storage.Jobs
	service *Service
	to      Subscription
	keys    []SigningKey
	jobs    []storage.Job // that were enqueued
	status  int           // that the endpoint answers
	wire    bytes.Buffer  // what the endpoint has received
}

func (s *sending) Subscription(context.Context, string) (Subscription, error) { return s.to, nil }

func (s *sending) Subscriptions(context.Context, string) ([]Subscription, error) {
	return []Subscription{s.to}, nil
}

func (s *sending) Keys(context.Context) ([]SigningKey, error) { return s.keys, nil }

func (s *sending) UpdateSubscription(context.Context, Subscription) error { return nil }

func (s *sending) AddAttempt(context.Context, Attempt) error { return nil }

func (s *sending) Enqueue(_ context.Context, jobs ...storage.Job) error {
	s.jobs = append(s.jobs, jobs...)
	return nil
}

// serve answers one request.
func (s *sending) serve(c net.Conn) {
	r, err := http.ReadRequest(bufio.NewReader(io.TeeReader(c, &s.wire)))
	if err == nil {
		_, err = io.Copy(io.Discard, r.Body)
	}
	if err == nil {
		fmt.Fprintf(c, "HTTP/1.1 %d Status\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", s.status)
	}
}

// goldenSecret and goldenSeeds are the keys that sign the golden requests.
var (
	goldenSecret = bytes.Repeat([]byte{7}, 32)
	goldenSeeds  = [][]byte{bytes.Repeat([]byte{8}, 32), bytes.Repeat([]byte{9}, 32)}
)

// golden runs a test with a service in a bubble, which begins in the year 2000, and with constant UUIDs.
func golden(t *testing.T, test func(t *testing.T, s *sending)) {
	t.Helper()
	uuid.SetRand(new(counted))
	defer uuid.SetRand(nil)
	synctest.Test(t, func(t *testing.T) {
		s := &sending{status: http.StatusNoContent, to: Subscription{
			ID: "7c9e6679-7425-40de-944b-e07fc1f90ae7", Account: "account", URL: "http://hooks.example.com/innsigli?tenant=1",
			Active: true, Generation: 3, Secret: goldenSecret,
		}}
		s.to.EventTypes = slices.Sorted(maps.Keys(goldenData(t)))
		for i, seed := range goldenSeeds {
			public := ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey)
			s.keys = append(s.keys, SigningKey{Number: i + 1, Public: public, Private: seed})
		}
		s.service = New(s, nil, s, Options{EventTypes: s.to.EventTypes})
		s.service.post = pipeSender(t, s.serve).post
		test(t, s)
	})
}

// goldenData returns the data of each type of event, as package portal makes it.
func goldenData(t *testing.T) (data map[string]json.RawMessage) {
	t.Helper()
	content, err := os.ReadFile("../../portal/testdata/events-1.golden.json")
	if err == nil {
		err = json.Unmarshal(content, &data)
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// do does the job that was enqueued last.
func (s *sending) do(t *testing.T) {
	t.Helper()
	job := s.jobs[len(s.jobs)-1]
	work := s.service.Work()
	then, err := work[slices.IndexFunc(work, func(w Work) bool { return w.Kind == job.Kind })].Do(t.Context(), job)
	if err == nil && then != nil {
		err = then(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Jobs are encoded as version 1 stored them, and those are read.
func TestGoldenJobs(t *testing.T) {
	const eventType = "participant.signed"
	golden(t, func(t *testing.T, s *sending) {
		data := goldenData(t)[eventType]
		body := `{"type":"participant.signed","timestamp":"2026-03-02T10:00:00.123+00:00","data":` + string(data) + `}`
		event := payload{Version: 1, Event: "01010101-0101-4101-8101-010101010101", Type: eventType, Body: body}
		delivery, retry, fannedOut := event, event, event
		fannedOut.To = []target{{s.to.ID, 3}}
		delivery.Attempt, delivery.Generation = 1, 3
		retry.Attempt, retry.Generation = 2, 3
		alert := queuedAlert{"b1ad1de3-2f5f-4d1c-9a2b-6f7c0d9e8a11", "account", s.to.ID, s.to.URL, ForCheck, SecurityCheckFailed, goldenTime}
		want := map[string]payload{
			eventKind: fannedOut, deliveryKind: delivery, retryKind: retry, alertKind: {Version: 1, Alert: alert},
			digestKind: {Version: 1, At: goldenTime, To: []target{{s.to.ID, 3}}},
			pingKind:   {Version: 1, Generation: 3, At: goldenTime}, checkKind: {Version: 1, Generation: 3, At: goldenTime},
		}

		err := s.service.Emit(t.Context(), "account", eventType, goldenTime, data)
		s.do(t) // makes the delivery
		s.status = http.StatusServiceUnavailable
		s.do(t)                                                                           // makes the retry
		older, failed := withPayload(storage.Job{Kind: alertKind}, payload{Alert: alert}) // which only versions before digests made
		err = errors.Join(err, failed, s.service.enqueue(t.Context(), older))
		err = errors.Join(err, s.service.enqueueDigest(t.Context(), "account", goldenTime, payload{At: goldenTime, To: []target{{s.to.ID, 3}}}))
		for _, kind := range []string{pingKind, checkKind} {
			err = errors.Join(err, s.service.enqueueProbe(t.Context(), kind, s.to, outcome{since: goldenTime}))
		}
		if err != nil {
			t.Fatal(err)
		}
		made := make(map[string][]byte)
		for _, job := range s.jobs {
			made[job.Kind] = job.Payload
		}
		got := make(map[string]payload)
		var all payload
		for kind, encoded := range testenv.SameAsGoldenJSON(t, "testdata/jobs-1.golden.json", made) {
			read, err := payloadOf(storage.Job{Payload: encoded})
			if err := errors.Join(err, json.Unmarshal(encoded, &all)); err != nil {
				t.Error(err)
			}
			got[kind] = read
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		testenv.Filled(t, all)
		for _, work := range s.service.Work() {
			if _, known := want[work.Kind]; !known {
				t.Errorf("%s is not in the file", work.Kind)
			}
		}
	})
}

const (
	goldenRequests = "testdata/requests-1.golden"
	requestMark    = "### " // before the name of each request in the file
	securityCheck  = "security check"
)

// Requests are those of version 1, byte for byte, except the order of the headers.
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
			if err := s.service.enqueueProbe(t.Context(), round.kind, s.to, outcome{}); err != nil {
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

// requestText returns a request as the file has it, with sorted headers, and without random signatures.
func requestText(wire string, random bool) string {
	head, body, _ := strings.Cut(wire, "\r\n\r\n")
	if random {
		head = signatures.ReplaceAllString(head, "$1,RANDOM")
	}
	lines := strings.Split(head, "\r\n")
	slices.Sort(lines[1:])
	return strings.Join(lines, "\n") + "\n\n" + body + "\n\n"
}

// eachRequest calls do for each request of the file, with its name.
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

// Every golden request verifies with the secret and with each public key, and is decoded as the event that was sent.
// A security check verifies with none.
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
