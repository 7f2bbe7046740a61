package main

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/httpapi"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
	"github.com/innsigli/innsigli/server/doctor"
)

// "innsigli idp check" finds each thing that is wrong, and only that, without a phone that
// rings or a secret in what it says.
func TestIdentityProviderCheck(t *testing.T) {
	testenv.Slow(t, "a provider starts")
	p := newProduction(t, "", "")
	p.ca = catest.New(t)
	p.provider = openidtest.Start(t, openidtest.Options{Redirects: []string{"https://sign.example/login"}})
	p.write(t, "login.txt", []byte(p.provider.Secret))
	p.configure(t, productionOptions{sections: "[login]\nissuer = \"" + p.provider.Issuer + "\"\nclient-id = \"innsigli\"\nclient-secret-file = \"login.txt\"\nmethods = [\"app-auth\"]\n"})
	right := string(testenv.ReadFile(t, filepath.Join(p.folder, "innsigli.toml")))
	p.write(t, "other.txt", []byte("another secret of mine\n"))
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p.write(t, "other.pem", certtest.PEMKey(t, other))
	said := func(key, value string) string { return key + " = \"" + value + "\"\n" }

	unasked := []string{"acr values", "delivery", "keys", "clock", "client", "endpoints", "request"} // without the metadata
	for _, test := range []struct {
		name     string
		old, new string // in the configuration
		fault    openidtest.Fault
		flags    []string
		lines    []string // that are not "ok" begin so
		unknown  []string // of which nothing is said; all else is "ok"
	}{
		{name: "all is right"},
		{name: "no request", flags: []string{"--without-request"}, unknown: []string{"request"}},
		{
			name: "another secret", old: "secret.txt", new: "other.txt",
			lines: []string{`FAULT  client  the token endpoint refuses the client: status 401 "invalid_client"`, "FAULT  request  "},
		},
		{
			name: "another secret for logins", old: "login.txt", new: "other.txt",
			lines: []string{`FAULT  login  client: the token endpoint refuses the client: status 401 "invalid_client"`},
		},
		{name: "another key", old: "idp-key.pem", new: "other.pem", lines: []string{`FAULT  request  the provider refused the test request: "invalid_request`}},
		{
			name: "another issuer", old: said("issuer", p.provider.Issuer) + said("discovery", p.provider.Discovery), new: said("issuer", p.provider.Issuer+"/") + said("discovery", p.provider.Discovery),
			lines: []string{"FAULT  metadata  GET "}, unknown: unasked,
		},
		{name: "another key ID", old: p.provider.KeyID, new: "2025", lines: []string{"FAULT  request  "}},
		{
			name: "no server", old: p.provider.Issuer, new: "http://127.0.0.1:1",
			lines: []string{"FAULT  metadata  GET ", "FAULT  login  metadata: GET "}, unknown: unasked,
		},
		{
			name: "an acr that it does not know", old: "[login]", new: "[identity-provider.app]\nsign-acr = \"app-signed\"\n[login]",
			lines: []string{"doubt  acr values  the metadata does not list app-signed"},
		},
		{
			name: "an app that it does not know", old: "[login]", new: "[identity-provider.app]\ncertificate-acr = \"app\"\n[login]",
			lines: []string{"doubt  acr values  the metadata does not list app", "doubt  request  the provider accepted the signed request for the SIM, and refused it for the app: \"invalid_request: unknown acr_values\""},
		},
		{
			name: "an app that it does not know, and a SIM that makes a CMS", old: "[login]", new: "[identity-provider.app]\ncertificate-acr = \"app\"\n[identity-provider.sim]\nanswer = \"pkcs7\"\nlearn = false\n[login]",
			lines: []string{"doubt  acr values  the metadata does not list app", "doubt  request  the provider accepted the signed request for the SIM"},
		},
		{
			name: "neither the app nor the SIM", old: "[login]", new: "[identity-provider.app]\ncertificate-acr = \"app\"\n[identity-provider.sim]\nacr = \"sim\"\nlearn = false\n[login]",
			lines: []string{"doubt  acr values  the metadata does not list app, sim", "FAULT  request  the provider refused the test request: \"invalid_request: unknown acr_values\""},
		},
		{
			name: "an acr of logins that it does not know", old: "[login]", new: "[login]\nacr-values = [\"nexus\", \"app-auth\"]",
			lines: []string{"doubt  login  the metadata does not list nexus"},
		},
		{name: "logins on phones", old: "[login]", new: "[login.phone]\n[login]\nkey = \"idp-key.pem\""},
		{
			name:  "a clock that is behind",
			fault: openidtest.Fault{Endpoint: openidtest.Token, Status: http.StatusBadRequest, Body: `{"error":"invalid_grant"}`, Header: map[string]string{"Date": time.Now().Add(-5 * time.Minute).UTC().Format(http.TimeFormat)}},
			lines: []string{"FAULT  clock  the provider's clock differs by -"},
		},
		{
			name:  "under maintenance",
			fault: openidtest.Fault{Endpoint: openidtest.Backchannel, Status: http.StatusServiceUnavailable},
			lines: []string{`FAULT  request  the provider refused the test request: "The identity provider is under maintenance.", which clients get as errorCode "SystemUnderMaintenance"`},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			p.write(t, "innsigli.toml", []byte(strings.ReplaceAll(right, test.old, test.new)))
			if test.old == "" {
				p.write(t, "innsigli.toml", []byte(right))
			}
			if test.fault.Endpoint != "" {
				p.provider.Fault(test.fault)
			}
			before := len(p.provider.Asked())
			status, out, talk := p.check(t, test.flags...)
			checkLines(t, out, test.lines, test.unknown)
			if wanted := strings.Contains(strings.Join(test.lines, "\n"), "FAULT"); (status == failed) != wanted || talk != "" {
				t.Errorf("status %d, stderr %q\n%s", status, talk, out)
			}
			for _, asked := range p.provider.Asked()[before:] {
				if hint := asked.Claims["login_hint"]; hint != doctor.NoKennitala && hint != doctor.NoPhone || len(test.flags) > 0 {
					t.Errorf("the provider was asked to sign: %v", hint)
				}
			}
			for _, secret := range []string{p.provider.Secret, "another secret of mine"} {
				if strings.Contains(out, secret) {
					t.Errorf("a secret is said:\n%s", out)
				}
			}
		})
	}
	p.write(t, "innsigli.toml", []byte(right))
	p.person(t, person{"No kennitala", doctor.NoKennitala, "5550100"}, openidtest.Answer{})
	if status, out, _ := p.check(t); status != done || !strings.Contains(squeezed(out), "doubt request the provider accepted the signed request, and has begun to ask") {
		t.Errorf("a person has the kennitala that no person has: status %d\n%s", status, out)
	}
}

// check runs "innsigli idp check" on the configuration.
func (p *production) check(t *testing.T, flags ...string) (status int, out, talk string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status = run(t.Context(), append([]string{"idp", "check", "--config", filepath.Join(p.folder, "innsigli.toml")}, flags...), &stdout, &stderr)
	return status, stdout.String(), stderr.String()
}

// checkLines: the lines of a sheet that are not ok begin as they should, and every check is
// there, but for those of which nothing is known.
func checkLines(t *testing.T, sheet string, wrong, unknown []string) {
	t.Helper()
	var got, about []string
	for line := range strings.Lines(sheet) {
		if strings.HasPrefix(line, " ") { // an advice
			continue
		}
		about = append(about, strings.TrimSpace(line[7:21]))
		if !strings.HasPrefix(line, "ok") {
			got = append(got, squeezed(line))
		}
	}
	alike := slices.EqualFunc(got, wrong, func(line, begin string) bool { return strings.HasPrefix(line, squeezed(begin)) })
	whole := []string{"configuration", "metadata", "acr values", "delivery", "keys", "clock", "client", "endpoints", "request", "login"}
	whole = slices.DeleteFunc(whole, func(what string) bool { return slices.Contains(unknown, what) })
	if !alike || !slices.Equal(slices.Compact(about), whole) {
		t.Errorf("want lines like %q, and the others ok:\n%s", wrong, sheet)
	}
}

func squeezed(line string) string { return strings.Join(strings.Fields(line), " ") }

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
		{"a ping where there are none", "ping", []string{"poll"}, []string{"doubt  delivery  the metadata does not list ping"}},
		{"not listed", "ping", nil, []string{"doubt  delivery  the metadata does not list them"}},
		{"a poll of a client that is pinged", "poll", []string{"poll", "ping"}, []string{"FAULT  request  the provider refused the test request: "}},
		{"a poll where there are none", "poll", []string{"ping"}, []string{"doubt  delivery  the metadata does not list poll", "FAULT  request  "}},
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
		`FAULT login client: the token endpoint refuses the client: status 400 "invalid_request"`,
		"FAULT login endpoints: the metadata lacks backchannel_authentication_endpoint, and the configuration does not set it",
	}, []string{"metadata", "acr values", "delivery", "keys", "clock", "client", "endpoints", "request"})
	if asked := p.provider.Asked(); len(asked) > 0 {
		t.Errorf("the provider was asked to sign: %v", asked)
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
