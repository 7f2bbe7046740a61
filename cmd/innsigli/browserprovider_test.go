package main

import (
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"testing"

	catest "github.com/innsigli/innsigli/internal/test/ca"
	"github.com/innsigli/innsigli/server"

	browsertest "github.com/innsigli/innsigli/internal/test/browser"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

// In a real browser people log in on the pages of an OpenID provider, which is another site: it takes a
// cookie that comes back from there, and a way there that the page's own policy does not forbid. To
// their phones the provider does not get.
func TestSigningPageWithAProvider(t *testing.T) {
	testenv.Slow(t, "a browser")
	t.Parallel()
	browsertest.Needed(t)
	address := testenv.Address(t)
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	base := "http://localhost:" + port
	p := newProduction(t, build(t), "", "--config", "innsigli.toml", "--listen", address, "--base-url", base)
	p.ca = catest.New(t)
	p.provider = openidtest.Start(t, openidtest.Options{Redirects: []string{base + server.LoginPath}})
	p.keepsToItself(t)
	p.configure(t, productionOptions{})
	phones := "key = \"idp-key.pem\"\nkey-id = \"test-2026\"\n[login.phone]\n"
	p.write(t, "innsigli.toml", append(testenv.ReadFile(t, filepath.Join(p.folder, "innsigli.toml")), phones...))
	p.run(t)
	p.client = p.account(t, p.store)
	p.write(t, "sample.pdf", testenv.ReadFile(t, "sample.pdf"))

	who := people[0]
	p.person(t, who, openidtest.Answer{})
	p.provider.Login(who.kennitala)
	p.provider.Fault(openidtest.Fault{Endpoint: openidtest.Backchannel, Times: 100, Status: http.StatusInternalServerError})
	origin, err := url.Parse(p.provider.URL(openidtest.Authorization))
	if err != nil {
		t.Fatal(err)
	}
	browsertest.Play(t, browsertest.Stage{
		BaseURL: base, API: p.BaseURL, Token: p.client.token, Document: filepath.Join(p.folder, "sample.pdf"),
		Provider: "http://" + origin.Host, Person: browsertest.Person{Name: who.name, Kennitala: who.kennitala, Phone: who.phone},
	})
}
