package main

import (
	"crypto/sha256"
	"fmt"

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
	p := &identityProvider{client: readClient(t, files, true)}
	p.client.Endpoints = readEndpoints(t.section("endpoints"), "backchannel-authentication", "token", "userinfo", "jwks")
	p.adapter = audkenni.Options{
		RelatedParty: t.text("related-party"),
		App:          readApp(t.section("app")),
		SIM:          readSIM(t.section("sim")),
		Errors:       readErrorRows(t.sections("error")),
		AnyName:      !t.flag("check-name", true),
		Ping:         t.oneOf("delivery", "poll", "ping") == "ping",
	}
	t.adapter("related-party", audkenni.Options{RelatedParty: p.adapter.RelatedParty})
	t.end()
	if len(*t.faults) > before {
		return p
	}
	if _, _, err := p.open(); err != nil {
		root.fault("identity-provider", "%v", err)
	}
	p.made = fingerprint(said, p.client)
	return p
}

// adapter asks the adapter about what it alone can judge: the value of one key.
func (s section) adapter(name string, o audkenni.Options) {
	o.Client = new(ciba.Client) // of which nothing is asked
	_, err := audkenni.New(o)
	s.judged(name, err)
}
