package main

import (
	"crypto/sha256"
	"crypto/x509"
	"fmt"
	"net/http"
	"strings"

	"github.com/innsigli/innsigli/idp/audkenni"
	"github.com/innsigli/innsigli/idp/ciba"
)

// identityProvider is the [identity-provider] of a configuration: who asks people to sign in
// production.
type identityProvider struct {
	client  ciba.Options
	adapter audkenni.Options  // without its client
	made    [sha256.Size]byte // of all that was read, to tell when it was changed
}

// open makes the client and the adapter on it. Nobody is called yet.
func (p identityProvider) open() (*ciba.Client, *audkenni.Provider, error) {
	client, err := ciba.New(p.client)
	if err != nil {
		return nil, nil, err
	}
	p.adapter.Client = client
	provider, err := audkenni.New(p.adapter)
	return client, provider, err
}

// same says whether two were made of the same.
func (p *identityProvider) same(other *identityProvider) bool {
	return p == other || p != nil && other != nil && p.made == other.made
}

// readProvider reads an [identity-provider]; nil when there is none.
func readProvider(root section, files configFiles) *identityProvider {
	if !root.has("identity-provider") {
		return nil
	}
	t := root.section("identity-provider")
	said, before := fmt.Sprint(t.values), len(*t.faults)
	p := &identityProvider{client: readClient(t, files)}
	p.adapter = audkenni.Options{
		RelatedParty: t.text("related-party"),
		App:          readApp(t.section("app")),
		SIM:          readSIM(t.section("sim")),
		Errors:       readErrorRows(t.sections("error")),
		AnyName:      !t.flag("check-name", true),
		Ping:         t.oneOf("delivery", "poll", "ping") == "ping",
	}
	checkAdapter(t, p.adapter)
	t.end()
	if len(*t.faults) > before {
		return p
	}
	if _, _, err := p.open(); err != nil {
		root.fault("identity-provider", "%v", err)
		return p
	}
	public, err := x509.MarshalPKIXPublicKey(p.client.Key.Public())
	if err != nil {
		t.fault("key", "%v", err)
	}
	p.made = sha256.Sum256(fmt.Appendf(nil, "%q %q %x", said, p.client.Secret, public))
	return p
}

// checkAdapter asks the adapter about what it alone can judge, a key at a time.
func checkAdapter(t section, o audkenni.Options) {
	for _, part := range []struct {
		key string
		audkenni.Options
	}{
		{"related-party", audkenni.Options{RelatedParty: o.RelatedParty}},
		{"app.long-text", audkenni.Options{App: audkenni.AppOptions{LongText: o.App.LongText, Confirm: o.App.Confirm}}},
		{"sim.text", audkenni.Options{SIM: audkenni.SIMOptions{Text: o.SIM.Text}}},
		{"sim.learn-text", audkenni.Options{SIM: audkenni.SIMOptions{LearnText: o.SIM.LearnText}}},
	} {
		part.Client = new(ciba.Client) // of which nothing is asked
		if _, err := audkenni.New(part.Options); err != nil {
			t.fault(part.key, "%s", strings.TrimPrefix(err.Error(), "audkenni: "))
		}
	}
}

// readClient reads what the server is to the provider: a client of OpenID CIBA.
func readClient(t section, files configFiles) ciba.Options {
	t.required("issuer", "client-id", "key")
	o := ciba.Options{
		Issuer:     t.secureURL("issuer"),
		Discovery:  t.secureURL("discovery"),
		Endpoints:  readEndpoints(t.section("endpoints")),
		ClientID:   t.text("client-id"),
		FormSecret: t.oneOf("secret-encoding", "raw", "form") == "form",
		KeyID:      t.text("key-id"),
	}
	if o.PrivateKeyJWT = t.oneOf("authentication", "client-secret-basic", "private-key-jwt") == "private-key-jwt"; !o.PrivateKeyJWT {
		t.required("client-secret-file")
	} else if t.has("client-secret-file") {
		t.fault("client-secret-file", "is not used with private-key-jwt")
	}
	o.Secret = readNamed(t, "client-secret-file", files.secret)
	o.Key, o.Algorithm = t.signatureKey(files)
	if timeout := readTimeout(t); timeout > 0 {
		o.HTTP = &http.Client{Timeout: timeout}
	}
	return o
}

func readEndpoints(t section) ciba.Endpoints {
	e := ciba.Endpoints{
		BackchannelAuthentication: t.secureURL("backchannel-authentication"),
		Token:                     t.secureURL("token"),
		UserInfo:                  t.secureURL("userinfo"),
		JWKS:                      t.secureURL("jwks"),
	}
	t.end()
	return e
}
