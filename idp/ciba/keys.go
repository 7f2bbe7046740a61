package ciba

import (
	"context"
	"crypto/rsa"
	"encoding/json"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// keySet is what the provider signs with.
type keySet struct {
	keys []jose.JSONWebKey
	read time.Time
}

// of returns the keys that may have signed a token: those with its kid, or all for a token
// without (RFC 7515 4.1.4).
func (s keySet) of(token *jose.JSONWebSignature) (named []jose.JSONWebKey) {
	kid := token.Signatures[0].Header.KeyID
	for _, key := range s.keys {
		if kid == "" || key.KeyID == kid {
			named = append(named, key)
		}
	}
	return named
}

// verified returns what a token says if one of the keys signed it.
func (s keySet) verified(token *jose.JSONWebSignature) (payload []byte, ok bool) {
	for _, key := range s.of(token) {
		if payload, err := token.Verify(key); err == nil {
			return payload, true
		}
	}
	return nil, false
}

// maxKeys bounds the work of a token that names no key.
const maxKeys = 100

func (c *Client) currentKeys(ctx context.Context) (keySet, error) {
	address, err := c.endpoint(ctx, keysEndpoint)
	if err != nil {
		return keySet{}, err
	}
	return c.readKeys(ctx, address)
}

// readKeys leaves out what it cannot use (RFC 7517 section 5).
func (c *Client) readKeys(ctx context.Context, address string) (keySet, error) {
	set := keySet{read: time.Now()}
	a, err := c.get(ctx, address)
	if err != nil {
		return keySet{}, err
	}
	var listed struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := a.decode(&listed); err != nil {
		return keySet{}, err
	}
	for _, raw := range listed.Keys[:min(len(listed.Keys), maxKeys)] {
		var key jose.JSONWebKey
		if key.UnmarshalJSON(raw) == nil && verifies(key) {
			set.keys = append(set.keys, key)
		}
	}
	return set, nil
}

func verifies(key jose.JSONWebKey) bool {
	if !key.Valid() || !key.IsPublic() || key.Use != "" && key.Use != "sig" {
		return false
	}
	public, isRSA := key.Key.(*rsa.PublicKey)
	return !isRSA || public.N.BitLen() >= 2048
}
