package config

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/ciba"
	"github.com/innsigli/innsigli/idp/login"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// The [login] of docs/production.md says what the comments beside it do.
func TestLoginConfiguration(t *testing.T) {
	got := reader(t)(testenv.Blocks(t, "docs/production.md", "toml")[1]).Logins
	compare(t, ciba.Options{
		Issuer: "https://idp.example:443/sso/oauth2/realms/root/realms/audkenni", Discovery: "https://idp.example/metadata",
		ClientID: "sign.example", Secret: "a secret of mine",
		KeyID: "2026-1", Algorithm: "RS256", Lifetime: time.Minute,
		Endpoints: ciba.Endpoints{
			Authorization: "https://idp.example/authorize", BackchannelAuthentication: "https://idp.example/bc-authorize",
			Token: "https://idp.example/access_token", UserInfo: "https://idp.example/userinfo", JWKS: "https://idp.example/connect/jwk_uri",
		},
	}, got.Client)
	if timeout := got.Client.HTTP.Timeout; got.Client.Key == nil || timeout != 10*time.Second {
		t.Errorf("timeout %v, key %v", timeout, got.Client.Key)
	}
	scope := []string{"openid", "profile"}
	reading := login.ClaimRules{Kennitala: "nationalRegisterId", Name: "name", Methods: []string{"nexus", "app-auth", "sim-auth"}}
	compare(t, login.BrowserOptions{
		Scope: scope, ACR: []string{"nexus"}, Claims: reading,
		Parameters: url.Values{"service": {"api_v202"}, "ui_locales": {"is"}},
	}, got.Browser)
	compare(t, map[idp.Method]login.PhoneOptions{
		idp.App: {Scope: scope, ACR: "app-auth", Text: "{code}", Claims: reading},
		idp.SIM: {Scope: scope, ACR: "sim-auth", Text: "{code}", Claims: reading},
	}, got.Phones)
}

// Of a [login] little is needed, and all of it is noticed when it changes.
func TestLoginChoices(t *testing.T) {
	before, rest, _ := strings.Cut(testenv.Blocks(t, "docs/production.md", "toml")[0], "[login]")
	_, after, _ := strings.Cut(rest, "[identity-provider]")
	base, read := before+"[identity-provider]"+after+"[login]\nissuer = \"https://idp.example\"\nclient-id = \"sign.example\"\n", reader(t)
	secret := base + "client-secret-file = \"idp-secret.txt\"\n"
	first := read(secret)
	least := first.Logins
	compare(t, ciba.Options{Issuer: "https://idp.example", ClientID: "sign.example", Secret: "a secret of mine"}, least.Client)
	compare(t, login.BrowserOptions{}, least.Browser)
	if least.Client.Key != nil || least.Phones != nil {
		t.Errorf("key %v, phones %v", least.Client.Key, least.Phones)
	}
	for name, test := range map[string]struct {
		text string
		want func(*LoginProvider) bool
	}{
		"a claim less": {
			secret + "key = \"idp-key.pem\"\nomit-claims = [\"jti\"]\n[login.phone]\n",
			func(p *LoginProvider) bool { return slices.Equal(p.Client.OmitClaims, []string{"jti"}) },
		},
		"an assertion": {
			base + "authentication = \"private-key-jwt\"\nkey = \"idp-key.pem\"\n",
			func(p *LoginProvider) bool {
				return p.Client.PrivateKeyJWT && p.Client.Key != nil && p.Client.Secret == ""
			},
		},
		"the encoding": {secret + "secret-encoding = \"form\"\n", func(p *LoginProvider) bool { return p.Client.FormSecret }},
		"a parameter":  {secret + "[login.parameters]\nservice = \"api_v202\"\n", func(p *LoginProvider) bool { return p.Browser.Parameters.Get("service") == "api_v202" }},
		"a method":     {secret + "methods = [\"nexus\"]\n", func(p *LoginProvider) bool { return len(p.Browser.Claims.Methods) == 1 }},
		"the phone": {
			secret + "key = \"idp-key.pem\"\n[login.phone]\n",
			func(p *LoginProvider) bool {
				return p.Phones[idp.App].ACR == "app-auth" && p.Phones[idp.SIM].ACR == "sim-auth"
			},
		},
		"its methods": {
			secret + "key = \"idp-key.pem\"\n[login.phone]\napp-acr = \"app\"\nsim-acr = \"sim\"\ntext = \"Innskráning {code}\"\n",
			func(p *LoginProvider) bool {
				return p.Phones[idp.App].ACR == "app" && p.Phones[idp.SIM].ACR == "sim" && p.Phones[idp.SIM].Text == "Innskráning {code}"
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			file := read(test.text)
			after := file.Logins
			if test.want(least) || !test.want(after) {
				t.Errorf("%+v", after)
			}
			if file.changed(first.AtStart) == nil || file.changed(read(test.text).AtStart) != nil {
				t.Error("the change is not noticed, or one where there is none")
			}
		})
	}
}
