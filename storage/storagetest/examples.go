package storagetest

import (
	"crypto/sha256"
	"time"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/busysignal"
)

// base is a time with all the digits that a backend has to keep.
var base = time.Date(2026, time.March, 1, 12, 30, 15, 123456000, time.UTC)

// noDocument is the id of none.
var noDocument = id("no document")

// id is the UUID that a test calls by a short name.
func id(name string) string {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(name)).String()
}

func exampleAccount(name string) account.Account {
	return account.Account{ID: id(name), Name: "Þór " + name, PaymentMethod: true, Quota: 1 << 40, Admins: []string{"admin@example.is", "þór@example.is"}, Signatures: 1 << 41, Stored: 1 << 42, CreatedAt: base}
}

func exampleClient(name, of string) account.Client {
	hash := sha256.Sum256([]byte(name))
	return account.Client{
		ID:        "client " + name,
		AccountID: id(of),
		Name:      name,
		Secrets:   []account.Secret{{ID: account.FirstSecret, Hash: hash[:], CreatedAt: base}},
		Scopes:    []string{account.ScopePortalWrite, account.ScopeSignatures},
		CreatedAt: base,
	}
}

func exampleToken(name string) account.TokenRecord {
	hash := sha256.Sum256([]byte(name))
	return account.TokenRecord{
		Hash:      hash[:],
		ClientID:  "client c",
		Secret:    account.FirstSecret,
		AccountID: id("a"),
		Scopes:    []string{account.ScopeSignatures},
		IssuedAt:  base,
		ExpiresAt: base.Add(time.Hour),
	}
}

func exampleSignal(name string) busysignal.Signal {
	return busysignal.Signal{ID: id(name), Account: id("a"), CreatedAt: base, UsedAt: base}
}
