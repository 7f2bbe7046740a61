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

func (s keySet) has(kid string) bool { return len(s.named(kid)) > 0 }

// named returns the keys that may have signed a token with that kid; without one, any.
func (s keySet) named(kid string) []jose.JSONWebKey {
	var out []jose.JSONWebKey
	for _, k := range s.keys {
		if kid == "" || k.KeyID == kid {
			out = append(out, k)
		}
	}
	return out
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
