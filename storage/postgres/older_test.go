package postgres

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/portal/process"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/xades"
)

// olderRequest stores a request as version 5 does.
const olderRequest = `INSERT INTO signing_requests (id, account, created_at, updated_at, expires, phase,
		person, text, place, level, document, busy_signal,
		state_provider, state_version, state_key, state_public, state_secret, state_expires,
		pending, code, value, signed_at, next_try, next_ask, failure, refused,
		start_code, start_expires, key_client, key, key_fingerprint,
		polled_at, lease_process, lease_token, lease_until, revision)
	VALUES ('r', 'a', '2026-03-01T12:30:15.123456Z', '2026-03-01T12:30:16Z', '2026-03-01T12:35:05Z', 'waiting',
		'{"account":"a","method":"IdpSim","kennitala":"0101302399","phone":"555 0001"}', '{"document":"contract.pdf","reason":"agreed"}', 'Reykjavík', 2, 'd', 's',
		'p', 2, 'k', '\x01', '\x02', NULL,
		'\x03', '1234', NULL, NULL, NULL, NULL, NULL, false,
		'5678', '2026-03-01T12:35:06Z', 'c', 'key', 'f',
		NULL, 'process', 'token', NULL, 7)`

// TestEarlierRequests checks that this version reads and continues requests that the version before stored, on its own tables or on
// this version's.
func TestEarlierRequests(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 30, 15, 123456000, time.UTC)
	want := signing.Request{
		ID: "r", Account: "a", CreatedAt: at, UpdatedAt: at.Truncate(time.Second).Add(time.Second), Expires: at.Truncate(time.Second).Add(290 * time.Second),
		Phase:  signing.Waiting,
		Person: idp.Person{Account: "a", Method: idp.SIM, Kennitala: "0101302399", Phone: "555 0001"}, Text: idp.Text{Document: "contract.pdf", Reason: "agreed"}, Place: "Reykjavík",
		Level: ades.LT, Document: "d", BusySignal: "s", State: idp.State{Provider: "p", Version: 2, Key: "k", Public: []byte{1}, Secret: []byte{2}},
		Pending: []byte{3}, Code: "1234", StartCode: "5678", StartExpires: at.Truncate(time.Second).Add(291 * time.Second), Key: &signing.IdempotencyKey{Client: "c", Key: "key", Fingerprint: "f"},
		Lease: signing.Lease{Process: "process", Token: "token"}, Revision: 7,
	}
	for name, stored := range map[string]int{"before the migration": 5, "after it": 6} {
		t.Run(name, func(t *testing.T) {
			url := postgrestest.Database(t)
			if _, _, err := migrate(t.Context(), url, Options{}, versions(t, stored)); err != nil {
				t.Fatal(err)
			}
			execute(t, url, olderRequest)
			if _, _, err := Migrate(t.Context(), url, Options{}); err != nil {
				t.Fatal(err)
			}
			db := openedAt(t, url, Options{})
			got, err := db.Requests().Request(t.Context(), "r")
			checkRecord(t, want, got, err)
			got.Revision, got.Stamp = 8, &signing.Stamp{Page: 1, Rect: [4]float64{1, 2, 118, 57}}
			do(t, db, func(ctx context.Context) error { return db.Requests().UpdateRequest(ctx, got) })
			updated, err := db.Requests().Request(t.Context(), "r")
			checkRecord(t, got, updated, err)
		})
	}
}

// checkRecord fails the test unless reading the record succeeded and it is the one wanted.
func checkRecord[R any](t *testing.T, want, got R, err error) {
	t.Helper()
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Fatalf("%v (-want +got)\n%s", err, diff)
	}
}

// TestEarlierAccounts checks that an account which the version before adds to this version's tables has made no signature, and
// that the version before does not change columns that it does not know.
func TestEarlierAccounts(t *testing.T) {
	db, url := opened(t, Options{})
	execute(t, url, `INSERT INTO accounts (id, name, payment_method, quota, admins, created_at)
		VALUES ('a', 'Þór', true, 1024, NULL, '2026-03-01T12:30:15Z')`)
	want := account.Account{ID: "a", Name: "Þór", PaymentMethod: true, Quota: 1024, CreatedAt: time.Date(2026, 3, 1, 12, 30, 15, 0, time.UTC)}
	got, err := db.Accounts().Account(t.Context(), "a")
	checkRecord(t, want, got, err)
	want.FreeUsed, want.Stored = 3, 4
	do(t, db, func(ctx context.Context) error { return db.Accounts().UpdateAccount(ctx, want) })
	execute(t, url, `UPDATE accounts SET name = 'Þór', payment_method = true, quota = 2048, admins = NULL WHERE id = 'a'`)
	want.Quota = 2048
	got, err = db.Accounts().Account(t.Context(), "a")
	checkRecord(t, want, got, err)
}

// TestEarlierClients checks that a client which the version before adds to this version's tables has its secret, and that the
// version before accepts that secret until it is removed.
func TestEarlierClients(t *testing.T) {
	db, url := opened(t, Options{})
	execute(t, url, `INSERT INTO clients (id, account, name, secret_hash, scopes, created_at)
		VALUES ('c', 'a', 'archive', '\x01', NULL, '2026-03-01T12:30:15Z');
		INSERT INTO tokens (hash, client, account, scopes, issued_at, expires_at)
		VALUES ('\x02', 'c', 'a', NULL, '2026-03-01T12:30:15Z', '2026-03-01T12:30:15Z')`)
	at := time.Date(2026, 3, 1, 12, 30, 15, 0, time.UTC)
	want := account.Client{ID: "c", AccountID: "a", Name: "archive", Secrets: []account.Secret{{ID: account.FirstSecret, Hash: []byte{1}, CreatedAt: at}}, CreatedAt: at}
	got, err := db.Accounts().Client(t.Context(), "c")
	checkRecord(t, want, got, err)
	token, err := db.Accounts().Token(t.Context(), []byte{2})
	checkRecord(t, account.TokenRecord{Hash: []byte{2}, ClientID: "c", AccountID: "a", IssuedAt: at, ExpiresAt: at}, token, err)
	second := account.Secret{ID: "second", Hash: []byte{3}, CreatedAt: at}
	for hash, secrets := range map[string][]account.Secret{`\x01`: append(want.Secrets, second), `\x`: {second}} {
		want.Secrets = secrets
		do(t, db, func(ctx context.Context) error { return db.Accounts().UpdateClient(ctx, want) })
		execute(t, url, `DO $$ BEGIN ASSERT (SELECT secret_hash FROM clients) = '`+hash+`'; END $$`)
	}
}

// TestOrdersInEarlierVersion checks that the version before does not find the document of a request with an order: it would delete
// the document with the request.
func TestOrdersInEarlierVersion(t *testing.T) {
	db, url := opened(t, Options{})
	want := signing.Request{ID: "r", Account: "a", CreatedAt: time.Date(2026, 3, 1, 12, 30, 15, 0, time.UTC), Phase: signing.Waiting, Document: "d", Order: "o"}
	do(t, db, func(ctx context.Context) error { return db.Requests().CreateRequest(ctx, want) })
	execute(t, url, `DO $$ BEGIN ASSERT (SELECT document FROM signing_requests) = ''; END $$`)
	execute(t, url, `UPDATE signing_requests SET phase = 'ended', document = '' WHERE id = 'r'`)
	want.Phase = signing.Ended
	got, err := db.Requests().Request(t.Context(), "r")
	got.UpdatedAt, got.Expires = want.UpdatedAt, want.Expires
	checkRecord(t, want, got, err)
}

// newSigner returns a signer with a certificate of a test CA.
func newSigner(t *testing.T) ades.SignerIdentity {
	t.Helper()
	ca, err := sandboxca.New(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := ca.Issue("A signer", "0101302399", key.Public(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return ades.SignerIdentity{Certificate: cert}
}

// TestXMLInEarlierVersion checks that the version before, which takes every document for a PDF, cannot sign XML. Its errors, for the
// level and for the pending signature, must be those of a fault of the server, not of the document. This version reads the
// person's answer that the version before has stored.
func TestXMLInEarlierVersion(t *testing.T) {
	db, url := opened(t, Options{})
	signer := newSigner(t)
	prepared, err := xades.Prepare(t.Context(), xades.Document{ReaderAt: strings.NewReader("<a/>"), Size: 4}, signer, xades.Options{Level: ades.LTA})
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := prepared.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	want := signing.Request{
		ID: "r", Account: "a", CreatedAt: time.Date(2026, 3, 1, 12, 30, 15, 0, time.UTC), Phase: signing.Waiting,
		Document: "d", Format: signing.XML, Packing: xades.Enveloping, Level: ades.LTA, Pending: encoded,
	}
	do(t, db, func(ctx context.Context) error { return db.Requests().CreateRequest(ctx, want) })
	var level ades.Level
	var pending []byte
	if err := db.read(t.Context(), func(q querier) error {
		return q.QueryRow(t.Context(), "SELECT level, pending FROM signing_requests").Scan((*int)(&level), &pending)
	}); err != nil {
		t.Fatal(err)
	}
	for name, refused := range map[string]func(pades.Document) error{
		"Prepare": func(d pades.Document) error {
			_, err := pades.Prepare(t.Context(), d, signer, pades.Options{Level: level})
			return err
		},
		"PrepareCMS": func(d pades.Document) error {
			_, err := pades.PrepareCMS(t.Context(), d, crypto.SHA256, pades.Options{Level: level})
			return err
		},
		"UnmarshalBinary": func(pades.Document) error { return new(pades.Pending).UnmarshalBinary(pending) },
	} {
		for _, content := range []string{"<a/>", string(pdftest.Build(pdftest.Options{}))} {
			err := refused(pades.Document{ReaderAt: strings.NewReader(content), Size: int64(len(content))})
			if err == nil || errors.Is(err, ades.ErrUnreadable) || errors.Is(err, ades.ErrForbidden) || errors.Is(err, ades.ErrAlgorithm) {
				t.Errorf("%s of %.5q: %v", name, content, err)
			}
		}
	}
	execute(t, url, `UPDATE signing_requests SET phase = 'signed', level = -1, document = 'd', value = '\x01', revision = 1 WHERE id = 'r'`)
	want.Phase, want.Value, want.Revision = signing.Signed, []byte{1}, 1
	got, err := db.Requests().Request(t.Context(), "r")
	got.UpdatedAt, got.Expires = want.UpdatedAt, want.Expires
	checkRecord(t, want, got, err)
}

// TestLinksInEarlierVersion checks that no process is found by its used links after the version before has stored it, because that
// version does not know them, and that the other links work.
func TestLinksInEarlierVersion(t *testing.T) {
	db, url := opened(t, Options{})
	link := func(hash byte) error {
		_, err := db.Processes().ProcessByLink(t.Context(), []byte{hash})
		return err
	}
	p := portal.Process{ID: "p", Participants: []portal.Participant{{Participant: process.Participant{ID: "1", Link: portal.Link{Was: []byte{1}}}}, {Participant: process.Participant{ID: "2", Link: portal.Link{Hash: []byte{2}, Token: []byte("t")}}}}}
	do(t, db, func(ctx context.Context) error { return db.Processes().CreateProcess(ctx, p) })
	if err := errors.Join(link(1), link(2)); err != nil {
		t.Error(err)
	}
	execute(t, url, `DELETE FROM process_links WHERE process = 'p' AND hash <> ALL (ARRAY['\x02'::bytea])`)
	if one, other := link(1), link(2); !errors.Is(one, storage.ErrNotFound) || other != nil {
		t.Errorf("%v, %v", one, other)
	}
	execute(t, url, `INSERT INTO process_links (process, hash) VALUES ('p', '\x01');
		UPDATE processes SET participants = '[{"id": "2", "link": {"hash": "Ag==", "token": "dA=="}}]' WHERE id = 'p'`)
	if one, other := link(1), link(2); !errors.Is(one, storage.ErrNotFound) || other != nil {
		t.Errorf("%v, %v", one, other)
	}
}

// TestListsOfEarlierProcesses checks that processes are in the right lists if the version before has stored them, before or after the
// migration: it stores no status and no time of their end.
func TestListsOfEarlierProcesses(t *testing.T) {
	url := postgrestest.Database(t)
	if _, _, err := migrate(t.Context(), url, Options{}, versions(t, 11)); err != nil {
		t.Fatal(err)
	}
	const insert = `INSERT INTO processes (id, account, origin, created_at, file_name, document, participants, turns, waits_until) VALUES `
	execute(t, url, insert+`
		('1', 'a', 'api', '2026-03-01', 'f', 'd', '[{"id":"1","role":"Signer","signature":{"at":"2026-03-02T00:00:00Z"}}]', 0, NULL),
		('2', 'a', 'api', '2026-03-02', 'f', 'd', '[{"id":"1","role":"Signer","decline":{"reason":"","at":"2026-03-03T00:00:00Z"}}]', 0, NULL),
		('3', 'a', 'api', '2026-03-03', 'f', 'd', '[{"id":"1","role":"Signer","link":{"invitedAt":"2026-03-03T00:00:00Z"}}]', 0, '2026-03-10')`)
	if _, _, err := Migrate(t.Context(), url, Options{}); err != nil {
		t.Fatal(err)
	}
	execute(t, url, insert+`
		('4', 'a', 'api', '2026-03-04', 'f', 'd', '[{"id":"1","role":"Signer","link":{"invitedAt":"2026-03-04T00:00:00Z"}}]', 0, '2026-03-11'),
		('5', 'a', 'api', '2026-03-05', 'f', 'd', NULL, 0, NULL)`)
	db := openedAt(t, url, Options{})
	lists := func(want map[portal.Status][]string) {
		t.Helper()
		for _, status := range []portal.Status{"", portal.Waiting, portal.Completed, portal.Declined, portal.Expired} {
			list, err := db.Processes().ListProcesses(t.Context(), portal.Listing{Account: "a", Origin: portal.API, Status: status}, portal.Position{}, 10)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range list {
				if status != "" && p.NotedStatus() != status {
					t.Errorf("%s is %s by its columns and %s by its values", p.ID, status, p.NotedStatus())
				}
				got = append(got, p.ID)
			}
			if d := cmp.Diff(want[status], got); d != "" {
				t.Errorf("status %q: %s", status, d)
			}
		}
	}
	lists(map[portal.Status][]string{"": {"1", "2", "3", "4", "5"}, portal.Waiting: {"3", "4"}, portal.Completed: {"1", "5"}, portal.Declined: {"2"}})
	ended, err := db.Processes().Ended(t.Context(), time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC), 10)
	if err != nil || len(ended) != 2 || ended[0].ID != "1" || ended[1].ID != "2" {
		t.Errorf("ended: %v, %v", ended, err)
	}

	// This version stores that a process has expired. The version before then invites again, and changes another process.
	execute(t, url, `UPDATE processes SET ended_at = waits_until WHERE id = '3'`)
	lists(map[portal.Status][]string{"": {"1", "2", "3", "4", "5"}, portal.Waiting: {"4"}, portal.Expired: {"3"}, portal.Completed: {"1", "5"}, portal.Declined: {"2"}})
	execute(t, url, `UPDATE processes SET waits_until = '2026-03-20', participants = '[{"id":"1","role":"Signer","link":{"invitedAt":"2026-03-13T00:00:00Z"}}]' WHERE id = '3';
		UPDATE processes SET waits_until = NULL, participants = '[{"id":"1","role":"Signer","signature":{"at":"2026-03-06T00:00:00Z"}}]' WHERE id = '4'`)
	lists(map[portal.Status][]string{"": {"1", "2", "3", "4", "5"}, portal.Waiting: {"3"}, portal.Completed: {"1", "4", "5"}, portal.Declined: {"2"}})
}
