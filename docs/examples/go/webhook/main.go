// Command webhook receives webhooks at http://127.0.0.1:PORT/hooks and prints what happened:
//
//	PORT=9000 WEBHOOK_SECRET=… go run ./docs/examples/go/webhook
//
// WEBHOOK_SECRET is the secret of the subscription. It needs the package webhook, which verifies,
// refuses, and remembers which events were handled.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/innsigli/innsigli/webhook"
)

func main() {
	key, err := webhook.ParseKey(os.Getenv("WEBHOOK_SECRET"))
	if err != nil {
		log.Fatal(err)
	}
	receiver := &webhook.Receiver{Keys: []webhook.Key{key}}
	mux := http.NewServeMux()
	mux.Handle("POST /hooks", receiver.Handler(func(_ context.Context, e webhook.Event) error {
		fmt.Println(e.Type, string(e.Data)) // an error is answered with 500, and the event comes again
		return nil
	}))
	server := http.Server{Addr: "127.0.0.1:" + os.Getenv("PORT"), Handler: mux, ReadTimeout: 15 * time.Second}
	log.Fatal(server.ListenAndServe())
}
