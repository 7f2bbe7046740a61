package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"net/url"
)

// secureURL reads the URL of a service that secrets or kennitalas are sent to. It does not
// repeat what it refuses: somebody may have put a password into it.
func (s section) secureURL(name string) string {
	text := s.text(name)
	if text == "" {
		return ""
	}
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		s.fault(name, "is no https URL")
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		s.fault(name, "is more than host, port and path")
	case u.Scheme == "http" && !loopback(u.Hostname()):
		s.fault(name, "is not https, and not on this machine")
	}
	return text
}

// signatureAlgorithms are those that request objects are signed with (RFC 7518 3.1), each
// with the keys that it is for.
var signatureAlgorithms = map[string]func(crypto.PublicKey) bool{
	"RS256": strongRSA,
	"PS256": strongRSA,
	"ES256": func(k crypto.PublicKey) bool {
		public, ok := k.(*ecdsa.PublicKey)
		return ok && public.Curve == elliptic.P256()
	},
}

// minRSA is the least length of a key in bits (RFC 7518 3.3).
const minRSA = 2048

func strongRSA(k crypto.PublicKey) bool {
	public, ok := k.(*rsa.PublicKey)
	return ok && public.N.BitLen() >= minRSA
}

// signatureKey reads the private key of a client and the algorithm that it signs with, which
// is by default that of the key's kind.
func (s section) signatureKey(files configFiles) (key crypto.Signer, algorithm string) {
	algorithm = s.oneOf("algorithm", "RS256", "ES256", "PS256")
	content := readNamed(s, "key", files.pem)
	if content == "" {
		return nil, algorithm
	}
	key, err := findKey([]byte(content))
	if err != nil {
		s.fault("key", "%v", err)
		return nil, algorithm
	}
	if algorithm == "" {
		algorithm = "RS256"
		if !strongRSA(key.Public()) {
			algorithm = "ES256"
		}
	}
	if fits := signatureAlgorithms[algorithm]; fits != nil && !fits(key.Public()) {
		s.fault("key", "is not for %s: RS256 and PS256 need RSA of at least %d bits, ES256 needs P-256", algorithm, minRSA)
	}
	return key, algorithm
}
