package server

import (
	"bytes"
	"context"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/webhook/delivery"
)

// A server starts beside a secret of one account that another program stored, refuses it, and says so without the secret.
func TestPlainSecretIsReported(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	var log bytes.Buffer
	chosen := []byte("a secret that an attacker chose")
	s, db := newServer(t, path, func(c *Config) {
		c.Log = slog.New(slog.NewTextHandler(&log, nil))
		err := c.Backend.InTx(t.Context(), func(ctx context.Context) error {
			return c.Backend.Webhooks().CreateSubscription(ctx, delivery.Subscription{
				ID: "planted", Account: "a", URL: "https://x.example", EventTypes: []string{"e"}, CreatedAt: now(), UpdatedAt: now(), Secret: chosen}, 1)
		})
		if err != nil {
			t.Fatal(err)
		}
	})
	w := httptest.NewRecorder()
	s.observer.Metrics.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if want := `innsigli_refused_secrets_total{reason="plain"} 1`; !strings.Contains(w.Body.String(), want) {
		t.Errorf("the metrics lack %s", want)
	}
	if text := log.String(); !strings.Contains(text, "secret in the store refused") || !strings.Contains(text, "(webhook subscription planted)") || strings.Contains(text, string(chosen)) {
		t.Errorf("log: %s", text)
	}
	stored, err := db.Webhooks().Subscription(t.Context(), "planted")
	if err != nil || !bytes.Equal(stored.Secret, chosen) {
		t.Errorf("the server changed the record: %+v, %v", stored, err)
	}
}
