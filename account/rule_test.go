package account

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// spec 2.1
func TestGrant(t *testing.T) {
	all := Scopes()
	for name, test := range map[string]struct {
		allowed, asked, granted []string
		err                     error
	}{
		"none asked is all of the client's": {all, nil, all, nil},
		"a client with none":                {nil, nil, nil, nil},
		"some":                              {all, []string{ScopePortalWrite, ScopeSignatures}, []string{ScopePortalWrite, ScopeSignatures}, nil},
		"one twice":                         {all, []string{ScopePortalRead, ScopePortalRead}, []string{ScopePortalRead}, nil},
		"not the client's":                  {[]string{ScopePortalRead}, []string{ScopePortalRead, ScopePortalWrite}, nil, ErrInvalidScope},
		"unknown":                           {all, []string{"portal"}, nil, ErrInvalidScope},
		"in another case":                   {all, []string{"Portal/Read"}, nil, ErrInvalidScope},
		"empty":                             {all, []string{""}, nil, ErrInvalidScope},
		"of a client with none":             {nil, []string{ScopePortalRead}, nil, ErrInvalidScope},
	} {
		t.Run(name, func(t *testing.T) {
			granted, err := grant(test.allowed, test.asked)
			if !errors.Is(err, test.err) {
				t.Errorf("the error is %v, want %v", err, test.err)
			}
			if diff := cmp.Diff(test.granted, granted); diff != "" {
				t.Errorf("granted (-want +got):\n%s", diff)
			}
		})
	}
}

func TestASecretIs256BitsAndItsOwn(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		secret := newSecret()
		if raw, err := base64.RawURLEncoding.DecodeString(secret); err != nil || len(raw) != 32 || seen[secret] {
			t.Fatalf("%q: %d bytes, %v", secret, len(raw), err)
		}
		seen[secret] = true
	}
}

// with is a client with secrets of these hashes, whose IDs are 1, 2 and so on.
func with(hashes ...[]byte) (c Client) {
	for i, hash := range hashes {
		c.Secrets = append(c.Secrets, Secret{ID: fmt.Sprint(i + 1), Hash: hash})
	}
	return c
}

func TestProved(t *testing.T) {
	for name, test := range map[string]struct {
		client Client
		secret string
		want   string // none: it proves nothing
	}{
		"the secret":            {with(hashed("secret")), "secret", "1"},
		"another":               {with(hashed("secret")), "Secret", ""},
		"none":                  {with(hashed("secret")), "", ""},
		"the first of two":      {with(hashed("secret"), hashed("other")), "secret", "1"},
		"the second":            {with(hashed("secret"), hashed("other")), "other", "2"},
		"neither":               {with(hashed("secret"), hashed("other")), "third", ""},
		"an unknown client":     {with(), "secret", ""},
		"and an empty one":      {with(), "", ""},
		"a part of the hash":    {with(hashed("secret")[:31]), "secret", ""},
		"zeros":                 {with(make([]byte, sha256.Size)), "", ""},
		"no hash":               {with(nil), "", ""},
		"no hash, and a secret": {with(nil, hashed("secret")), "secret", "2"},
	} {
		t.Run(name, func(t *testing.T) {
			if got, ok := test.client.proved(test.secret); got != test.want || ok != (test.want != "") {
				t.Errorf("proved is %q, %v", got, ok)
			}
		})
	}
}

// A client that does not exist costs what others do: what was given is compared with as many digests of as
// many bytes.
func TestWorkOfAWrongSecret(t *testing.T) {
	for name, c := range map[string]Client{"nobody": {}, "one secret": with(hashed("a")), "two": with(hashed("a"), hashed("b")), "a damaged one": with([]byte{1})} {
		digests := c.compared()
		if len(digests) != 2 || len(digests[0]) != sha256.Size || len(digests[1]) != sha256.Size {
			t.Errorf("%s: %x", name, digests)
		}
	}
}

func TestGood(t *testing.T) {
	issued := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	client := with(hashed("a"), hashed("b"))
	client.ID, client.AccountID, client.CreatedAt = "c", "a", issued.Add(-time.Minute)
	token := newToken(client, "1", "value", nil, issued)
	old := token
	old.Secret = "" // of before there were several
	moved, anew, rotated, first := client, client, client, client
	rotated.Secrets = client.Secrets[1:]
	first.Secrets = []Secret{{ID: FirstSecret}}
	moved.AccountID, anew.CreatedAt = "b", issued.Add(time.Microsecond)
	for name, test := range map[string]struct {
		token  TokenRecord
		client Client
		now    time.Time
		want   bool
	}{
		"at once":                       {token, client, issued, true},
		"just before its end":           {token, client, issued.Add(TokenLifetime - 1), true},
		"at its end":                    {token, client, issued.Add(TokenLifetime), false},
		"of a client made anew":         {token, anew, issued.Add(time.Minute), false},
		"of another account's client":   {token, moved, issued, false},
		"of a secret that was removed":  {token, rotated, issued, false},
		"of no secret, and it is there": {old, first, issued, true},
		"of no secret, and it is gone":  {old, client, issued, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.token.good(test.client, test.now); got != test.want {
				t.Errorf("good is %v", got)
			}
		})
	}
}

func TestValidAddresses(t *testing.T) {
	many := make([]string, maxAdmins+1)
	for i := range many {
		many[i] = fmt.Sprintf("admin%d@example.is", i)
	}
	for name, list := range map[string][]string{"none": nil, "one": {"admin@example.is"}, "as many as there may be": many[:maxAdmins]} {
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
