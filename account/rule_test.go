package account

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// spec 2.1
func TestGrantScopes(t *testing.T) {
	all := Scopes()
	for name, test := range map[string]struct {
		allowed, requested, granted []string
		err                         error
	}{
		"none, which is all of the client's": {all, nil, all, nil},
		"a client with none":                 {nil, nil, nil, nil},
		"some":                               {all, []string{ScopePortalWrite, ScopeSignatures}, []string{ScopePortalWrite, ScopeSignatures}, nil},
		"one twice":                          {all, []string{ScopePortalRead, ScopePortalRead}, []string{ScopePortalRead}, nil},
		"not the client's":                   {[]string{ScopePortalRead}, []string{ScopePortalRead, ScopePortalWrite}, nil, ErrInvalidScope},
		"unknown":                            {all, []string{"portal"}, nil, ErrInvalidScope},
		"in another case":                    {all, []string{"Portal/Read"}, nil, ErrInvalidScope},
		"empty":                              {all, []string{""}, nil, ErrInvalidScope},
		"of a client with none":              {nil, []string{ScopePortalRead}, nil, ErrInvalidScope},
	} {
		t.Run(name, func(t *testing.T) {
			granted, err := grantScopes(test.allowed, test.requested)
			if !errors.Is(err, test.err) {
				t.Errorf("the error is %v, want %v", err, test.err)
			}
			if diff := cmp.Diff(test.granted, granted); diff != "" {
				t.Errorf("granted (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNewSecret(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		secret := newSecret()
		if raw, err := base64.RawURLEncoding.DecodeString(secret); err != nil || len(raw) != 32 || seen[secret] {
			t.Fatalf("%q: %d bytes, %v", secret, len(raw), err)
		}
		seen[secret] = true
	}
}

// clientWith returns a client with secrets with these hashes, whose IDs are 1, 2 and so on.
func clientWith(hashes ...[]byte) (c Client) {
	for i, hash := range hashes {
		c.Secrets = append(c.Secrets, Secret{ID: fmt.Sprint(i + 1), Hash: hash})
	}
	return c
}

func TestMatchSecret(t *testing.T) {
	for name, test := range map[string]struct {
		client Client
		secret string
		want   string // empty: none
	}{
		"the secret":            {clientWith(digest("secret")), "secret", "1"},
		"another":               {clientWith(digest("secret")), "Secret", ""},
		"none":                  {clientWith(digest("secret")), "", ""},
		"the first of two":      {clientWith(digest("secret"), digest("other")), "secret", "1"},
		"the second":            {clientWith(digest("secret"), digest("other")), "other", "2"},
		"neither":               {clientWith(digest("secret"), digest("other")), "third", ""},
		"an unknown client":     {clientWith(), "secret", ""},
		"and an empty one":      {clientWith(), "", ""},
		"a part of the hash":    {clientWith(digest("secret")[:31]), "secret", ""},
		"zeros":                 {clientWith(make([]byte, sha256.Size)), "", ""},
		"no hash":               {clientWith(nil), "", ""},
		"no hash, and a secret": {clientWith(nil, digest("secret")), "secret", "2"},
	} {
		t.Run(name, func(t *testing.T) {
			if got, ok := test.client.matchSecret(test.secret); got != test.want || ok != (test.want != "") {
				t.Errorf("the secret is %q, %v", got, ok)
			}
		})
	}
}

// The number and length of the digests that are compared are the same for clients that exist and those that do not.
func TestSecretDigests(t *testing.T) {
	for name, c := range map[string]Client{"no client": {}, "one secret": clientWith(digest("a")), "two": clientWith(digest("a"), digest("b")), "a damaged one": clientWith([]byte{1})} {
		digests := c.secretDigests()
		if len(digests) != 2 || len(digests[0]) != sha256.Size || len(digests[1]) != sha256.Size {
			t.Errorf("%s: %x", name, digests)
		}
	}
}

func TestValidFor(t *testing.T) {
	issued := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	client := clientWith(digest("a"), digest("b"))
	client.ID, client.AccountID, client.CreatedAt = "c", "a", issued.Add(-time.Minute)
	token := newToken(client, "1", "value", nil, issued)
	old := token
	old.Secret = "" // as stored by an earlier version
	moved, recreated, rotated, first := client, client, client, client
	rotated.Secrets = client.Secrets[1:]
	first.Secrets = []Secret{{ID: FirstSecret}}
	moved.AccountID, recreated.CreatedAt = "b", issued.Add(time.Microsecond)
	for name, test := range map[string]struct {
		token  TokenRecord
		client Client
		now    time.Time
		want   bool
	}{
		"at once":                        {token, client, issued, true},
		"just before its end":            {token, client, issued.Add(TokenLifetime - 1), true},
		"at its end":                     {token, client, issued.Add(TokenLifetime), false},
		"of a client created again":      {token, recreated, issued.Add(time.Minute), false},
		"of another account's client":    {token, moved, issued, false},
		"of a secret that was removed":   {token, rotated, issued, false},
		"of no secret, which exists":     {old, first, issued, true},
		"of no secret, which is removed": {old, client, issued, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.token.validFor(test.client, test.now); got != test.want {
				t.Errorf("valid is %v", got)
			}
		})
	}
}

func TestValidAddresses(t *testing.T) {
	many := make([]string, maxAdmins+1)
	for i := range many {
		many[i] = fmt.Sprintf("admin%d@example.is", i)
	}
	for name, list := range map[string][]string{"none": nil, "one": {"admin@example.is"}, "the largest number": many[:maxAdmins]} {
		if err := validAddresses(list); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, list := range map[string][]string{
		"too many": many, "no address": {"admin"}, "empty": {""}, "with a name": {"Admin <admin@example.is>"},
		"twice": {"admin@example.is", "ADMIN@example.is"}, "a line break": {"admin@example.is\r\nBcc: all@example.is"},
		"two in one": {"a@example.is, b@example.is"}, "too long": {strings.Repeat("a", 250) + "@example.is"},
	} {
		if err := validAddresses(list); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A secret is stored as in version 1, and authenticates its client. Tokens are stored in the same way.
func TestGoldenSecret(t *testing.T) {
	const secret = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
	golden := testenv.SameAsGolden(t, "testdata/secret-1.golden", []byte(hex.EncodeToString(digest(secret))+"\n"))
	stored, err := hex.DecodeString(strings.TrimSpace(string(golden)))
	if err != nil {
		t.Fatal(err)
	}
	client := Client{Secrets: []Secret{{ID: FirstSecret, Hash: stored}}}
	if id, ok := client.matchSecret(secret); id != FirstSecret || !ok {
		t.Errorf("%q, %v", id, ok)
	}
}
