package sandbox

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"fmt"
)

// KeyType is a kind of signing key.
type KeyType string

const (
	P256    KeyType = "p256" // the default
	RSA3072 KeyType = "rsa3072"
)

func (t KeyType) generate() (crypto.Signer, error) {
	switch t {
	case "", P256:
		return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case RSA3072:
		return rsa.GenerateKey(rand.Reader, 3072)
	}
	return nil, fmt.Errorf("sandbox: key type %q is not known", t)
}

func (u *User) key() (crypto.Signer, error) {
	key, err := x509.ParsePKCS8PrivateKey(u.Key)
	if err != nil {
		return nil, fmt.Errorf("sandbox: reading the user's key: %w", err)
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("sandbox: the user's key %T does not sign", key)
	}
	return signer, nil
}
