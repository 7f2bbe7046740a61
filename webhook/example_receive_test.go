package webhook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"time"

	"github.com/innsigli/innsigli/webhook"
)

// A stored request is verified as of the time when it was received.
func ExampleVerifyAt() {
	key, err := webhook.ParseKey("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINUogOKPYcqkwqSKguVfR1GpIomngAnqn2UyJwwWzoq+")
	if err != nil {
		fmt.Println(err)
		return
	}
	header, body := http.Header{}, []byte(`{"test": 2432232314}`)
	header.Set(webhook.HeaderID, "msg_p5jXN8AQM9LWM0D4loKWxJek")
	header.Set(webhook.HeaderTimestamp, "1614265330")
	header.Set(webhook.HeaderSignature, "v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg==")

	fmt.Println(webhook.VerifyAt(time.Unix(1614265330, 0), header, body, key))
	fmt.Println(webhook.Verify(header, body, key))
	// Output:
	// <nil>
	// webhook: webhook-timestamp is too old
}

// hooks is the example of docs/webhooks.md.
func hooks(mux *http.ServeMux) error {
	key, err := webhook.ParseKey(os.Getenv("WEBHOOK_SECRET"))
	if err != nil {
		return err
	}
	receiver := &webhook.Receiver{Keys: []webhook.Key{key}}
	mux.Handle("POST /hooks", receiver.Handler(func(ctx context.Context, e webhook.Event) error {
		switch e.Type {
		case "process.completed":
			return fetchDocument(ctx, e.Data)
		}
		return nil
	}))
	return nil
}

func fetchDocument(_ context.Context, data json.RawMessage) error {
	fmt.Printf("fetching the document of %s\n", data)
	return nil
}

// An event that comes twice is handled once, and what does not verify is refused.
func ExampleReceiver() {
	secret := []byte("which the service made at random")
	os.Setenv("WEBHOOK_SECRET", fmt.Sprintf("%x", secret))
	mux := http.NewServeMux()
	if err := hooks(mux); err != nil {
		fmt.Println(err)
		return
	}
	body := `{"type":"process.completed","timestamp":"2026-06-17T12:00:00Z","data":{"signingProcessId":"5f0e"}}`
	now := time.Now()
	send := func(signature string) {
		request := httptest.NewRequest(http.MethodPost, "/hooks", strings.NewReader(body))
		request.Header.Set(webhook.HeaderID, "2e6c0f6b")
		request.Header.Set(webhook.HeaderTimestamp, fmt.Sprint(now.Unix()))
		request.Header.Set(webhook.HeaderSignature, signature)
		answer := httptest.NewRecorder()
		mux.ServeHTTP(answer, request)
		fmt.Println(answer.Code)
	}
	signature := webhook.SignV1(secret, "2e6c0f6b", now, []byte(body))
	send(signature)
	send(signature)
	send("v1,AAAA")
	// Output:
	// fetching the document of {"signingProcessId":"5f0e"}
	// 204
	// 204
	// 401
}
