package ciba

import (
	"crypto"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"strings"
	"testing"
	"time"

	certtest "github.com/innsigli/innsigli/internal/test/cert"
)

func TestOptions(t *testing.T) {
	rsaKey := certtest.NewRSAKey(t, 2048)
	weak := certtest.NewRSAKey(t, 1024)
	p256, p384 := ecKey(t, elliptic.P256()), ecKey(t, elliptic.P384())
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		change func(*Options)
		want   string // in the error; "": none
	}{
		"good":                      {func(o *Options) {}, ""},
		"requires a key":            {func(o *Options) { o.Key = nil }, ""},
		"P-256":                     {func(o *Options) { o.Key = p256 }, ""},
		"P-256 and ES256":           {func(o *Options) { o.Key, o.Algorithm = p256, "ES256" }, ""},
		"RSA and RS256":             {func(o *Options) { o.Algorithm = "RS256" }, ""},
		"RSA and PS256":             {func(o *Options) { o.Algorithm = "PS256" }, ""},
		"an assertion":              {func(o *Options) { o.PrivateKeyJWT, o.Secret = true, "" }, ""},
		"an IPv6 loopback":          {func(o *Options) { o.Issuer = "http://[::1]:8080" }, ""},
		"a port":                    {func(o *Options) { o.Issuer = "https://idp.example:443/realms/a" }, ""},
		"a colon, encoded":          {func(o *Options) { o.ClientID, o.FormSecret = "a:b", true }, ""},
		"a short life":              {func(o *Options) { o.Lifetime = 10 * time.Second }, ""},
		"too short a life":          {func(o *Options) { o.Lifetime = 10*time.Second - 1 }, "must be between 10s and 10m0s"},
		"a long life":               {func(o *Options) { o.Lifetime = 10 * time.Minute }, ""},
		"too long a life":           {func(o *Options) { o.Lifetime = 10*time.Minute + 1 }, "must be between"},
		"a negative life":           {func(o *Options) { o.Lifetime = -1 }, "must be between"},
		"claims that may be":        {func(o *Options) { o.OmitClaims = []string{"jti", "iat", "nbf", "iat"} }, ""},
		"claims that have to be":    {func(o *Options) { o.OmitClaims = []string{"jti", "exp"} }, `the claim "exp" is required and cannot be omitted`},
		"no issuer":                 {func(o *Options) { o.Issuer = "" }, "the issuer is missing"},
		"no client":                 {func(o *Options) { o.ClientID = "" }, "the client ID is missing"},
		"no secret":                 {func(o *Options) { o.Secret = "" }, "set a secret"},
		"two ways":                  {func(o *Options) { o.PrivateKeyJWT = true }, "set only one"},
		"an assertion without key":  {func(o *Options) { o.PrivateKeyJWT, o.Secret, o.Key = true, "", nil }, "requires a key"},
		"a colon":                   {func(o *Options) { o.ClientID = "a:b" }, "FormSecret"},
		"http":                      {func(o *Options) { o.Issuer = "http://idp.example" }, "must be an https URL: http://idp.example/.well-known"},
		"http to discovery":         {func(o *Options) { o.Discovery = "http://idp.example/?s3cr3t" }, "must be an https URL: http://idp.example/"},
		"http to an endpoint":       {func(o *Options) { o.Endpoints.Token = "http://localhost.idp.example" }, "must be an https URL"},
		"a user in an address":      {func(o *Options) { o.Endpoints.JWKS = "https://a:s3cr3t@idp.example" }, "must be an https URL"},
		"no address":                {func(o *Options) { o.Endpoints.UserInfo = "https://s3cr3t\x7f" }, "must be an https URL"},
		"a path":                    {func(o *Options) { o.Endpoints.Authorization = "/authorize" }, "must be an https URL"},
		"RSA of 1024 bits":          {func(o *Options) { o.Key = weak }, "2048"},
		"P-384":                     {func(o *Options) { o.Key = p384 }, "P-256"},
		"Ed25519":                   {func(o *Options) { o.Key = ed }, "ed25519"},
		"RSA and ES256":             {func(o *Options) { o.Algorithm = "ES256" }, `"ES256"`},
		"P-256 and RS256":           {func(o *Options) { o.Key, o.Algorithm = p256, "RS256" }, `"RS256"`},
		"an algorithm of a sharing": {func(o *Options) { o.Algorithm = "HS256" }, `"HS256"`},
	} {
		t.Run(name, func(t *testing.T) {
			o := Options{Issuer: "https://idp.example", ClientID: "a", Secret: "s3cr3t", Key: rsaKey}
			test.change(&o)
			_, err := New(o)
			switch {
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("%v, not %q", err, test.want)
			case test.want != "" && strings.Contains(err.Error(), "s3cr3t"):
				t.Errorf("%v has the secret", err)
			}
		})
	}
}

func ecKey(t *testing.T, curve elliptic.Curve) crypto.Signer {
	t.Helper()
	key := certtest.NewKey(t, curve)
	return key
}

// TestRawECDSA checks that both numbers have their full length (RFC 7518 3.4).
func TestRawECDSA(t *testing.T) {
	for name, test := range map[string]struct {
		der  string
		good bool
	}{
		"short numbers":       {"\x30\x06\x02\x01\x01\x02\x01\x02", true},
		"nought":              {"\x30\x06\x02\x01\x00\x02\x01\x02", false},
		"negative":            {"\x30\x06\x02\x01\xff\x02\x01\x02", false},
		"more than 256 bits":  {"\x30\x27\x02\x22\x01" + strings.Repeat("\x00", 33) + "\x02\x01\x02", false},
		"something behind it": {"\x30\x06\x02\x01\x01\x02\x01\x02\x00", false},
		"no DER":              {"signature", false},
		"nothing":             {"", false},
	} {
		t.Run(name, func(t *testing.T) {
			raw, err := rawECDSA([]byte(test.der))
			if (err == nil) != test.good {
				t.Fatal(err)
			}
			if want := strings.Repeat("\x00", 31) + "\x01" + strings.Repeat("\x00", 31) + "\x02"; test.good && string(raw) != want {
				t.Errorf("%x", raw)
			}
		})
	}
}
