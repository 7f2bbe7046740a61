package main

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/httpapi"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

// The provider has to have the delivery mode that the configuration chooses, and know the
// client for it.
func TestDeliveryIsChecked(t *testing.T) {
	testenv.Slow(t, "servers start again and again")
	p := newProduction(t, "", "")
	p.ca = catest.New(t)
	p.provider = openidtest.Start(t, openidtest.Options{Notify: "http://127.0.0.1:1" + httpapi.NotificationPath, Redirects: []string{"https://sign.example/sign/back"}})
	discovery := p.provider.Discovery
	for _, test := range []struct {
		name, delivery string
		modes          []string // of the metadata
		lines          []string // that are not "ok" begin so
	}{
		{"a ping", "ping", []string{"poll", "ping"}, nil},
		{"a ping where there are none", "ping", []string{"poll"}, []string{"doubt  delivery  the metadata does not name ping"}},
		{"nobody knows", "ping", nil, []string{"doubt  delivery  the metadata does not say which there are"}},
		{"a poll of a client that is pinged", "poll", []string{"poll", "ping"}, []string{"FAULT  request  the provider refused it: "}},
		{"a poll where there are none", "poll", []string{"ping"}, []string{"doubt  delivery  the metadata does not name poll", "FAULT  request  "}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p.provider.Discovery = metadata(t, discovery, map[string]any{"backchannel_token_delivery_modes_supported": test.modes})
			p.configure(t, productionOptions{keys: "delivery = \"" + test.delivery + "\"\n"})
			status, out, _ := p.check(t)
			checkLines(t, out, test.lines, nil)
			if (status == failed) != strings.Contains(out, "FAULT") {
				t.Errorf("status %d\n%s", status, out)
			}
		})
	}
}

// Logins want a client that may redeem codes, and for phones also the endpoint of CIBA.
func TestLoginIsChecked(t *testing.T) {
	p := newProduction(t, "", "")
	p.provider = openidtest.Start(t, openidtest.Options{Undiscovered: true}) // and without a redirect, so that codes are not for the client
	p.write(t, "secret.txt", []byte(p.provider.Secret))
	p.write(t, "idp-key.pem", certtest.PEMKey(t, p.provider.Key))
	p.write(t, "innsigli.toml", []byte("[login]\nissuer = \""+p.provider.Issuer+"\"\nclient-id = \""+p.provider.ClientID+"\"\nclient-secret-file = \"secret.txt\"\nkey = \"idp-key.pem\"\n[login.phone]\n"))
	status, out, _ := p.check(t, "--environment", "sandbox")
	if status != failed {
		t.Errorf("status %d", status)
	}
	checkLines(t, out, []string{
		`FAULT login client: the token endpoint does not take the client: 400 "invalid_request"`,
		"FAULT login endpoints: neither the metadata nor the configuration has backchannel_authentication_endpoint",
	}, []string{"metadata", "acr values", "delivery", "keys", "clock", "client", "endpoints", "request"})
	if asked := p.provider.Asked(); len(asked) > 0 {
		t.Errorf("somebody was asked: %v", asked)
	}
}

// metadata serves a provider's with other members; nil is null.
func metadata(t *testing.T, from string, members map[string]any) (address string) {
	t.Helper()
	resp, err := http.Get(from)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var all map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&all); err != nil {
		t.Fatal(err)
	}
	maps.Copy(all, members)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { json.NewEncoder(w).Encode(all) }))
	t.Cleanup(server.Close)
	return server.URL
}
