package config

import (
	"crypto"
	"image/color"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	catest "github.com/innsigli/innsigli/internal/test/ca"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/audkenni"
	"github.com/innsigli/innsigli/idp/ciba"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/server"
)

// reader reads Files beside the files that those of docs/production.md name. They
// have to be without faults.
func reader(t *testing.T) (read func(text string) File) {
	t.Helper()
	folder := t.TempDir()
	write := func(name string, content []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	material, err := catest.SignerFiles()
	if err != nil {
		t.Fatal(err)
	}
	write("islandsrot.pem", material["root.pem"])
	write("fullgilt-audkenni.pem", material["p256-chain.pem"])
	write("idp-key.pem", material["rsa3072-key.pem"])
	write("idp-secret.txt", []byte("a secret of mine\n"))
	write("logo.png", testenv.Picture(t, color.Black))
	return func(text string) File {
		t.Helper()
		write("innsigli.toml", []byte(text))
		c, found := ReadFile(filepath.Join(folder, "innsigli.toml"))
		if err := found.Err(); err != nil {
			t.Fatal(err)
		}
		return c
	}
}

// The Files of docs/production.md are without faults, and say what the comments
// beside them do.
func TestProductionConfigurations(t *testing.T) {
	blocks := testenv.Blocks(t, "docs/production.md", "toml")
	if len(blocks) != 2 {
		t.Fatalf("%d blocks of TOML", len(blocks))
	}
	read := reader(t)
	least, all := read(blocks[0]), read(blocks[1])
	var missing Faults
	if least.CheckProduction(&missing); missing != nil {
		t.Errorf("production needs more: %v", missing)
	}
	const issuer = "https://idp.example:443/sso/oauth2/realms/root/realms/audkenni"
	client := ciba.Options{Issuer: issuer, ClientID: "sign.example", Secret: "a secret of mine"}
	compare(t, client, least.Provider.Client)
	compare(t, audkenni.Options{}, least.Provider.Adapter) // which leaves all to the adapter

	client.Discovery, client.KeyID, client.Algorithm = "https://idp.example/metadata", "2026-1", "RS256"
	client.Lifetime = time.Minute
	client.Endpoints = ciba.Endpoints{
		BackchannelAuthentication: "https://idp.example/bc-authorize", Token: "https://idp.example/access_token",
		UserInfo: "https://idp.example/userinfo", JWKS: "https://idp.example/connect/jwk_uri",
	}
	compare(t, client, all.Provider.Client)
	if got := all.Provider.Client.HTTP.Timeout; got != 10*time.Second {
		t.Errorf("timeout %v", got)
	}
	compare(t, audkenni.Options{
		RelatedParty: "Example",
		App: audkenni.AppOptions{
			CertificateACR: "app-certificate-choice", SignACR: "app-sign-with-certificate",
			Hash: crypto.SHA512, SignHint: audkenni.HintKennitala, ChoiceClaim: "documentNr", Confirm: true, LongText: "{document}",
		},
		SIM: audkenni.SIMOptions{
			ACR: "sim-sign-pkcs1", Hash: crypto.SHA256, Hint: audkenni.HintLocalPhone,
			Text: "{code} {document}", LearnText: "{code} Staðfesting fyrir undirritun", TextLimit: 60,
		},
		Errors: map[string]idp.ErrorCode{"mssp_600": idp.WrongVerificationCodeSelected},
	}, all.Provider.Adapter)
	if diff := cmp.Diff(server.Webhooks{Proxy: &url.URL{Scheme: "http", Host: "proxy.example:3128"}, MaxSubscriptions: 100}, all.webhooks); diff != "" || least.webhooks != (server.Webhooks{}) {
		t.Errorf("webhooks %+v, (-want +got)\n%s", least.webhooks, diff)
	}
	if want := (server.Retention{
		EndedRequests: server.Period{Rest: day}, IdempotencyKeys: server.Period{Rest: day}, DeliveryAttempts: server.Period{Rest: 14 * day}, Evidence: server.Period{Years: 10}, Processes: server.Period{Years: 1},
	}); all.retention != want || least.retention != (server.Retention{}) {
		t.Errorf("retention %+v", all.retention)
	}
}

// compare leaves out what a configuration has no say in.
func compare[T any](t *testing.T, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(ciba.Options{}, "Key", "HTTP"), cmpopts.EquateEmpty(), cmpopts.IgnoreFields(audkenni.Options{}, "Client")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What is otherwise than the deFaults is told from them, key by key.
func TestProviderChoices(t *testing.T) {
	base, read := testenv.Blocks(t, "docs/production.md", "toml")[0], reader(t)
	before := read(base)
	for _, test := range []struct {
		text string
		want func(*Provider) bool
	}{
		{`secret-encoding = "form"`, func(p *Provider) bool { return p.Client.FormSecret }},
		{`omit-claims = ["iat", "nbf"]`, func(p *Provider) bool { return slices.Equal(p.Client.OmitClaims, []string{"iat", "nbf"}) }},
		{`request-lifetime = "2m"`, func(p *Provider) bool { return p.Client.Lifetime == 2*time.Minute }},
		{`algorithm = "PS256"`, func(p *Provider) bool { return p.Client.Algorithm == "PS256" }},
		{`delivery = "ping"`, func(p *Provider) bool { return p.Adapter.Ping }},
		{`check-name = false`, func(p *Provider) bool { return p.Adapter.AnyName }},
		{"[identity-provider.app]\nchoose-code = true", func(p *Provider) bool { return p.Adapter.App.CodeChoice }},
		{"[identity-provider.app]\ndigest = \"SHA-384\"", func(p *Provider) bool { return p.Adapter.App.Hash == crypto.SHA384 }},
		{"[identity-provider.app]\nsign-login-hint = \"document-number\"", func(p *Provider) bool { return p.Adapter.App.SignHint == audkenni.HintDocument }},
		{"[identity-provider.sim]\nacr = \"sim-signed\"", func(p *Provider) bool { return p.Adapter.SIM.ACR == "sim-signed" && p.Adapter.SIM.CMSACR == "" }},
		{"[identity-provider.sim]\ntext-limit = 120", func(p *Provider) bool { return p.Adapter.SIM.TextLimit == 120 }},
		{"[identity-provider.sim]\nlearn = false", func(p *Provider) bool { return p.Adapter.SIM.NoLearning }},
		{"[identity-provider.sim]\nanswer = \"pkcs7\"", func(p *Provider) bool { return p.Adapter.SIM.CMS }},
		{"[identity-provider.sim]\nanswer = \"pkcs7\"\nacr = \"sim-cms\"", func(p *Provider) bool { return p.Adapter.SIM.CMSACR == "sim-cms" && p.Adapter.SIM.ACR == "" }},
		{"[identity-provider.sim]\nlogin-hint = \"phone\"", func(p *Provider) bool { return p.Adapter.SIM.Hint == audkenni.HintPhone }},
		{"[identity-provider.sim]\nlogin-hint = \"kennitala\"", func(p *Provider) bool { return p.Adapter.SIM.Hint == audkenni.HintKennitala }},
	} {
		t.Run(test.text, func(t *testing.T) {
			after := read(base + test.text + "\n")
			if test.want(before.Provider) || !test.want(after.Provider) {
				t.Errorf("%+v", after.Provider)
			}
			if after.changed(before.AtStart) == nil || after.changed(read(base+test.text+"\n").AtStart) != nil {
				t.Error("the change is not noticed, or one where there is none")
			}
		})
	}
}
