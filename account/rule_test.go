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

// decisions.md 3
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

func TestMatches(t *testing.T) {
	for name, test := range map[string]struct {
		hash   []byte
		secret string
		want   bool
	}{
		"the secret":         {hashed("secret"), "secret", true},
		"another":            {hashed("secret"), "Secret", false},
		"none":               {hashed("secret"), "", false},
		"an unknown client":  {nil, "secret", false},
		"and an empty one":   {nil, "", false},
		"a part of the hash": {hashed("secret")[:31], "secret", false},
		"zeros":              {make([]byte, sha256.Size), "", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := matches(test.hash, test.secret); got != test.want {
				t.Errorf("matches is %v", got)
			}
		})
	}
}

func TestGood(t *testing.T) {
	issued := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	client := Client{ID: "c", AccountID: "a", CreatedAt: issued.Add(-time.Minute)}
	token := newToken(client, "value", nil, issued)
	moved, anew := client, client
	moved.AccountID, anew.CreatedAt = "b", issued.Add(time.Microsecond)
	for name, test := range map[string]struct {
		client Client
		now    time.Time
		want   bool
	}{
		"at once":                     {client, issued, true},
		"just before its end":         {client, issued.Add(TokenLifetime - 1), true},
		"at its end":                  {client, issued.Add(TokenLifetime), false},
		"of a client made anew":       {anew, issued.Add(time.Minute), false},
		"of another account's client": {moved, issued, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := token.good(test.client, test.now); got != test.want {
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
