package ca

import (
	"crypto"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"time"
)

// version is that of the encoding. Version 1 had the root and the issuing authority
// alone.
const version = 2

// stored is the encoding of an authority; it stays readable for later versions.
// Certificates are DER, keys PKCS #8.
type stored struct {
	Version         int          `json:"version"`
	Root            []byte       `json:"root"`
	RootKey         []byte       `json:"rootKey"`
	Issuing         []byte       `json:"issuing"`
	IssuingKey      []byte       `json:"issuingKey"`
	Responder       []byte       `json:"responder,omitempty"`
	ResponderKey    []byte       `json:"responderKey,omitempty"`
	Timestamping    []byte       `json:"timestamping,omitempty"`
	TimestampingKey []byte       `json:"timestampingKey,omitempty"`
	SerialKey       []byte       `json:"serialKey,omitempty"` // absent from authorities that were made in version 1
	Revoked         []revocation `json:"revoked,omitempty"`
}

// MarshalBinary encodes the authority with its keys, which are not protected: they
// are worth nothing outside a sandbox. The base URL is not part of it.
func (a *Authority) MarshalBinary() ([]byte, error) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	s := stored{Version: version, SerialKey: a.serialKey, Revoked: a.revoked}
	for _, part := range a.parts(&s) {
		*part.der = part.certificate.Raw
		var err error
		if *part.pkcs8, err = x509.MarshalPKCS8PrivateKey(part.key); err != nil {
			return nil, fmt.Errorf("ca: encoding the key of %s: %w", part.name, err)
		}
	}
	return json.Marshal(s)
}

// UnmarshalBinary decodes what MarshalBinary made, now or in an earlier version.
// Keys that the version did not have are made; they are lost unless the authority
// is stored again.
func (a *Authority) UnmarshalBinary(b []byte) error {
	var s stored
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("ca: decoding: %w", err)
	}
	if s.Version < 1 || s.Version > version {
		return fmt.Errorf("ca: version %d is not known", s.Version)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	parts := a.parts(&s)
	if s.Version == 1 {
		parts = parts[:2]
	}
	for _, part := range parts {
		var err error
		if *part.pair, err = parsePair(*part.der, *part.pkcs8); err != nil {
			return fmt.Errorf("ca: decoding %s: %w", part.name, err)
		}
	}
	a.serialKey, a.revoked = s.SerialKey, s.Revoked
	if s.Version == 1 {
		return a.makeServices(time.Now())
	}
	return nil
}

// makeServices makes what version 1 did not have.
func (a *Authority) makeServices(now time.Time) error {
	for _, service := range []*pair{&a.responder, &a.timestamping} {
		if err := service.makeKey(elliptic.P256()); err != nil {
			return err
		}
	}
	_, err := a.renew(now)
	return err
}

// part is where a pair stands in the encoding.
type part struct {
	*pair
	name       string
	der, pkcs8 *[]byte
}

func (a *Authority) parts(s *stored) []part {
	return []part{
		{&a.root, "the root", &s.Root, &s.RootKey},
		{&a.issuing, "the issuing authority", &s.Issuing, &s.IssuingKey},
		{&a.responder, "the responder", &s.Responder, &s.ResponderKey},
		{&a.timestamping, "the timestamping authority", &s.Timestamping, &s.TimestampingKey},
	}
}

func parsePair(der, pkcs8 []byte) (pair, error) {
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return pair{}, err
	}
	key, err := x509.ParsePKCS8PrivateKey(pkcs8)
	if err != nil {
		return pair{}, err
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return pair{}, fmt.Errorf("key %T does not sign", key)
	}
	return pair{cert, signer}, nil
}
