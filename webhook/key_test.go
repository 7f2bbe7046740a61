package webhook_test

import (
	"crypto/ed25519"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/webhook"
)

// A secret does not show, however and wherever a key is printed.
func TestKeysDoNotShowTheirSecret(t *testing.T) {
	t.Parallel()
	secret := []byte("a secret of two-and-thirty bytes")
	key := webhook.Secret(secret)
	type owner struct {
		key  webhook.Key // where fmt calls no methods
		Keys []webhook.Key
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("key", "key", key)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("key", "key", key)
	asJSON, err := json.Marshal(owner{key, []webhook.Key{key}})
	if err != nil {
		t.Fatal(err)
	}
	printed := []string{key.String(), log.String(), string(asJSON)}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%p"} {
		printed = append(printed, fmt.Sprintf(verb, key), fmt.Sprintf(verb, &key), fmt.Sprintf(verb, owner{key, []webhook.Key{key}}))
	}
	for _, shown := range printed {
		for _, form := range []string{string(secret), hex.EncodeToString(secret), fmt.Sprint(secret[:4]), fmt.Sprintf("%#v", secret[:4])} {
			if strings.Contains(strings.ToLower(shown), strings.Trim(form, "[]}")) {
				t.Errorf("%q shows the secret", shown)
			}
		}
	}
	if got := fmt.Sprintf("%+v", key); got != "key of v1" {
		t.Errorf("%q", got)
	}
}

// What is no key verifies nothing, not even what it signs.
func TestKeysThatAreNone(t *testing.T) {
	t.Parallel()
	body := []byte(vectorBody)
	for name, secret := range map[string][]byte{"none": nil, "short": make([]byte, 23), "long": make([]byte, 65)} {
		t.Run(name, func(t *testing.T) {
			h := vectorHeaders(webhook.SignV1(secret, vectorID, vectorTime, body))
			if err := webhook.VerifyAt(vectorTime, h, body, webhook.Secret(secret), webhook.Key{}); !errors.Is(err, webhook.ErrNoKeys) {
				t.Error(err)
			}
		})
	}
	for name, public := range map[string]ed25519.PublicKey{"none": nil, "short": make([]byte, 31), "long": make([]byte, 33)} {
		if key := webhook.PublicKey(public); key.Scheme() != "" || key.String() != "no key" {
			t.Errorf("%s: %v", name, key)
		}
	}
}

// Keys do not change with the bytes that they were made from.
func TestKeysKeepTheirBytes(t *testing.T) {
	t.Parallel()
	secret, public := mustHex(t, hexSecret), vectorKey(t).Public().(ed25519.PublicKey)
	keys := []webhook.Key{webhook.Secret(secret), webhook.PublicKey(public)}
	clear(secret)
	clear(public)
	for i, signature := range []string{hexV1, officialV1a} {
		if err := webhook.VerifyAt(vectorTime, vectorHeaders(signature), []byte(vectorBody), keys[i]); err != nil {
			t.Errorf("%v: %v", keys[i], err)
		}
	}
}

// Public keys of small order are refused, in each of their encodings; for each, anybody finds a
// signature that verifies.
func TestWeakPublicKeys(t *testing.T) {
	t.Parallel()
	for _, y := range []string{
		"0000000000000000000000000000000000000000000000000000000000000000",
		"0100000000000000000000000000000000000000000000000000000000000000",
		"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
		"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
	} {
		for _, sign := range []byte{0, 0x80} {
			public := ed25519.PublicKey(mustHex(t, y))
			public[31] |= sign
			t.Run(hex.EncodeToString(public), func(t *testing.T) {
				if !forgeable(public) {
					t.Error("no signature was found")
				}
				if key := webhook.PublicKey(public); key.Scheme() != "" {
					t.Error("PublicKey takes it")
				}
				if _, err := webhook.ParseKey(standard("whpk_", public)); err == nil {
					t.Error("ParseKey takes it")
				}
			})
		}
	}
	if forgeable(vectorKey(t).Public().(ed25519.PublicKey)) {
		t.Error("so it is for a good key")
	}
}

// forgeable says whether the same signature, the neutral point and zero, verifies for one of many
// messages: it does when the challenge is a multiple of the key's order.
func forgeable(public ed25519.PublicKey) bool {
	signature := make([]byte, ed25519.SignatureSize)
	signature[0] = 1
	for i := range uint32(1000) {
		if ed25519.Verify(public, binary.BigEndian.AppendUint32(nil, i), signature) {
			return true
		}
	}
	return false
}
