package main

import (
	"crypto"
	"image/color"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/audkenni"
	"github.com/innsigli/innsigli/idp/ciba"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// documented are the blocks of a language in a paper.
func documented(t *testing.T, paper, language string) (blocks []string) {
	t.Helper()
	text := mustRead(t, filepath.Join(testenv.Root(t), filepath.FromSlash(paper)))
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllSubmatch(text, -1) {
		blocks = append(blocks, string(m[1]))
	}
	return blocks
}

// reader reads configurations beside the files that those of docs/production.md name. They
// have to be without faults.
func reader(t *testing.T) (read func(text string) configuration) {
	t.Helper()
	folder := t.TempDir()
	write := func(name string, content []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	material, err := signerFiles()
	if err != nil {
		t.Fatal(err)
	}
	write("islandsrot.pem", material["root.pem"])
	write("fullgilt-audkenni.pem", material["p256-chain.pem"])
	write("idp-key.pem", material["rsa3072-key.pem"])
	write("idp-secret.txt", []byte("a secret of mine\n"))
	write("logo.png", logoOf(t, color.Black))
	return func(text string) configuration {
		t.Helper()
		write("innsigli.toml", []byte(text))
		c, found := readConfiguration(filepath.Join(folder, "innsigli.toml"))
		if err := found.err(); err != nil {
			t.Fatal(err)
		}
		return c
	}
}

// The configurations of docs/production.md are without faults, and say what the comments
// beside them do.
func TestProductionConfigurations(t *testing.T) {
	blocks := documented(t, "docs/production.md", "toml")
	if len(blocks) != 2 {
		t.Fatalf("%d blocks of TOML", len(blocks))
	}
	read := reader(t)
	least, all := read(blocks[0]), read(blocks[1])
	var missing faults
	if least.required(&missing); missing != nil {
		t.Errorf("production needs more: %v", missing)
	}
	const issuer = "https://idp.example:443/sso/oauth2/realms/root/realms/audkenni"
	client := ciba.Options{Issuer: issuer, ClientID: "sign.example", Secret: "a secret of mine"}
	compare(t, client, least.provider.client)
	compare(t, audkenni.Options{}, least.provider.adapter) // which leaves all to the adapter

	client.Discovery, client.KeyID, client.Algorithm = "https://idp.example/metadata", "2026-1", "RS256"
	client.Lifetime = time.Minute
	client.Endpoints = ciba.Endpoints{
		BackchannelAuthentication: "https://idp.example/bc-authorize", Token: "https://idp.example/access_token",
		UserInfo: "https://idp.example/userinfo", JWKS: "https://idp.example/connect/jwk_uri",
	}
	compare(t, client, all.provider.client)
	if got := all.provider.client.HTTP.Timeout; got != 10*time.Second {
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
	}, all.provider.adapter)
	if want := (webhookSettings{url.URL{Scheme: "http", Host: "proxy.example:3128"}, 100}); least.webhooks != (webhookSettings{}) || all.webhooks != want {
		t.Errorf("webhooks %+v and %+v", least.webhooks, all.webhooks)
	}
	if all.retention != defaultRetention {
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

// What is otherwise than the defaults is told from them, key by key.
func TestProviderChoices(t *testing.T) {
	base, read := documented(t, "docs/production.md", "toml")[0], reader(t)
	before := read(base)
	for _, test := range []struct {
		text string
		want func(*identityProvider) bool
	}{
		{`secret-encoding = "form"`, func(p *identityProvider) bool { return p.client.FormSecret }},
		{`omit-claims = ["iat", "nbf"]`, func(p *identityProvider) bool { return slices.Equal(p.client.OmitClaims, []string{"iat", "nbf"}) }},
		{`request-lifetime = "2m"`, func(p *identityProvider) bool { return p.client.Lifetime == 2*time.Minute }},
		{`algorithm = "PS256"`, func(p *identityProvider) bool { return p.client.Algorithm == "PS256" }},
		{`delivery = "ping"`, func(p *identityProvider) bool { return p.adapter.Ping }},
		{`check-name = false`, func(p *identityProvider) bool { return p.adapter.AnyName }},
		{"[identity-provider.app]\nchoose-code = true", func(p *identityProvider) bool { return p.adapter.App.CodeChoice }},
		{"[identity-provider.app]\ndigest = \"SHA-384\"", func(p *identityProvider) bool { return p.adapter.App.Hash == crypto.SHA384 }},
		{"[identity-provider.app]\nsign-login-hint = \"document-number\"", func(p *identityProvider) bool { return p.adapter.App.SignHint == audkenni.HintDocument }},
		{"[identity-provider.sim]\nacr = \"sim-signed\"", func(p *identityProvider) bool { return p.adapter.SIM.ACR == "sim-signed" && p.adapter.SIM.CMSACR == "" }},
		{"[identity-provider.sim]\ntext-limit = 120", func(p *identityProvider) bool { return p.adapter.SIM.TextLimit == 120 }},
		{"[identity-provider.sim]\nlearn = false", func(p *identityProvider) bool { return p.adapter.SIM.NoLearning }},
		{"[identity-provider.sim]\nanswer = \"pkcs7\"", func(p *identityProvider) bool { return p.adapter.SIM.CMS }},
		{"[identity-provider.sim]\nanswer = \"pkcs7\"\nacr = \"sim-cms\"", func(p *identityProvider) bool { return p.adapter.SIM.CMSACR == "sim-cms" && p.adapter.SIM.ACR == "" }},
		{"[identity-provider.sim]\nlogin-hint = \"phone\"", func(p *identityProvider) bool { return p.adapter.SIM.Hint == audkenni.HintPhone }},
		{"[identity-provider.sim]\nlogin-hint = \"kennitala\"", func(p *identityProvider) bool { return p.adapter.SIM.Hint == audkenni.HintKennitala }},
	} {
		t.Run(test.text, func(t *testing.T) {
			after := read(base + test.text + "\n")
			if test.want(before.provider) || !test.want(after.provider) {
				t.Errorf("%+v", after.provider)
			}
			if after.provider.same(before.provider) || !after.provider.same(read(base+test.text+"\n").provider) {
				t.Error("the change is not noticed, or one where there is none")
			}
		})
	}
}
