package login_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"time"

	"github.com/innsigli/innsigli/idp/ciba"
	"github.com/innsigli/innsigli/idp/login"
)

// A site redirects a browser to the provider's pages, where the person refuses.
func ExampleBrowser() {
	provider := refusing()
	defer provider.Close()
	client, err := ciba.New(ciba.Options{Issuer: provider.URL, ClientID: "my client", Secret: "my secret"})
	if err != nil {
		log.Fatal(err)
	}
	pages := http.NewServeMux()
	site := httptest.NewTLSServer(pages)
	defer site.Close()
	browser, err := login.NewBrowser(login.BrowserOptions{Client: client, Redirect: site.URL + "/back"})
	if err != nil {
		log.Fatal(err)
	}

	// The state is in a cookie, which binds it to the browser.
	pages.HandleFunc("/login", func(w http.ResponseWriter, r *http.Request) {
		address, state, err := browser.Begin(r.Context())
		if err != nil {
			http.Error(w, "try again later", http.StatusBadGateway)
			return
		}
		kept, _ := json.Marshal(state)
		http.SetCookie(w, &http.Cookie{Name: "login", Value: base64.RawURLEncoding.EncodeToString(kept), Path: "/back", Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode})
		http.Redirect(w, r, address, http.StatusFound)
	})
	pages.HandleFunc("/back", func(w http.ResponseWriter, r *http.Request) {
		var state login.BrowserState // one of nothing, unless the cookie has it
		if cookie, err := r.Cookie("login"); err == nil {
			kept, _ := base64.RawURLEncoding.DecodeString(cookie.Value)
			_ = json.Unmarshal(kept, &state)
		}
		http.SetCookie(w, &http.Cookie{Name: "login", Path: "/back", MaxAge: -1}) // it is good for one login
		identity, err := browser.Finish(r.Context(), state, r.URL.Query())
		fmt.Println(identity.Name, err)
	})

	person := site.Client()
	if person.Jar, err = cookiejar.New(nil); err != nil {
		log.Fatal(err)
	}
	if _, err := person.Get(site.URL + "/login"); err != nil {
		log.Fatal(err)
	}
	// Output: ciba: the provider answered: "access_denied"
}

// A person is asked on the phone and refuses.
func ExamplePhone() {
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
	phone, err := login.NewPhone(login.PhoneOptions{Client: client, ACR: "app-auth", Text: "Innskráning: {code}"})
	if err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	state, err := phone.Begin(ctx, "0101302989")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("a code of", len(state.Code), "digits is on the page")
	for {
		var identity *login.Identity
		var fault *ciba.TransportError
		state, identity, err = phone.Poll(ctx, state) // and stored here
		switch {
		case errors.As(err, &fault):
			// the next Poll may succeed
		case err != nil:
			fmt.Println(err)
			return
		case identity != nil:
			fmt.Println(identity.Name)
			return
		default:
			fmt.Println("the person has not answered")
		}
		time.Sleep(state.Interval) // time: as the provider asks
	}
	// Output:
	// a code of 4 digits is on the page
	// the person has not answered
	// ciba: the provider answered with status 400: "access_denied"
}

// refusing starts a provider whose people refuse.
func refusing() *httptest.Server {
	mux := http.NewServeMux()
	provider := httptest.NewServer(mux)
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"issuer": %[1]q, "authorization_endpoint": "%[1]s/pages", "backchannel_authentication_endpoint": "%[1]s/ask", "token_endpoint": "%[1]s/token"}`, provider.URL)
	})
	mux.HandleFunc("/pages", func(w http.ResponseWriter, r *http.Request) {
		back := url.Values{"error": {"access_denied"}, "state": {r.FormValue("state")}}
		http.Redirect(w, r, r.FormValue("redirect_uri")+"?"+back.Encode(), http.StatusFound)
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
