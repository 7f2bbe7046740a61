package main

import (
	"crypto"
	"crypto/sha256"
	"crypto/x509"
	"fmt"
	"net/http"
	"strings"

	"github.com/innsigli/innsigli/idp/ciba"
)

// readClient reads what the server is to a provider: a client of OpenID Connect. One that
// asks people on their phones signs its requests.
func readClient(t section, files configFiles, asks bool) ciba.Options {
	assertion := t.oneOf("authentication", "client-secret-basic", "private-key-jwt") == "private-key-jwt"
	t.required("issuer", "client-id")
	if assertion {
		t.unused("with private-key-jwt", "client-secret-file")
	} else {
		t.required("client-secret-file")
	}
	if asks || assertion {
		t.required("key")
	} else {
		t.unused("without private-key-jwt or [login.phone]", "key", "key-id", "algorithm", "omit-claims", "request-lifetime")
	}
	o := ciba.Options{
		Issuer:        t.secureURL("issuer"),
		Discovery:     t.secureURL("discovery"),
		ClientID:      t.text("client-id"),
		Secret:        readNamed(t, "client-secret-file", files.closed(files.secret)),
		FormSecret:    t.oneOf("secret-encoding", "raw", "form") == "form",
		PrivateKeyJWT: assertion,
		Key:           readClientKey(t, files),
		KeyID:         t.text("key-id"),
		Algorithm:     t.text("algorithm"),
		OmitClaims:    t.list("omit-claims"),
		Lifetime:      t.span("request-lifetime"),
	}
	if timeout := readTimeout(t); timeout > 0 {
		o.HTTP = &http.Client{Timeout: timeout}
	}
	checkClient(t, o)
	return o
}

// readClientKey reads the private key that a client signs with, if there is one.
func readClientKey(t section, files configFiles) crypto.Signer {
	content := readNamed(t, "key", files.closed(files.pem))
	if content == "" {
		return nil
	}
	key, err := findKey([]byte(content))
	if err != nil {
		t.fault("key", "%v", err)
		return nil
	}
	return key
}

// checkClient asks the client about what it alone can judge, a key at a time.
func checkClient(t section, o ciba.Options) {
	if strings.Contains(o.ClientID, ":") && !o.FormSecret && !o.PrivateKeyJWT { // RFC 7617 2
		t.fault("client-id", "has a colon, which needs secret-encoding form")
	}
	judge := func(name string, part ciba.Options) (right bool) {
		part.Issuer, part.ClientID, part.Secret = "https://localhost", "client", "secret" // of which nothing is asked
		_, err := ciba.New(part)
		return t.judged(name, err)
	}
	judge("omit-claims", ciba.Options{OmitClaims: o.OmitClaims})
	judge("request-lifetime", ciba.Options{Lifetime: o.Lifetime})
	if o.Key != nil && judge("key", ciba.Options{Key: o.Key}) {
		judge("algorithm", ciba.Options{Key: o.Key, Algorithm: o.Algorithm})
	}
}

// readEndpoints reads the addresses that a client uses in place of the metadata's.
func readEndpoints(t section, names ...string) (e ciba.Endpoints) {
	places := map[string]*string{
		"authorization":              &e.Authorization,
		"backchannel-authentication": &e.BackchannelAuthentication,
		"token":                      &e.Token,
		"userinfo":                   &e.UserInfo,
		"jwks":                       &e.JWKS,
	}
	for _, name := range names {
		*places[name] = t.secureURL(name)
	}
	t.end()
	return e
}

// fingerprint is of all that a section was read from: what it said, and the files that it named.
func fingerprint(said string, o ciba.Options) [sha256.Size]byte {
	var public []byte
	if o.Key != nil {
		public, _ = x509.MarshalPKIXPublicKey(o.Key.Public()) // which knows the keys that package ciba takes
	}
	return sha256.Sum256(fmt.Appendf(nil, "%q %q %x", said, o.Secret, public))
}
