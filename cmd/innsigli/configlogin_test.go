package main

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/ciba"
	"github.com/innsigli/innsigli/idp/login"
)

// The [login] of docs/production.md says what the comments beside it do.
func TestLoginConfiguration(t *testing.T) {
	got := reader(t)(documented(t, "docs/production.md", "toml")[1]).login
	compare(t, ciba.Options{
		Issuer: "https://idp.example:443/sso/oauth2/realms/root/realms/audkenni", Discovery: "https://idp.example/metadata",
		ClientID: "sign.example", Secret: "a secret of mine",
		KeyID: "2026-1", Algorithm: "RS256", Lifetime: time.Minute,
		Endpoints: ciba.Endpoints{
			Authorization: "https://idp.example/authorize", BackchannelAuthentication: "https://idp.example/bc-authorize",
			Token: "https://idp.example/access_token", UserInfo: "https://idp.example/userinfo", JWKS: "https://idp.example/connect/jwk_uri",
		},
	}, got.client)
	if timeout := got.client.HTTP.Timeout; got.client.Key == nil || timeout != 10*time.Second {
		t.Errorf("timeout %v, key %v", timeout, got.client.Key)
	}
	scope := []string{"openid", "profile"}
	reading := login.Reading{Kennitala: "nationalRegisterId", Name: "name", Methods: []string{"nexus", "app-auth", "sim-auth"}}
	compare(t, login.BrowserOptions{
		Scope: scope, ACR: []string{"nexus"}, Reading: reading,
		Parameters: url.Values{"service": {"api_v202"}, "ui_locales": {"is"}},
	}, got.browser)
	compare(t, map[idp.Method]login.PhoneOptions{
		idp.App: {Scope: scope, ACR: "app-auth", Text: "{code}", Reading: reading},
		idp.SIM: {Scope: scope, ACR: "sim-auth", Text: "{code}", Reading: reading},
	}, got.phones)
}

// Of a [login] little is needed, and all of it is noticed when it changes.
func TestLoginChoices(t *testing.T) {
	before, rest, _ := strings.Cut(documented(t, "docs/production.md", "toml")[0], "[login]")
	_, after, _ := strings.Cut(rest, "[identity-provider]")
	base, read := before+"[identity-provider]"+after+"[login]\nissuer = \"https://idp.example\"\nclient-id = \"sign.example\"\n", reader(t)
	secret := base + "client-secret-file = \"idp-secret.txt\"\n"
	least := read(secret).login
	compare(t, ciba.Options{Issuer: "https://idp.example", ClientID: "sign.example", Secret: "a secret of mine"}, least.client)
	compare(t, login.BrowserOptions{}, least.browser)
	if least.client.Key != nil || least.phones != nil {
		t.Errorf("key %v, phones %v", least.client.Key, least.phones)
	}
	for name, test := range map[string]struct {
		text string
		want func(*loginProvider) bool
	}{
		"a claim less": {
			secret + "key = \"idp-key.pem\"\nomit-claims = [\"jti\"]\n[login.phone]\n",
			func(p *loginProvider) bool { return slices.Equal(p.client.OmitClaims, []string{"jti"}) },
		},
		"an assertion": {
			base + "authentication = \"private-key-jwt\"\nkey = \"idp-key.pem\"\n",
			func(p *loginProvider) bool {
				return p.client.PrivateKeyJWT && p.client.Key != nil && p.client.Secret == ""
			},
		},
		"the encoding": {secret + "secret-encoding = \"form\"\n", func(p *loginProvider) bool { return p.client.FormSecret }},
		"a parameter":  {secret + "[login.parameters]\nservice = \"api_v202\"\n", func(p *loginProvider) bool { return p.browser.Parameters.Get("service") == "api_v202" }},
		"a method":     {secret + "methods = [\"nexus\"]\n", func(p *loginProvider) bool { return len(p.browser.Reading.Methods) == 1 }},
		"the phone": {
			secret + "key = \"idp-key.pem\"\n[login.phone]\n",
			func(p *loginProvider) bool {
				return p.phones[idp.App].ACR == "app-auth" && p.phones[idp.SIM].ACR == "sim-auth"
			},
		},
		"its methods": {
			secret + "key = \"idp-key.pem\"\n[login.phone]\napp-acr = \"app\"\nsim-acr = \"sim\"\ntext = \"Innskráning {code}\"\n",
			func(p *loginProvider) bool {
				return p.phones[idp.App].ACR == "app" && p.phones[idp.SIM].ACR == "sim" && p.phones[idp.SIM].Text == "Innskráning {code}"
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			after := read(test.text).login
			if test.want(least) || !test.want(after) {
				t.Errorf("%+v", after)
			}
			if after.same(least) || !after.same(read(test.text).login) {
				t.Error("the change is not noticed, or one where there is none")
			}
		})
	}
}
