package ca

import (
	"crypto"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"time"
)

// version is the version of the encoding. Version 1 had the root and the issuing authority only.
const version = 2

// encoding is the stored form of an authority, which later versions of the program must read. Certificates are DER,
// keys PKCS #8.
type encoding struct {
	Version         int          `json:"version"`
	Root            []byte       `json:"root"`
	RootKey         []byte       `json:"rootKey"`
	Issuing         []byte       `json:"issuing"`
	IssuingKey      []byte       `json:"issuingKey"`
	Responder       []byte       `json:"responder,omitempty"`
	ResponderKey    []byte       `json:"responderKey,omitempty"`
	Timestamping    []byte       `json:"timestamping,omitempty"`
	TimestampingKey []byte       `json:"timestampingKey,omitempty"`
	SerialKey       []byte       `json:"serialKey,omitempty"` // absent from authorities that were created in version 1
	Revoked         []revocation `json:"revoked,omitempty"`
}

// MarshalBinary encodes the authority with its keys, in clear. The base URL is not included.
func (a *Authority) MarshalBinary() ([]byte, error) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	s := encoding{Version: version, SerialKey: a.serialKey, Revoked: a.revoked}
	for _, part := range a.parts(&s) {
		*part.der = part.certificate.Raw
		var err error
		if *part.pkcs8, err = x509.MarshalPKCS8PrivateKey(part.key); err != nil {
			return nil, fmt.Errorf("ca: encoding the key of %s: %w", part.name, err)
		}
	}
	return json.Marshal(s)
}

// UnmarshalBinary decodes what MarshalBinary of this or an earlier version returned. It generates the keys that the
// earlier version did not have; the caller has to store the authority again to keep them.
func (a *Authority) UnmarshalBinary(b []byte) error {
	var s encoding
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
		if *part.keyPair, err = parseKeyPair(*part.der, *part.pkcs8); err != nil {
			return fmt.Errorf("ca: decoding %s: %w", part.name, err)
		}
	}
	a.serialKey, a.revoked = s.SerialKey, s.Revoked
	if s.Version == 1 {
		return a.addServices(time.Now())
	}
	return nil
}

// addServices generates the keys of the responder and the timestamping authority, which version 1 did not have.
func (a *Authority) addServices(now time.Time) error {
	for _, service := range []*keyPair{&a.responder, &a.timestamping} {
		if err := service.generateKey(elliptic.P256()); err != nil {
			return err
		}
	}
	_, err := a.renew(now)
	return err
}

// part connects a key pair with its fields in the encoding.
type part struct {
	*keyPair
	name       string
	der, pkcs8 *[]byte
}

func (a *Authority) parts(s *encoding) []part {
	return []part{
		{&a.root, "the root", &s.Root, &s.RootKey},
		{&a.issuing, "the issuing authority", &s.Issuing, &s.IssuingKey},
		{&a.responder, "the responder", &s.Responder, &s.ResponderKey},
		{&a.timestamping, "the timestamping authority", &s.Timestamping, &s.TimestampingKey},
	}
}

func parseKeyPair(der, pkcs8 []byte) (keyPair, error) {
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return keyPair{}, err
	}
	key, err := x509.ParsePKCS8PrivateKey(pkcs8)
	if err != nil {
		return keyPair{}, err
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return keyPair{}, fmt.Errorf("key %T does not sign", key)
	}
	return keyPair{cert, signer}, nil
}
