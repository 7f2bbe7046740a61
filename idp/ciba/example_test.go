package ciba_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/innsigli/innsigli/idp/ciba"
)

// A person is asked and refuses.
func ExampleClient() {
	provider := refusing()
	defer provider.Close()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		log.Fatal(err)
	}
	client, err := ciba.New(ciba.Options{Issuer: provider.URL, ClientID: "my client", Secret: "my secret", Key: key})
	if err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	asked, err := client.RequestAuthentication(ctx, ciba.Request{LoginHint: "0101302989", Scope: []string{"openid"}, BindingMessage: "1234"})
	if err != nil {
		log.Fatal(err)
	}
	for end := time.Now().Add(asked.ExpiresIn); time.Now().Before(end); time.Sleep(asked.Interval) { // time: as the provider asks
		tokens, err := client.Tokens(ctx, asked.ID)
		var refused *ciba.Error
		switch {
		case errors.As(err, &refused) && refused.Pending():
			fmt.Println("the person has not answered")
			continue
		case errors.As(err, &refused):
			fmt.Println(refused.Code, refused.Description)
			return
		case err != nil:
			continue // and the next try may succeed
		}
		claims, err := client.Claims(ctx, tokens)
		fmt.Println(claims.Text("name"), err)
		return
	}
	// Output:
	// the person has not answered
	// access_denied mssp_401
}

// refusing starts a provider whose people refuse.
func refusing() *httptest.Server {
	mux := http.NewServeMux()
	provider := httptest.NewServer(mux)
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"issuer": %[1]q, "backchannel_authentication_endpoint": "%[1]s/ask", "token_endpoint": "%[1]s/token"}`, provider.URL)
	})
	mux.HandleFunc("POST /ask", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"auth_req_id": "1c266114-a1be-4252-8ad1-04986c5b9ac1", "expires_in": 120, "interval": 1}`)
	})
	asked := 0
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		if asked++; asked == 1 {
			fmt.Fprint(w, `{"error": "authorization_pending"}`)
			return
		}
		fmt.Fprint(w, `{"error": "access_denied", "error_description": "mssp_401"}`)
	})
	return provider
}
