package sealed_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage/bolt"
	"github.com/innsigli/innsigli/storage/sealed"
	"github.com/innsigli/innsigli/storage/storagetest"
)

// keys are those of a file with the lines given, the first sealing.
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

// The stores are what their interfaces say with sealing as without it.
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
		"Subscriptions", "SigningKeys", "WebhookAttempts", "DroppedEvents",
		"Processes", "ProcessLinks", "ListedProcesses", "ProcessKeys", "PageRecords", "Reopen", "Concurrency")
}

// deployment is a store with something secret of each kind in it.
type deployment struct {
	db   *bolt.DB
	path string
}

const owner = "0b6c8f0e-6c1e-4f0f-9d3e-0c9a5f7b2d11"

// people opens the sandbox with keys.
func (d deployment) people(t *testing.T, k *sealed.Keys) *sandbox.Sandbox {
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

// request is one of the phase given, with a secret.
func request(id string, phase signing.Phase, secret []byte) signing.Request {
	now := time.Now().UTC().Truncate(time.Microsecond)
	return signing.Request{ID: id, Account: owner, CreatedAt: now, UpdatedAt: now, Expires: now, Phase: phase, State: idp.State{Provider: "other", Secret: secret}}
}

func (d deployment) create(t *testing.T, store signing.Store, r signing.Request) {
	t.Helper()
	if err := d.db.InTx(t.Context(), func(ctx context.Context) error { return store.CreateRequest(ctx, r) }); err != nil {
		t.Fatal(err)
	}
}

// Nothing secret is in the file of the store.
func TestTheFileHasNoSecrets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	d := deployment{open(t, path), path}
	k := keys(t, newKey())
	u := d.addUser(t, d.people(t, k), "0101302989")
	authority, err := sealed.Sandbox(d.db.Sandbox(), k).Authority(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	secret := []byte("what the provider wants kept")
	d.create(t, sealed.Requests(d.db.Requests(), k), request("r", signing.Waiting, secret))
	of := []byte("a certificate, in which the name is")
	d.keep(t, sealed.Requests(d.db.Requests(), k), "person", of)
	hook, webhookKey := subscription("s"), signingKey(1)
	d.add(t, sealed.Webhooks(d.db.Webhooks(), k), webhookKey, hook)
	// The file keeps what is overwritten, too: the same without sealing shows that the
	// test would find it.
	bare := filepath.Join(t.TempDir(), "bare.db")
	plain := open(t, bare)
	err = plain.InTx(t.Context(), func(ctx context.Context) error {
		return errors.Join(
			plain.Sandbox().CreateUser(ctx, u),
			plain.Sandbox().SaveAuthority(ctx, authority),
			plain.Requests().CreateRequest(ctx, request("r", signing.Waiting, secret)),
			plain.Requests().KeepCertificate(ctx, signing.KeptCertificate{Person: "person", Certificate: of}),
			plain.Webhooks().CreateSubscription(ctx, hook, 1),
			plain.Webhooks().CreateKey(ctx, webhookKey),
		)
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, secret := range map[string][]byte{
		"user's key": u.Key, "authority": authority, "provider's secret": secret, "person's certificate": of,
		"subscription's secret": hook.Secret, "webhook key": webhookKey.Private,
	} {
		if holds(t, path, secret) {
			t.Errorf("the file has the %s", name)
		}
		if !holds(t, bare, secret) {
			t.Errorf("the test does not see the %s", name)
		}
	}
}

// holds says whether a file has bytes in it, as they are or in Base64 at any offset.
func holds(t *testing.T, path string, secret []byte) bool {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for skip := range 3 { // the middle of each of the three ways in which it falls into fours
		middle := secret[skip:]
		middle = middle[:min(len(middle), 24)/3*3]
		if bytes.Contains(content, []byte(base64.StdEncoding.EncodeToString(middle))) {
			return true
		}
	}
	return bytes.Contains(content, secret)
}

// A request that has ended, or is cleared away, is so also when its key is gone; one that
// goes on says that it is.
func TestRequestsWhoseKeyIsGone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	d := deployment{open(t, path), path}
	was := sealed.Requests(d.db.Requests(), keys(t, newKey()))
	d.create(t, was, request("ended", signing.Ended, []byte("secret")))
	d.create(t, was, request("waiting", signing.Waiting, []byte("secret")))
	d.create(t, was, request("without", signing.Waiting, nil))
	now := sealed.Requests(d.db.Requests(), keys(t, newKey()))
	for id, want := range map[string]error{"ended": nil, "waiting": sealed.ErrKey, "without": nil} {
		r, err := now.Request(t.Context(), id)
		if !errors.Is(err, want) || (err == nil) != (want == nil) || len(r.State.Secret) != 0 {
			t.Errorf("%s: %q, %v, want %v", id, r.State.Secret, err, want)
		}
	}
	later := time.Now().Add(time.Hour)
	all, err := now.RequestsBefore(t.Context(), later, 10)
	if err != nil || len(all) != 3 {
		t.Errorf("%d requests, %v", len(all), err)
	}
	live, err := now.Abandoned(t.Context(), owner, later, 10)
	if err != nil || len(live) != 2 {
		t.Errorf("%d requests, %v", len(live), err)
	}
	unfinished, err := now.Unfinished(t.Context(), later, 10)
	if err != nil || len(unfinished) != 2 {
		t.Errorf("%d requests, %v", len(unfinished), err)
	}
	for _, r := range slices.Concat(all, live, unfinished) {
		if len(r.State.Secret) != 0 {
			t.Errorf("%s has the secret %q", r.ID, r.State.Secret)
		}
	}
}
