package server

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"go.etcd.io/bbolt"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/idp"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/server/operator"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/bolt"
	"github.com/innsigli/innsigli/storage/postgres"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// store is a store whose whole content a test can search.
type store struct {
	operator.Store
	buckets storage.Buckets // nil: there are none
	dump    func(t *testing.T) map[string][]byte
}

// stores opens a store of each backend.
var stores = map[string]func(t *testing.T) store{"bolt": boltStore, "postgres": postgresStore}

func boltStore(t *testing.T) store {
	t.Helper()
	db, err := bolt.Open(filepath.Join(t.TempDir(), "store.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return store{Store: db, dump: func(t *testing.T) map[string][]byte {
		t.Helper()
		var archive bytes.Buffer
		if err := db.Backup(t.Context(), &archive); err != nil {
			t.Fatal(err)
		}
		content := make(map[string][]byte)
		for files := tar.NewReader(&archive); ; {
			header, err := files.Next()
			if err == io.EOF {
				return content
			}
			text, readErr := io.ReadAll(files)
			if err := errors.Join(err, readErr); err != nil {
				t.Fatal(err)
			}
			if filepath.Ext(header.Name) != ".db" {
				content["documents"] = append(append(content["documents"], header.Name...), text...)
				continue
			}
			copied := filepath.Join(t.TempDir(), "copy.db")
			if err := os.WriteFile(copied, text, 0o600); err != nil {
				t.Fatal(err)
			}
			dumpBolt(t, copied, content)
		}
	}}
}

// dumpBolt reads the keys and values of all buckets.
func dumpBolt(t *testing.T, path string, content map[string][]byte) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
			return dumpBucket(string(name), b, content)
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

func dumpBucket(name string, b *bbolt.Bucket, content map[string][]byte) error {
	return b.ForEach(func(k, v []byte) error {
		content[name] = append(append(append(content[name], k...), v...), '\n')
		if v == nil {
			return dumpBucket(name, b.Bucket(k), content)
		}
		return nil
	})
}

func postgresStore(t *testing.T) store {
	t.Helper()
	url := postgrestest.Database(t)
	if _, _, err := postgres.Migrate(t.Context(), url, postgres.Options{}); err != nil {
		t.Fatal(err)
	}
	db, err := postgres.Open(t.Context(), url, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return store{Store: db, buckets: db.Buckets(), dump: func(t *testing.T) map[string][]byte {
		t.Helper()
		conn, err := pgx.Connect(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(context.Background())
		rows, err := conn.Query(t.Context(), "SELECT relname::text FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'")
		if err != nil {
			t.Fatal(err)
		}
		tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		content := make(map[string][]byte)
		for _, table := range tables {
			var text bytes.Buffer
			if _, err := conn.PgConn().CopyTo(t.Context(), &text, "COPY "+table+" TO STDOUT"); err != nil {
				t.Fatal(err)
			}
			content[table] = text.Bytes()
		}
		return content
	}}
}

// belongings is an account with something of everything. All that belongs to it and can be told apart from what is
// another's has the account's ID, or one of the marks, in it.
type belongings struct {
	account string
	marks   []string
}

// someAccount makes an account whose signing request is in a phase.
func someAccount(t *testing.T, s store, name string, phase signing.Phase) belongings {
	t.Helper()
	accounts := account.New(s.Accounts(), s, account.Options{})
	a, err := accounts.CreateAccount(t.Context(), "Account "+name)
	if err != nil {
		t.Fatal(err)
	}
	client, secret, err := accounts.CreateClient(t.Context(), a.ID, "Client "+name, account.Scopes())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := accounts.Issue(t.Context(), client.ID, secret, nil); err != nil {
		t.Fatal(err)
	}
	if err := accounts.SetAdmins(t.Context(), a.ID, []string{name + "@admin.example"}); err != nil {
		t.Fatal(err)
	}
	document := func(of string) string {
		ref, err := s.Documents().Create(t.Context(), strings.NewReader("document "+of+" of "+name), 1<<10)
		if err != nil {
			t.Fatal(err)
		}
		return ref.ID
	}
	ofProcess, ofWeb, ofRequest := document("process"), document("web"), document("request")
	id := func(what string) string { return what + " of " + name }
	now := now()
	processOf := func(id, document string, origin portal.Origin) portal.Process {
		one := invited("participant "+id, portal.Signer)
		one.Link.Hash = []byte("hash " + id)
		return portal.Process{ID: id, Account: a.ID, Origin: origin, CreatedAt: now, FileName: id + ".pdf", Document: document, Participants: []portal.Participant{one}}
	}
	signed := processOf(id("process"), ofProcess, portal.API)
	signed.Turn, signed.Turns = &portal.Turn{Number: 1, Participant: signed.Participants[0].ID, Request: id("order"), Since: now}, 1
	job := func(kind, group, unique, payload string) storage.Job {
		return storage.Job{Kind: kind, Group: group, Unique: unique, Due: now.Add(time.Hour), Payload: []byte(payload)}
	}
	err = s.InTx(t.Context(), func(ctx context.Context) error {
		var failed []error
		for _, one := range []string{ofProcess, ofWeb, ofRequest} {
			failed = append(failed, s.Documents().Keep(ctx, one))
		}
		for _, p := range []portal.Process{signed, processOf(id("web process"), ofWeb, portal.Web)} {
			failed = append(failed, s.Processes().CreateProcess(ctx, p))
		}
		hook := delivery.Subscription{ID: id("subscription"), Account: a.ID, URL: "https://" + name + ".example/", EventTypes: []string{"process.completed"}, Active: true, Secret: []byte("secret of " + name)}
		for i := range 250 {
			at := now.Add(time.Duration(i) * time.Millisecond)
			failed = append(failed,
				s.Webhooks().AddAttempt(ctx, delivery.Attempt{Subscription: hook.ID, Event: id("event"), At: at}),
				s.Accounts().AddLine(ctx, account.Line{ID: fmt.Sprint(id("line "), i), Account: a.ID, API: account.PortalAPI, At: now.AddDate(0, -i%3, 0), Free: i < 3}),
			)
		}
		failed = append(failed,
			s.Accounts().AddLine(ctx, account.Line{ID: id("line"), Account: a.ID, API: account.SigningAPI, At: now}),
			s.Processes().CreateKey(ctx, portal.Key{Client: client.ID, Value: id("key"), CreatedAt: now, Process: signed.ID}),
			s.Requests().CreateRequest(ctx, signing.Request{
				ID: id("order"), Account: a.ID, CreatedAt: now, Phase: signing.Waiting, Document: ofProcess, Expires: now.Add(time.Hour),
				Order: signed.ID + "/" + signed.Participants[0].ID + "/1", Person: idp.Person{Kennitala: "0101302989"},
			}),
			s.Requests().CreateRequest(ctx, signing.Request{
				ID: id("request"), Account: a.ID, CreatedAt: now, Phase: phase, Document: ofRequest, Expires: now.Add(time.Hour), BusySignal: id("signal"),
				Key: &signing.IdempotencyKey{Client: client.ID, Key: id("request key")},
			}),
			s.BusySignals().AddSignal(ctx, busysignal.Signal{ID: id("signal"), Account: a.ID, CreatedAt: now, UsedAt: now, Holder: &busysignal.Holder{ID: id("request"), Since: now}}),
			s.Sandbox().CreateUser(ctx, sandbox.User{ID: id("user"), Account: a.ID, FullName: id("full name"), Kennitala: "0101302989", Phone: "5550101", Certificate: []byte{1}, Key: []byte{1}}),
			s.Webhooks().CreateSubscription(ctx, hook, 10),
			s.Webhooks().AddDropped(ctx, delivery.Dropped{Subscription: hook.ID, Event: id("dropped event"), At: now, Body: []byte(`{}`)}),
			s.Jobs().Enqueue(ctx,
				job("webhook.event", a.ID, "", "{}"), job("webhook.delivery", hook.ID, "", id("delivery")), job("process.mail", signed.ID, "", id("mail")),
				job("signing.drive", a.ID, id("order"), "{}"), job("mail", a.ID, id("message"), "{}")),
			s.EvidenceLog().Record(ctx, storage.Entry{Subject: signed.ID, Account: a.ID, Kind: "process.created", At: now, Facts: json.RawMessage(`{}`)}),
		)
		return errors.Join(failed...)
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.buckets != nil {
		if _, _, err := s.buckets.Draw(t.Context(), "of no account", storage.Rate{PerSecond: 1, Burst: 1}, 1); err != nil {
			t.Fatal(err)
		}
	}
	return belongings{a.ID, []string{a.ID, client.ID, " of " + name, name + "@admin", name + ".example", "Account " + name, "Client " + name}}
}

// tablesWith are the tables and buckets that have one of the marks in them, in any writing.
func tablesWith(content map[string][]byte, marks []string) (tables []string) {
	for table, text := range content {
		if slices.ContainsFunc(marks, func(mark string) bool {
			if id, err := uuid.Parse(mark); err == nil && bytes.Contains(text, id[:]) {
				return true
			}
			return bytes.Contains(text, []byte(mark)) || bytes.Contains(text, []byte(hex.EncodeToString([]byte(mark))))
		}) {
			tables = append(tables, table)
		}
	}
	slices.Sort(tables)
	return tables
}

// evidenceTables are where the evidence log is.
var evidenceTables = map[string][]string{
	"bolt": {"evidence", "evidence.subject"}, "bolt folder": {"evidence", "evidence.subject"}, "postgres": {"evidence"},
}

// whatThereIs is the content of an account of [someAccount]. The mail of a process goes with that.
var whatThereIs = operator.AccountContent{
	Clients: 1, Tokens: 1, Keys: 1, Processes: 2, Requests: 2, UnderWay: 2, Subscriptions: 1, Attempts: 250, Dropped: 1, Jobs: 4, Users: 1, Signals: 1, Lines: 251,
}

// An account that is deleted leaves nothing in any table, bucket or file but the evidence log, which has its statements. What
// is another account's stays.
func TestDeletedAccountLeavesNothing(t *testing.T) {
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			gone, stays := someAccount(t, s, "gone", signing.Waiting), someAccount(t, s, "stays", signing.Waiting)
			o := operator.New(s.Store, operator.Options{})
			before := tablesWith(s.dump(t), gone.marks)
			other := tablesWith(s.dump(t), stays.marks)

			dry := deleted(t, o, gone.account, operator.Deletion{DryRun: true})
			if d := cmp.Diff(whatThereIs, dry); d != "" {
				t.Errorf("dry run: %s", d)
			}
			if d := cmp.Diff(before, tablesWith(s.dump(t), gone.marks)); d != "" {
				t.Errorf("a dry run changed something: %s", d)
			}
			err := o.DeleteAccount(t.Context(), gone.account, operator.Deletion{}, func(operator.AccountContent) error { return nil })
			if err == nil || !strings.Contains(err.Error(), "2 signing requests that are under way") {
				t.Errorf("without force: %v", err)
			}
			if d := cmp.Diff(before, tablesWith(s.dump(t), gone.marks)); d != "" {
				t.Errorf("the refusal changed something: %s", d)
			}

			done := deleted(t, o, gone.account, operator.Deletion{Force: true})
			done.Requests, done.UnderWay, done.Jobs = whatThereIs.Requests, whatThereIs.UnderWay, whatThereIs.Jobs // some go with their processes
			if d := cmp.Diff(whatThereIs, done); d != "" {
				t.Errorf("deletion: %s", d)
			}
			if d := cmp.Diff(evidenceTables[name], tablesWith(s.dump(t), gone.marks)); d != "" {
				t.Errorf("what is left: %s", d)
			}
			if d := cmp.Diff(other, tablesWith(s.dump(t), stays.marks)); d != "" {
				t.Errorf("what is another's: %s", d)
			}
			if d := cmp.Diff(whatThereIs, deleted(t, o, stays.account, operator.Deletion{DryRun: true})); d != "" {
				t.Errorf("what is another's: %s", d)
			}
			keptEvidence(t, s, gone)
			err = o.DeleteAccount(t.Context(), gone.account, operator.Deletion{}, func(operator.AccountContent) error { return nil })
			if err == nil || !strings.Contains(err.Error(), "there is no account") {
				t.Errorf("a second time: %v", err)
			}
		})
	}
}

// keptEvidence fails the test unless the evidence log has what happened in the account and what it owes.
func keptEvidence(t *testing.T, s store, of belongings) {
	t.Helper()
	var kinds []string
	entries, err := s.EvidenceLog().EntriesAfter(t.Context(), 0, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Account == of.account {
			kinds = append(kinds, e.Kind)
		}
	}
	for _, want := range []string{"process.created", "process.deleted", "account.closed", "account.statement", "account.deleted"} {
		if !slices.Contains(kinds, want) {
			t.Errorf("the evidence log has no %s: %v", want, kinds)
		}
	}
	last := lastStatement(t, s, of.account)
	if signatures := last.signatures(t); signatures != whatThereIs.Lines || last.Name != "Account gone" || len(last.Months) != 3 {
		t.Errorf("%d signatures: %+v", signatures, last)
	}
}

// statement is a statement in the evidence log.
type statement struct {
	Name   string
	Months []struct {
		Month                                      string
		SigningAPI, PortalAPI, Free, Price, Amount int
	}
}

// lastStatement returns the last statement of an account; the zero value if there is none.
func lastStatement(t *testing.T, s store, account string) (last statement) {
	t.Helper()
	entries, err := s.EvidenceLog().Entries(t.Context(), account)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Kind == "account.statement" {
			last = statement{}
			if err := json.Unmarshal(e.Facts, &last); err != nil {
				t.Fatal(err)
			}
		}
	}
	return last
}

// signatures returns how many there are in all months.
func (s statement) signatures(t *testing.T) (n int) {
	t.Helper()
	for _, m := range s.Months {
		n += m.SigningAPI + m.PortalAPI
		if m.Amount != m.Price*(m.SigningAPI+m.PortalAPI-m.Free) {
			t.Errorf("%+v", m)
		}
	}
	return n
}

// No ledger line is deleted that the last statement does not count, whenever a server of an earlier version adds it, and none
// is counted twice, also if the account was deleted before and made anew with its ID.
func TestDeletionOfAnAccountCountsEveryLine(t *testing.T) {
	const lines = 12 // the eleventh of a month changes the price of all
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			add := func(of string, i int) {
				t.Helper()
				err := s.InTx(t.Context(), func(ctx context.Context) error {
					return s.Accounts().AddLine(ctx, account.Line{ID: fmt.Sprint(of, i), Account: of, API: account.PortalAPI, At: time.Date(2026, 5, 1+i, 0, 0, 0, 0, time.UTC)})
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			for n, whole := 0, false; !whole; n++ {
				id := uuid.NewString()
				for range 2 {
					accounts := account.New(s.Accounts(), s, account.Options{})
					if _, err := accounts.EnsureAccount(t.Context(), id, "Example Ltd.", true); err != nil {
						t.Fatal(err)
					}
					for i := range lines - 1 {
						add(id, i)
					}
					whole = true
					late := hook(s, func(now int) error {
						if now == n {
							add(id, lines-1)
							whole = false
						}
						return nil
					})
					deleted(t, operator.New(late, operator.Options{}), id, operator.Deletion{})
					if whole { // there was no such transaction
						break
					}
					got := lastStatement(t, s, id)
					if got.signatures(t) != lines || len(got.Months) != 1 || got.Months[0].Price != 215 {
						t.Errorf("a line is added before transaction %d: %+v", n, got)
					}
				}
			}
		})
	}
}

// deleted deletes an account, or counts.
func deleted(t *testing.T, o *operator.Service, id string, how operator.Deletion) (done operator.AccountContent) {
	t.Helper()
	err := o.DeleteAccount(t.Context(), id, how, func(so operator.AccountContent) error { done = so; return nil })
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// hooked is a store that calls before with the number of each transaction, from 0 on, before it begins. An error is the
// transaction's.
type hooked struct {
	operator.Store
	listing
	n      int
	before func(n int) error
	within []string // lists that were read in transactions
}

// listing is what a deletion needs of a store beside operator.Store.
type listing interface {
	RequestsOf(ctx context.Context, account string) iter.Seq2[signing.Request, error]
	AllTokens(ctx context.Context) iter.Seq2[account.TokenRecord, error]
	AllSignals(ctx context.Context) iter.Seq2[busysignal.Signal, error]
	AllJobs(ctx context.Context) iter.Seq2[storage.Job, error]
	AllKeys(ctx context.Context) iter.Seq2[portal.Key, error]
}

func hook(s store, before func(n int) error) *hooked {
	return &hooked{Store: s.Store, listing: s.Store.(listing), before: before}
}

// inTx is the key of a context that carries a transaction: what joins that is not another one.
type inTx struct{}

func (h *hooked) InTx(ctx context.Context, fn func(context.Context) error) error {
	if ctx.Value(inTx{}) != nil {
		return h.Store.InTx(ctx, fn)
	}
	if err := h.before(h.n); err != nil {
		return err
	}
	h.n++
	return h.Store.InTx(context.WithValue(ctx, inTx{}, true), fn)
}

func (h *hooked) note(ctx context.Context, list string) {
	if ctx.Value(inTx{}) != nil {
		h.within = append(h.within, list)
	}
}

func (h *hooked) RequestsOf(ctx context.Context, account string) iter.Seq2[signing.Request, error] {
	h.note(ctx, "requests")
	return h.listing.RequestsOf(ctx, account)
}

func (h *hooked) AllTokens(ctx context.Context) iter.Seq2[account.TokenRecord, error] {
	h.note(ctx, "tokens")
	return h.listing.AllTokens(ctx)
}

func (h *hooked) AllSignals(ctx context.Context) iter.Seq2[busysignal.Signal, error] {
	h.note(ctx, "signals")
	return h.listing.AllSignals(ctx)
}

func (h *hooked) AllJobs(ctx context.Context) iter.Seq2[storage.Job, error] {
	h.note(ctx, "jobs")
	return h.listing.AllJobs(ctx)
}

func (h *hooked) AllKeys(ctx context.Context) iter.Seq2[portal.Key, error] {
	h.note(ctx, "keys")
	return h.listing.AllKeys(ctx)
}

// A deletion goes through long lists outside of transactions, for which others would wait.
func TestDeletionOfAnAccountKeepsTransactionsShort(t *testing.T) {
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			gone := someAccount(t, s, "gone", signing.Ended)
			h := hook(s, func(int) error { return nil })
			o := operator.New(h, operator.Options{})
			none := func(operator.AccountContent) error { return nil }
			if err := o.DeleteAccount(t.Context(), gone.account, operator.Deletion{}, none); err == nil {
				t.Error("a signature is under way")
			}
			deleted(t, o, gone.account, operator.Deletion{Force: true})
			if len(h.within) > 0 {
				t.Errorf("read in transactions: %v", h.within)
			}
		})
	}
}

var errBroken = errors.New("broken off")

// Jobs of other accounts stay that have the ID of a deleted account in their text.
func TestDeletionOfAnAccountLeavesOtherJobs(t *testing.T) {
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			gone := someAccount(t, s, "gone", signing.Ended)
			other := storage.Job{Kind: "mail", Group: "another", Unique: "message", Due: now(), Payload: []byte("what became of " + gone.account + "?")}
			if err := s.InTx(t.Context(), func(ctx context.Context) error { return s.Jobs().Enqueue(ctx, other) }); err != nil {
				t.Fatal(err)
			}
			deleted(t, operator.New(s.Store, operator.Options{}), gone.account, operator.Deletion{Force: true})
			left := 0
			for j, err := range s.Store.(listing).AllJobs(t.Context()) {
				if left++; err != nil || string(j.Payload) != string(other.Payload) {
					t.Errorf("%+v, %v", j, err)
				}
			}
			if left != 1 {
				t.Errorf("%d jobs are left", left)
			}
		})
	}
}

// A deletion that breaks off before any of its transactions, as if the program had died, goes on when it is called again, and
// leaves nothing.
func TestDeletionOfAnAccountGoesOn(t *testing.T) {
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			how := operator.Deletion{Force: true}
			for n, whole := 0, false; !whole; n++ {
				gone := someAccount(t, s, "gone", signing.Signed)
				o := operator.New(hook(s, func(now int) error {
					if now == n {
						return errBroken
					}
					return nil
				}), operator.Options{})
				err := o.DeleteAccount(t.Context(), gone.account, how, func(operator.AccountContent) error { return nil })
				if whole = err == nil; !whole {
					if !errors.Is(err, errBroken) {
						t.Fatal(err)
					}
					deleted(t, operator.New(s.Store, operator.Options{}), gone.account, how)
				}
				if d := cmp.Diff(evidenceTables[name], tablesWith(s.dump(t), gone.marks)); d != "" {
					t.Errorf("after %d transactions: %s", n, d)
				}
				keptEvidence(t, s, gone)
				if whole {
					t.Logf("figure: the deletion of an account has %d transactions", n)
				}
			}
		})
	}
}

// addRequest stores a request of an account with a document of its own.
func addRequest(t *testing.T, s store, r signing.Request) {
	t.Helper()
	document, err := s.Documents().Create(t.Context(), strings.NewReader("document of "+r.ID), 1<<10)
	if err != nil {
		t.Fatal(err)
	}
	r.Document, r.CreatedAt, r.Expires = document.ID, now(), now().Add(time.Hour)
	err = s.InTx(t.Context(), func(ctx context.Context) error {
		return errors.Join(s.Documents().Keep(ctx, r.Document), s.Requests().CreateRequest(ctx, r))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A signing request that begins just before the account is closed is under way, and is not cut unless by force.
func TestDeletionOfAnAccountSeesWhatBegins(t *testing.T) {
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			a, err := account.New(s.Accounts(), s, account.Options{}).CreateAccount(t.Context(), "Example Ltd.")
			if err != nil {
				t.Fatal(err)
			}
			begins := hook(s, func(n int) error {
				if n == 0 {
					addRequest(t, s, signing.Request{ID: "begins", Account: a.ID, Phase: signing.Waiting})
				}
				return nil
			})
			o := operator.New(begins, operator.Options{})
			none := func(operator.AccountContent) error { return nil }
			if err := o.DeleteAccount(t.Context(), a.ID, operator.Deletion{}, none); err == nil || !strings.Contains(err.Error(), "1 signing requests that are under way") {
				t.Errorf("without force: %v", err)
			}
			stored, err := s.Accounts().Account(t.Context(), a.ID)
			if err != nil || !stored.ClosedAt.IsZero() {
				t.Errorf("closed at %v, %v", stored.ClosedAt, err)
			}
			if r, err := s.Requests().Request(t.Context(), "begins"); err != nil || r.Phase != signing.Waiting {
				t.Errorf("%q, %v", r.Phase, err)
			}
			if entries, err := s.EvidenceLog().Entries(t.Context(), a.ID); err != nil || len(entries) > 0 {
				t.Errorf("%v, %v", entries, err)
			}
			if done := deleted(t, o, a.ID, operator.Deletion{Force: true}); done.Requests != 1 || done.UnderWay != 1 {
				t.Errorf("with force: %+v", done)
			}
		})
	}
}

// The services of a server add nothing to an account that is closed.
func TestClosedAccountTakesNothing(t *testing.T) {
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			accounts := account.New(s.Accounts(), s, account.Options{})
			a, err := accounts.CreateAccount(t.Context(), "Example Ltd.")
			if err == nil {
				err = accounts.CloseAccount(t.Context(), a.ID)
			}
			if err != nil {
				t.Fatal(err)
			}
			document, err := s.Documents().Create(t.Context(), strings.NewReader("%PDF-1.7"), 1<<10)
			if err != nil {
				t.Fatal(err)
			}
			signals := busysignal.New(s.BusySignals(), s, busysignal.Options{CheckAccount: accounts.CheckOpen})
			users, err := sandbox.Open(t.Context(), s.Sandbox(), s, sandbox.Options{Keys: sandbox.P256, CheckAccount: accounts.CheckOpen})
			if err != nil {
				t.Fatal(err)
			}
			requests := signing.New(s.Requests(), s, s.Documents(), s.Jobs(), s.EvidenceLog(), users, signals, signing.Options{CheckAccount: accounts.CheckOpen})
			hooks := delivery.New(s.Webhooks(), s, s.Jobs(), delivery.Options{EventTypes: []string{"process.completed"}, CheckAccount: accounts.CheckOpen})
			text := func(s string) *string { return &s }
			_, started := requests.Start(t.Context(), signing.Start{Account: a.ID, Document: document.ID, Name: "a.pdf", Person: idp.Person{Kennitala: "0101302989"}})
			_, signal := signals.Create(t.Context(), a.ID)
			_, user := users.Create(t.Context(), a.ID, sandbox.Profile{FullName: text("Name"), Kennitala: text("0101302989"), Phone: text("5550101")})
			_, subscription := hooks.Create(t.Context(), a.ID, "https://a.example/", []string{"process.completed"})
			for what, err := range map[string]error{"request": started, "busy signal": signal, "sandbox user": user, "subscription": subscription} {
				if !errors.Is(err, account.ErrClosed) {
					t.Errorf("%s: %v", what, err)
				}
			}
			if done := deleted(t, operator.New(s.Store, operator.Options{}), a.ID, operator.Deletion{}); done != (operator.AccountContent{}) {
				t.Errorf("stored: %+v", done)
			}
		})
	}
}

// The account's own record goes only when no other record is left, also of those that were added after the last look.
func TestDeletionOfAnAccountLooksAgain(t *testing.T) {
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			for what, add := range map[string]func(ctx context.Context, account, client string) error{
				"token": func(ctx context.Context, of, client string) error {
					return s.Accounts().AddToken(ctx, account.TokenRecord{Hash: []byte("h"), ClientID: client, AccountID: of, ExpiresAt: now().Add(time.Hour)})
				},
				"idempotency key": func(ctx context.Context, _, client string) error {
					return s.Processes().CreateKey(ctx, portal.Key{Client: client, Value: "late", CreatedAt: now()})
				},
				"busy signal": func(ctx context.Context, of, _ string) error {
					return s.BusySignals().AddSignal(ctx, busysignal.Signal{ID: "late", Account: of, CreatedAt: now(), UsedAt: now()})
				},
				"ledger line": func(ctx context.Context, of, _ string) error {
					return s.Accounts().AddLine(ctx, account.Line{ID: "late", Account: of, API: account.SigningAPI, At: now()})
				},
				"job": func(ctx context.Context, of, _ string) error {
					return s.Jobs().Enqueue(ctx, storage.Job{Kind: "webhook.event", Group: of, Due: now(), Payload: []byte("{}")})
				},
				"subscription": func(ctx context.Context, of, _ string) error {
					return s.Webhooks().CreateSubscription(ctx, delivery.Subscription{ID: "late", Account: of, EventTypes: []string{"process.completed"}, Secret: []byte("s")}, 10)
				},
				"sandbox user": func(ctx context.Context, of, _ string) error {
					return s.Sandbox().CreateUser(ctx, sandbox.User{ID: "late", Account: of, Certificate: []byte{1}, Key: []byte{1}})
				},
				"client": func(ctx context.Context, of, _ string) error {
					return s.Accounts().AddClient(ctx, account.Client{ID: "late client", AccountID: of, Name: "late"})
				},
				"request": func(ctx context.Context, of, _ string) error {
					return s.Requests().CreateRequest(ctx, signing.Request{ID: "late", Account: of, Phase: signing.Ended, CreatedAt: now()})
				},
			} {
				t.Run(what, func(t *testing.T) {
					_, _, transactions := deletedWith(t, s, func(int, string, string) error { return nil })
					of, client, _ := deletedWith(t, s, func(n int, of, client string) error {
						if n != transactions-1 { // the last one deletes the account
							return nil
						}
						return s.InTx(t.Context(), func(ctx context.Context) error { return add(ctx, of, client) })
					})
					if d := cmp.Diff(evidenceTables[name], tablesWith(s.dump(t), []string{of, client, "late"})); d != "" {
						t.Errorf("what is left: %s", d)
					}
				})
			}
		})
	}
}

// deletedWith deletes an account that has a client alone. It calls before with the number of each transaction and the IDs, and
// returns the IDs and the number of transactions.
func deletedWith(t *testing.T, s store, before func(n int, account, client string) error) (id, clientID string, transactions int) {
	t.Helper()
	accounts := account.New(s.Accounts(), s, account.Options{})
	a, err := accounts.CreateAccount(t.Context(), "Example Ltd.")
	if err != nil {
		t.Fatal(err)
	}
	client, _, err := accounts.CreateClient(t.Context(), a.ID, "client", nil)
	if err != nil {
		t.Fatal(err)
	}
	h := hook(s, func(n int) error { return before(n, a.ID, client.ID) })
	deleted(t, operator.New(h, operator.Options{}), a.ID, operator.Deletion{})
	return a.ID, client.ID, h.n
}

// What has ended, whatever became of it, is not in the way of a deletion, unless a person's signature would be lost with it.
func TestAccountWithoutSignaturesUnderWay(t *testing.T) {
	failure := &idp.Failure{Code: idp.InternalError}
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			accounts := account.New(s.Accounts(), s, account.Options{})
			for what, test := range map[string]struct {
				phase       signing.Phase
				value       []byte
				failure     *idp.Failure
				recoverable bool
			}{
				"failed":                                {signing.Failed, nil, failure, false},
				"ended":                                 {signing.Ended, nil, nil, false},
				"ended with a failure":                  {signing.Ended, nil, failure, false},
				"failed with a signature":               {signing.Failed, []byte{1}, failure, true},
				"ended with a signature":                {signing.Ended, []byte{1}, failure, true},
				"ended with the signature of a refusal": {signing.Ended, []byte{1}, &idp.Failure{Code: idp.UserCancelled}, false},
			} {
				t.Run(what, func(t *testing.T) {
					a, err := accounts.CreateAccount(t.Context(), what)
					if err != nil {
						t.Fatal(err)
					}
					addRequest(t, s, signing.Request{ID: "request " + what, Account: a.ID, Phase: test.phase, Value: test.value, Failure: test.failure})
					o := operator.New(s.Store, operator.Options{})
					want := operator.AccountContent{Requests: 1}
					if test.recoverable {
						want.UnderWay = 1
						err := o.DeleteAccount(t.Context(), a.ID, operator.Deletion{}, func(operator.AccountContent) error { return nil })
						if err == nil || !strings.Contains(err.Error(), `1 with a signature that "innsigli signing complete" can still complete (request `+what+")") {
							t.Errorf("without force: %v", err)
						}
					}
					if d := cmp.Diff(want, deleted(t, o, a.ID, operator.Deletion{DryRun: true})); d != "" {
						t.Errorf("dry run: %s", d)
					}
					if d := cmp.Diff(want, deleted(t, o, a.ID, operator.Deletion{Force: test.recoverable})); d != "" {
						t.Error(d)
					}
				})
			}
		})
	}
}
