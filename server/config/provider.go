package config

import (
	"crypto"
	_ "crypto/sha512" // for SHA-384 and SHA-512
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/audkenni"
	"github.com/innsigli/innsigli/idp/ciba"
)

// Client has the settings of the server as a client of an OpenID provider. It is a part of [identity-provider] and [login].
type Client struct {
	Issuer           string    `toml:"issuer"`
	Discovery        string    `toml:"discovery"`
	ClientID         string    `toml:"client-id"`
	ClientSecretFile string    `toml:"client-secret-file"`
	SecretEncoding   string    `toml:"secret-encoding"`
	Authentication   string    `toml:"authentication"`
	Key              string    `toml:"key"`
	KeyID            string    `toml:"key-id"`
	Algorithm        string    `toml:"algorithm"`
	OmitClaims       []string  `toml:"omit-claims"`
	RequestLifetime  duration  `toml:"request-lifetime"`
	Timeout          timeout   `toml:"timeout"`
	Endpoints        Endpoints `toml:"endpoints"`

	secret, key string // content of the files
}

// Endpoints are URLs that replace those of the provider's metadata.
type Endpoints struct {
	Authorization             string `toml:"authorization"`
	BackchannelAuthentication string `toml:"backchannel-authentication"`
	Token                     string `toml:"token"`
	UserInfo                  string `toml:"userinfo"`
	JWKS                      string `toml:"jwks"`
}

// read reads the files that the client names, and checks its values. With signs, for a client that asks people on their
// phones, the key that signs its requests is required.
func (c *Client) read(s section, signs bool) ciba.Options {
	s.oneOf("authentication", c.Authentication, "client-secret-basic", "private-key-jwt")
	s.oneOf("secret-encoding", c.SecretEncoding, "raw", "form")
	assertion := c.Authentication == "private-key-jwt"
	s.required("issuer", c.Issuer)
	s.required("client-id", c.ClientID)
	if assertion {
		s.unused("with private-key-jwt", "client-secret-file", c.ClientSecretFile != "")
	} else {
		s.required("client-secret-file", c.ClientSecretFile)
	}
	if signs || assertion {
		s.required("key", c.Key)
	} else {
		const without = "without private-key-jwt or [login.phone]"
		s.unused(without, "key", c.Key != "")
		s.unused(without, "key-id", c.KeyID != "")
		s.unused(without, "algorithm", c.Algorithm != "")
		s.unused(without, "omit-claims", c.OmitClaims != nil)
		s.unused(without, "request-lifetime", c.RequestLifetime != 0)
	}
	s.secureURL("issuer", c.Issuer)
	s.secureURL("discovery", c.Discovery)
	e := s.in("endpoints")
	e.secureURL("authorization", c.Endpoints.Authorization)
	e.secureURL("backchannel-authentication", c.Endpoints.BackchannelAuthentication)
	e.secureURL("token", c.Endpoints.Token)
	e.secureURL("userinfo", c.Endpoints.UserInfo)
	e.secureURL("jwks", c.Endpoints.JWKS)
	c.secret = s.named("client-secret-file", c.ClientSecretFile, s.files.private(s.files.secret))
	c.key = s.named("key", c.Key, s.files.private(s.files.pem))
	o := ciba.Options{
		Issuer:    c.Issuer,
		Discovery: c.Discovery,
		Endpoints: ciba.Endpoints{
			Authorization: c.Endpoints.Authorization, BackchannelAuthentication: c.Endpoints.BackchannelAuthentication,
			Token: c.Endpoints.Token, UserInfo: c.Endpoints.UserInfo, JWKS: c.Endpoints.JWKS,
		},
		ClientID:      c.ClientID,
		Secret:        c.secret,
		FormSecret:    c.SecretEncoding == "form",
		PrivateKeyJWT: assertion,
		KeyID:         c.KeyID,
		Algorithm:     c.Algorithm,
		OmitClaims:    c.OmitClaims,
		Lifetime:      time.Duration(c.RequestLifetime),
	}
	if c.key != "" {
		key, err := FindKey([]byte(c.key))
		if err != nil {
			s.fault("key", "%v", err)
		} else {
			o.Key = key
		}
	}
	if c.Timeout > 0 {
		o.HTTP = &http.Client{Timeout: time.Duration(c.Timeout)}
	}
	s.checkClient(o)
	return o
}

// checkClient checks values that only package ciba can check, one key at a time.
func (s section) checkClient(o ciba.Options) {
	if strings.Contains(o.ClientID, ":") && !o.FormSecret && !o.PrivateKeyJWT { // RFC 7617 2
		s.fault("client-id", `has a colon, which requires secret-encoding = "form"`)
	}
	check := func(key string, part ciba.Options) bool {
		part.Issuer, part.ClientID, part.Secret = "https://localhost", "client", "secret" // required, but not checked here
		_, err := ciba.New(part)
		return s.check(key, err)
	}
	check("omit-claims", ciba.Options{OmitClaims: o.OmitClaims})
	check("request-lifetime", ciba.Options{Lifetime: o.Lifetime})
	if o.Key != nil && check("key", ciba.Options{Key: o.Key}) {
		check("algorithm", ciba.Options{Key: o.Key, Algorithm: o.Algorithm})
	}
}

// IdentityProvider is the section [identity-provider]: the provider that asks people to sign in production.
type IdentityProvider struct {
	Client
	RelatedParty string          `toml:"related-party"`
	App          App             `toml:"app"`
	SIM          SIM             `toml:"sim"`
	Errors       []ProviderError `toml:"error"`
	CheckName    *bool           `toml:"check-name"`
	Delivery     string          `toml:"delivery"`

	DigitalSignature bool `toml:"digital-signature"`
}

// App is the section [identity-provider.app].
type App struct {
	CertificateACR string `toml:"certificate-acr"`
	SignACR        string `toml:"sign-acr"`
	Digest         string `toml:"digest"`
	SignLoginHint  string `toml:"sign-login-hint"`
	ChoiceClaim    string `toml:"choice-claim"`
	ChooseCode     bool   `toml:"choose-code"`
	Confirm        bool   `toml:"confirm"`
	LongText       string `toml:"long-text"`
}

// SIM is the section [identity-provider.sim].
type SIM struct {
	ACR       string `toml:"acr"`
	Digest    string `toml:"digest"`
	LoginHint string `toml:"login-hint"`
	Answer    string `toml:"answer"`
	Learn     *bool  `toml:"learn"`
	Text      string `toml:"text"`
	LearnText string `toml:"learn-text"`
	TextLimit *int64 `toml:"text-limit"`
}

// ProviderError is an [[identity-provider.error]]: what an error of the provider means.
type ProviderError struct {
	Description string `toml:"description"`
	Code        string `toml:"code"`
}

// Provider has the values that were read from [identity-provider].
type Provider struct {
	Client  ciba.Options
	Adapter audkenni.Options // without Client
}

// Open returns the client and the adapter that uses it. It makes no request.
func (p Provider) Open() (*ciba.Client, *audkenni.Provider, error) {
	client, err := ciba.New(p.Client)
	if err != nil {
		return nil, nil, err
	}
	p.Adapter.Client = client
	provider, err := audkenni.New(p.Adapter)
	return client, provider, err
}

// read reads and checks the section; it returns nil if there is none.
func (p *IdentityProvider) read(root section) *Provider {
	if p == nil {
		return nil
	}
	s, before := root.in("identity-provider"), len(*root.found)
	s.oneOf("delivery", p.Delivery, "poll", "ping")
	s.in("endpoints").unused("here", "authorization", p.Endpoints.Authorization != "")
	out := &Provider{Client: p.Client.read(s, true)}
	out.Adapter = audkenni.Options{
		RelatedParty: p.RelatedParty,
		App:          p.App.read(s.in("app")),
		SIM:          p.SIM.read(s.in("sim")),
		Errors:       readErrors(s, p.Errors),
		AnyName:      !orTrue(p.CheckName),
		Ping:         p.Delivery == "ping",
	}
	s.checkAdapter("related-party", audkenni.Options{RelatedParty: p.RelatedParty})
	if len(*root.found) > before {
		return out
	}
	if _, _, err := out.Open(); err != nil {
		root.fault("identity-provider", "%v", err)
	}
	return out
}

func orTrue(b *bool) bool { return b == nil || *b }

// checkAdapter checks the value of one key with package audkenni.
func (s section) checkAdapter(key string, o audkenni.Options) {
	o.Client = new(ciba.Client) // required, but not used by the check
	_, err := audkenni.New(o)
	s.check(key, err)
}

func (a App) read(s section) audkenni.AppOptions {
	s.oneOf("sign-login-hint", a.SignLoginHint, "kennitala", "document-number")
	o := audkenni.AppOptions{
		CertificateACR: a.CertificateACR,
		SignACR:        a.SignACR,
		Hash:           s.digest(a.Digest),
		SignHint:       hints[a.SignLoginHint],
		ChoiceClaim:    a.ChoiceClaim,
		CodeChoice:     a.ChooseCode,
		Confirm:        a.Confirm,
		LongText:       a.LongText,
	}
	s.checkAdapter("long-text", audkenni.Options{App: audkenni.AppOptions{LongText: o.LongText, Confirm: o.Confirm}})
	return o
}

func (m SIM) read(s section) audkenni.SIMOptions {
	s.oneOf("login-hint", m.LoginHint, "local-phone", "phone", "kennitala")
	s.oneOf("answer", m.Answer, "pkcs1", "pkcs7")
	o := audkenni.SIMOptions{
		Hash:       s.digest(m.Digest),
		Hint:       hints[m.LoginHint],
		CMS:        m.Answer == "pkcs7",
		NoLearning: !orTrue(m.Learn),
		Text:       m.Text,
		LearnText:  m.LearnText,
		TextLimit:  int(s.number("text-limit", m.TextLimit, 20, 200)),
	}
	if o.CMS {
		o.CMSACR = m.ACR
	} else {
		o.ACR = m.ACR
	}
	s.checkAdapter("text", audkenni.Options{SIM: audkenni.SIMOptions{Text: o.Text, LearnText: "{code}", TextLimit: o.TextLimit}})
	s.checkAdapter("learn-text", audkenni.Options{SIM: audkenni.SIMOptions{LearnText: o.LearnText, Text: "{code}", TextLimit: o.TextLimit}})
	return o
}

// hashes has the supported digests by their names in a configuration.
var hashes = map[string]crypto.Hash{"SHA-256": crypto.SHA256, "SHA-384": crypto.SHA384, "SHA-512": crypto.SHA512}

// digest returns the hash with a name; 0, for an empty name, stands for the default of the signing method.
func (s section) digest(name string) crypto.Hash {
	s.oneOf("digest", name, slices.Sorted(maps.Keys(hashes))...)
	return hashes[name]
}

// hints has the login hints of requests by their names; the zero value stands for the default of the signing method.
var hints = map[string]audkenni.Hint{
	"kennitala": audkenni.HintKennitala, "document-number": audkenni.HintDocument,
	"local-phone": audkenni.HintLocalPhone, "phone": audkenni.HintPhone,
}

// readErrors returns the error codes for errors of the provider, beside those that are built in.
func readErrors(s section, rows []ProviderError) map[string]idp.ErrorCode {
	all := make(map[string]idp.ErrorCode)
	for i, row := range rows {
		s := s.at("error", i)
		s.required("description", row.Description)
		code := idp.ErrorCode(row.Code)
		if _, twice := all[row.Description]; twice {
			s.fault("description", "is the same as in an earlier table: remove one")
		}
		if row.Description != "" {
			s.checkAdapter("code", audkenni.Options{Errors: map[string]idp.ErrorCode{row.Description: code}})
		}
		all[row.Description] = code
	}
	return all
}
