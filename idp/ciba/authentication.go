package ciba

import (
	"cmp"
	"crypto/rand"
	"net/http"
	"net/url"
	"time"
)

const minLifetime, maxLifetime = 10 * time.Second, 10 * time.Minute

// omissible are claims that some providers may not bear. RFC 7523 section 3 leaves them to
// choice; the others say who signed for whom and until when.
var omissible = []string{"iat", "nbf", "jti"}

// lifetime is how long what the client signs can be used.
func (o Options) lifetime() time.Duration { return cmp.Or(o.Lifetime, time.Minute) }

// issued are the claims of what the client signs now (RFC 7523 section 3, CIBA Core 7.1.1).
func (c *Client) issued() map[string]any {
	now := time.Now()
	claims := map[string]any{
		"iss": c.options.ClientID,
		"aud": c.options.Issuer,
		"iat": now.Unix(),
		"nbf": now.Add(-5 * time.Second).Unix(), // the provider's clock may be behind
		"exp": now.Add(c.options.lifetime()).Unix(),
		"jti": rand.Text(),
	}
	for _, name := range c.options.OmitClaims {
		delete(claims, name)
	}
	return claims
}

// authentication says in the form or in the header which client it is.
func (c *Client) authentication(form url.Values) (inHeader func(*http.Request), err error) {
	id, secret := c.options.ClientID, c.options.Secret
	if !c.options.PrivateKeyJWT {
		if c.options.FormSecret {
			id, secret = url.QueryEscape(id), url.QueryEscape(secret)
		}
		return func(r *http.Request) { r.SetBasicAuth(id, secret) }, nil
	}
	claims := c.issued()
	claims["sub"] = id
	assertion, err := c.signer.sign(claims)
	form.Set("client_id", id)
	form.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
	form.Set("client_assertion", assertion)
	return func(*http.Request) {}, err
}
