package openid

import (
	"cmp"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// settings are what the program reads at its start.
type settings struct {
	Port         int            `json:"port"`
	Path         string         `json:"path"`
	Issuer       string         `json:"issuer"`
	Secret       string         `json:"secret"` // of the way to control it
	Key          []byte         `json:"key"`    // in PKCS #8, signs ID tokens until it is rotated
	Client       map[string]any `json:"client"`
	Notify       string         `json:"notify"`
	Interval     int            `json:"interval"`
	SlowDowns    int            `json:"slowDowns"`
	Expires      int            `json:"expires"`
	Pin          string         `json:"pin"`
	OneAtATime   bool           `json:"oneAtATime"`
	Undiscovered bool           `json:"undiscovered"`
}

func (p *Provider) configure(o Options) settings {
	key, err := x509.MarshalPKCS8PrivateKey(providerKey())
	if err != nil {
		p.t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(testenv.Address(p.t)) // still free after a restart
	if err != nil {
		p.t.Fatal(err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		p.t.Fatal(err)
	}
	return settings{
		Port:         n,
		Path:         Path,
		Issuer:       o.Issuer,
		Secret:       rand.Text(),
		Key:          key,
		Client:       p.client(o),
		Notify:       o.Notify,
		Interval:     int(o.Interval / time.Second),
		SlowDowns:    o.SlowDowns,
		Expires:      int(cmp.Or(o.Expires, 10*time.Minute) / time.Second),
		Pin:          o.Pin,
		OneAtATime:   o.OneAtATime,
		Undiscovered: o.Undiscovered,
	}
}

// client is the client's metadata (OpenID Connect Dynamic Client Registration 1.0 section 2,
// CIBA Core 1.0 section 4), and its public key.
func (p *Provider) client(o Options) map[string]any {
	key, err := x509.MarshalPKIXPublicKey(p.Key.Public())
	if err != nil {
		p.t.Fatal(err)
	}
	algorithm := cmp.Or(o.Algorithm, "RS256")
	client := map[string]any{
		"key": key, "kid": p.KeyID,
		"client_id":                  p.ClientID,
		"client_secret":              p.Secret,
		"token_endpoint_auth_method": "client_secret_basic",
		"grant_types":                []string{"urn:openid:params:grant-type:ciba"},
		"response_types":             []string{},
		"redirect_uris":              []string{},
		"backchannel_authentication_request_signing_alg": algorithm,
		"backchannel_token_delivery_mode":                "poll",
	}
	if o.PrivateKeyJWT {
		delete(client, "client_secret")
		client["token_endpoint_auth_method"] = "private_key_jwt"
		client["token_endpoint_auth_signing_alg"] = algorithm
	}
	if o.Notify != "" {
		client["backchannel_token_delivery_mode"] = "ping"
		client["backchannel_client_notification_endpoint"] = "https://notify.invalid" // has to be https; Notify is where it goes
	}
	if len(o.Redirects) > 0 {
		client["grant_types"] = []string{"urn:openid:params:grant-type:ciba", "authorization_code"}
		client["response_types"] = []string{"code"}
		client["redirect_uris"] = o.Redirects
	}
	return client
}

// RSAKey is a key of 2048 bits that the tests of a process have in common: making one takes
// longer than most tests.
var RSAKey = sync.OnceValue(rsaKey)

// providerKey is the one that all providers of a process begin with, for the same reason.
var providerKey = sync.OnceValue(rsaKey)

func rsaKey() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err) // crypto/rand does not fail
	}
	return key
}

func clientKey(t testing.TB, algorithm string) crypto.Signer {
	t.Helper()
	if algorithm != "ES256" {
		return RSAKey()
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}
