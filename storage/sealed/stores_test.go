package sealed_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage/bolt"
	"github.com/innsigli/innsigli/storage/sealed"
	"github.com/innsigli/innsigli/storage/storagetest"
)

// keys returns the keys of a file with the given lines.
func keys(t *testing.T, lines ...string) *sealed.Keys {
	t.Helper()
	var text string
	for _, line := range lines {
		text += line + "\n"
	}
	k, err := sealed.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func newKey() string {
	secret := make([]byte, 32)
	rand.Read(secret)
	return base64.StdEncoding.EncodeToString(secret)
}

func open(t *testing.T, path string) *bolt.DB {
	t.Helper()
	db, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// Stores with sealing keep the contracts of their interfaces.
func TestBackend(t *testing.T) {
	k := keys(t, newKey())
	var backend func(t *testing.T, path string) storagetest.Backend
	backend = func(t *testing.T, path string) storagetest.Backend {
		db := open(t, path)
		return storagetest.Backend{
			Transactor:  db,
			Documents:   db.Documents(),
			Accounts:    db.Accounts(),
			BusySignals: db.BusySignals(),
			Requests:    sealed.Requests(db.Requests(), k),
			Sandbox:     sealed.Sandbox(db.Sandbox(), k),
			Jobs:        db.Jobs(),
			EvidenceLog: db.EvidenceLog(),
			Webhooks:    sealed.Webhooks(db.Webhooks(), k),
			Processes:   sealed.Processes(db.Processes(), k),
			Pages:       sealed.Pages(db.Pages(), k),
			Reopen: func(t *testing.T) storagetest.Backend {
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
				return backend(t, path)
			},
		}
	}
	storagetest.Run(t, func(t *testing.T) storagetest.Backend {
		return backend(t, filepath.Join(t.TempDir(), "store.db"))
	}, "Transactions", "Overlapping", "Requests", "Certificates", "Sandbox",
		"Subscriptions", "SigningKeys", "WebhookAttempts", "DroppedEvents", "AccountRecords",
		"Processes", "ProcessLinks", "ListedProcesses", "ProcessPages", "ProcessKeys", "PageRecords", "Reopen", "Concurrency")
}

// deployment is a database in a file.
type deployment struct {
	db   *bolt.DB
	path string
}

func newDeployment(t *testing.T) deployment {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	return deployment{open(t, path), path}
}

const owner = "0b6c8f0e-6c1e-4f0f-9d3e-0c9a5f7b2d11"

// sandbox opens the sandbox with keys.
func (d deployment) sandbox(t *testing.T, k *sealed.Keys) *sandbox.Sandbox {
	t.Helper()
	s, err := sandbox.Open(t.Context(), sealed.Sandbox(d.db.Sandbox(), k), d.db, sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (d deployment) addUser(t *testing.T, s *sandbox.Sandbox, kennitala string) sandbox.User {
	t.Helper()
	name := "Sandbox Signer"
	u, err := s.Create(t.Context(), owner, sandbox.Profile{FullName: &name, Kennitala: &kennitala, Phone: &kennitala})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// The file of the store does not contain secrets.
func TestFileHasNoSecrets(t *testing.T) {
	d := newDeployment(t)
	k := keys(t, newKey())
	u := d.addUser(t, d.sandbox(t, k), "0101302989")
	authority, err := sealed.Sandbox(d.db.Sandbox(), k).Authority(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	secret := []byte("a secret of the provider")
	d.create(t, sealed.Requests(d.db.Requests(), k), request("r", signing.Waiting, secret))
	certificate := []byte("a certificate, which contains the name")
	d.keep(t, sealed.Requests(d.db.Requests(), k), "person", certificate)
	hook, webhookKey := subscription("s"), signingKey(1)
	d.add(t, sealed.Webhooks(d.db.Webhooks(), k), webhookKey, hook)
	// The same records without sealing show that the test finds secrets in a file.
	bare := filepath.Join(t.TempDir(), "bare.db")
	plain := open(t, bare)
	err = plain.InTx(t.Context(), func(ctx context.Context) error {
		return errors.Join(
			plain.Sandbox().CreateUser(ctx, u),
			plain.Sandbox().SaveAuthority(ctx, authority),
			plain.Requests().CreateRequest(ctx, request("r", signing.Waiting, secret)),
			plain.Requests().KeepCertificate(ctx, signing.KeptCertificate{Person: "person", Certificate: certificate}),
			plain.Webhooks().CreateSubscription(ctx, hook, 1),
			plain.Webhooks().CreateKey(ctx, webhookKey),
		)
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, secret := range map[string][]byte{
		"user's key": u.Key, "authority": authority, "provider's secret": secret, "person's certificate": certificate,
		"subscription's secret": hook.Secret, "webhook key": webhookKey.Private,
	} {
		if fileContains(t, d.path, secret) {
			t.Errorf("the file contains the %s", name)
		}
		if !fileContains(t, bare, secret) {
			t.Errorf("the test does not find the %s", name)
		}
	}
}

// fileContains reports whether a file contains a secret, as it is or in Base64 at any offset.
func fileContains(t *testing.T, path string, secret []byte) bool {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for skip := range 3 { // the Base64 of the secret depends on its offset modulo 3
		middle := secret[skip:]
		middle = middle[:min(len(middle), 24)/3*3]
		if bytes.Contains(content, []byte(base64.StdEncoding.EncodeToString(middle))) {
			return true
		}
	}
	return bytes.Contains(content, secret)
}
