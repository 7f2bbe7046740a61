package ciba

import (
	"cmp"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/asn1"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

const minLifetime, maxLifetime = 10 * time.Second, 10 * time.Minute

// omittableClaims lists the claims that RFC 7523 section 3 makes optional and that some providers reject.
var omittableClaims = []string{"iat", "nbf", "jti"}

// lifetime returns the lifetime of the JWTs that the client signs.
func (o Options) lifetime() time.Duration { return cmp.Or(o.Lifetime, time.Minute) }

// baseClaims returns the claims that all JWTs of the client have (RFC 7523 section 3, CIBA Core 7.1.1).
func (c *Client) baseClaims() map[string]any {
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

// authenticate adds a client assertion to the form, or returns a function that sets the Authorization header.
func (c *Client) authenticate(form url.Values) (setHeader func(*http.Request), err error) {
	id, secret := c.options.ClientID, c.options.Secret
	if !c.options.PrivateKeyJWT {
		if c.options.FormSecret {
			id, secret = url.QueryEscape(id), url.QueryEscape(secret)
		}
		return func(r *http.Request) { r.SetBasicAuth(id, secret) }, nil
	}
	claims := c.baseClaims()
	claims["sub"] = id
	assertion, err := c.signer.sign(claims)
	form.Set("client_id", id)
	form.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
	form.Set("client_assertion", assertion)
	return func(*http.Request) {}, err
}

// signer signs the JWTs of a client (RFC 7519).
type signer struct {
	jose      jose.Signer
	algorithm string
}

// newSigner returns a signer. An empty algorithm is the default of the key.
func newSigner(key crypto.Signer, keyID, algorithm string) (*signer, error) {
	native := ""
	switch public := key.Public().(type) {
	case *rsa.PublicKey:
		if public.N.BitLen() < 2048 {
			return nil, errors.New("ciba: an RSA key must have at least 2048 bits")
		}
		native = "RS256"
		if algorithm == "PS256" {
			native = algorithm
		}
	case *ecdsa.PublicKey:
		if public.Curve != elliptic.P256() {
			return nil, errors.New("ciba: an ECDSA key must be on P-256")
		}
		native = "ES256"
	default:
		return nil, fmt.Errorf("ciba: a key of type %T is not supported: use RSA or ECDSA on P-256", public)
	}
	if algorithm != "" && algorithm != native {
		return nil, fmt.Errorf("ciba: algorithm %q cannot be used with this key", algorithm)
	}
	options := (&jose.SignerOptions{}).WithType("JWT")
	if keyID != "" {
		options = options.WithHeader("kid", keyID)
	}
	opaque := opaqueKey{key, jose.SignatureAlgorithm(native)}
	s, err := jose.NewSigner(jose.SigningKey{Algorithm: opaque.algorithm, Key: opaque}, options)
	if err != nil {
		return nil, fmt.Errorf("ciba: %w", err)
	}
	return &signer{s, native}, nil
}

func (s *signer) sign(claims map[string]any) (string, error) {
	token, err := jwt.Signed(s.jose).Claims(claims).Serialize()
	if err != nil {
		return "", fmt.Errorf("ciba: signing: %w", err)
	}
	return token, nil
}

// opaqueKey is a [jose.OpaqueSigner] for keys that may be remote. The cryptosigner of go-jose does not use the salt
// length of RFC 7518 3.5 for PS256.
type opaqueKey struct {
	key       crypto.Signer
	algorithm jose.SignatureAlgorithm
}

// Public implements [jose.OpaqueSigner].
func (k opaqueKey) Public() *jose.JSONWebKey { return &jose.JSONWebKey{Key: k.key.Public()} }

// Algs implements [jose.OpaqueSigner].
func (k opaqueKey) Algs() []jose.SignatureAlgorithm { return []jose.SignatureAlgorithm{k.algorithm} }

// SignPayload implements [jose.OpaqueSigner].
func (k opaqueKey) SignPayload(payload []byte, algorithm jose.SignatureAlgorithm) ([]byte, error) {
	sum := sha256.Sum256(payload)
	switch algorithm {
	case jose.RS256:
		return k.key.Sign(rand.Reader, sum[:], crypto.SHA256)
	case jose.PS256:
		return k.key.Sign(rand.Reader, sum[:], &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: crypto.SHA256})
	case jose.ES256:
		der, err := k.key.Sign(rand.Reader, sum[:], crypto.SHA256)
		if err != nil {
			return nil, err
		}
		return rawECDSA(der)
	}
	return nil, jose.ErrUnsupportedAlgorithm
}

// rawECDSA converts a DER signature on P-256 to R and S of 32 bytes each (RFC 7518 3.4).
func rawECDSA(der []byte) ([]byte, error) {
	var sig struct{ R, S *big.Int }
	if rest, err := asn1.Unmarshal(der, &sig); err != nil || len(rest) > 0 || !isScalar(sig.R) || !isScalar(sig.S) {
		return nil, errors.New("the key returned a signature that is not an ECDSA signature on P-256")
	}
	out := make([]byte, 64)
	sig.R.FillBytes(out[:32])
	sig.S.FillBytes(out[32:])
	return out, nil
}

// isScalar reports whether a number can be R or S of a signature on P-256.
func isScalar(n *big.Int) bool { return n.Sign() > 0 && n.BitLen() <= 256 }
