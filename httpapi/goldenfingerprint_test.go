package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/innsigli/innsigli/httpapi"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/signing"
)

// keptKey is a service that keeps the idempotency key of a start.
type keptKey struct {
	refusingSigning
	key *signing.IdempotencyKey
}

func (k *keptKey) Start(_ context.Context, in signing.Start) (signing.Started, error) {
	k.key = in.Key
	return signing.Started{ID: "1"}, nil
}

// The fingerprint of a body is what version 1 stored with an idempotency key. So a request that is
// repeated after an update is known.
func TestGoldenFingerprint(t *testing.T) {
	service := &keptKey{refusingSigning: refusingSigning{uploading: func() {}}}
	call := failingCall{method: "POST", path: signingPath, body: aStart, header: http.Header{"Idempotency-Key": {"key"}}}
	w := httptest.NewRecorder()
	httpapi.New(httpapi.Config{Accounts: refusingAccounts{}, Signing: service}).ServeHTTP(w, call.request())
	if w.Code != http.StatusOK || service.key == nil {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	testenv.SameAsGolden(t, "testdata/fingerprint-1.golden", []byte(service.key.Fingerprint+"\n"))
}
