package server

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/server/internal/notify"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// The delay is that of the flag, unless something fails: then the server stops at once.
func TestDrainDelay(t *testing.T) {
	for name, test := range map[string]struct {
		delay time.Duration
		fails time.Duration // after the begin; 0: nothing does
		want  time.Duration
	}{
		"at once":             {0, 0, time.Minute},
		"after a while":       {5 * time.Second, 0, time.Minute + 5*time.Second},
		"a failure before":    {5 * time.Second, time.Second, time.Second},
		"a failure meanwhile": {5 * time.Second, time.Minute + time.Second, time.Minute + time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked, stop := context.WithCancel(t.Context())
				working, fail := context.WithCancelCause(t.Context())
				defer fail(nil)
				time.AfterFunc(time.Minute, stop)
				if test.fails > 0 {
					time.AfterFunc(test.fails, func() { fail(errors.New("a fault")) })
				}
				s := &Server{config: Config{DrainDelay: test.delay, Log: slog.New(slog.DiscardHandler)}}
				began := time.Now()
				s.drain(asked, working)
				if took := time.Since(began); took != test.want {
					t.Errorf("it took %v, want %v", took, test.want)
				}
				stop()
				synctest.Wait()
			})
		})
	}
}

// TestPrivateWebhooks checks that no environment allows webhooks to private addresses unless its base URL is on this
// machine, whether it is given or follows from the listener.
func TestPrivateWebhooks(t *testing.T) {
	for _, test := range []struct {
		environment     Environment
		baseURL, listen string
		allowed         bool
	}{
		{Production, "https://sign.example", ":8080", false},
		{Sandbox, "https://sign.example", ":8080", false},
		{Sandbox, "http://127.0.0.1:8080", "192.0.2.7:8080", true},
		{Sandbox, "", "192.0.2.7:8080", false},
		{Sandbox, "", "[2001:db8::1]:8080", false},
		{Sandbox, "", "127.0.0.1:8080", true},
		{Sandbox, "", ":8080", true}, // its base URL is http://localhost:8080
		{Sandbox, "", "0.0.0.0:8080", true},
	} {
		err := Config{Environment: test.environment, BaseURL: test.baseURL, Listen: test.listen, Webhooks: Webhooks{AllowPrivate: true}}.check()
		if refused := strings.Contains(err.Error(), "Config.Webhooks.AllowPrivate"); refused == test.allowed {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

// The golden files have every kind of job that a server does, and no other.
func TestGoldenKindsAreAll(t *testing.T) {
	var golden []string
	for _, path := range []string{"internal/notify", "../signing", "../webhook/delivery"} {
		var values map[string]json.RawMessage
		if err := json.Unmarshal(testenv.ReadFile(t, filepath.Join(path, "testdata", "jobs-1.golden.json")), &values); err != nil {
			t.Fatal(err)
		}
		for name := range values {
			golden = append(golden, name)
		}
	}
	var kinds []string
	s := &Server{signing: signing.New(nil, nil, nil, nil, nil, nil, nil, signing.Options{}), hooks: new(delivery.Service), mailer: new(notify.Mailer)}
	for _, kind := range s.kinds() {
		names := []string{kind.Name}
		if kind.Name == notify.ProcessKind {
			names = []string{"process.mail invitation", "process.mail completion", "process.mail decline"}
		}
		kinds = append(kinds, names...)
	}
	slices.Sort(golden)
	slices.Sort(kinds)
	if diff := cmp.Diff(kinds, golden); diff != "" {
		t.Errorf("kinds of a server -, of the files +:\n%s", diff)
	}
}
