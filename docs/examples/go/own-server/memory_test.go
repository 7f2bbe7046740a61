package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/server"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/storagetest"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// The documents and records in memory are a whole backend.
func TestMemory(t *testing.T) {
	storagetest.Run(t, func(t *testing.T) storagetest.Backend { return suiteOf(new(tables), t.TempDir()) })
}

func suiteOf(data *tables, folder string) storagetest.Backend {
	m := newMemory(data, folder)
	return storagetest.Backend{
		Transactor: m, Documents: m.Documents(), Accounts: m.Accounts(), BusySignals: m.BusySignals(), Requests: m.Requests(), Sandbox: m.Sandbox(),
		Jobs: m.Jobs(), EvidenceLog: m.EvidenceLog(), Webhooks: m.Webhooks(), Processes: m.Processes(), Pages: m.Pages(),
		Bytes:  func(t testing.TB) int64 { return sizeOf(t, folder) },
		Reopen: func(*testing.T) storagetest.Backend { m.Close(); return suiteOf(data, folder) },
	}
}

// memory is a backend whose records are in memory: one transaction runs at a time, and others read what was committed before.
// Documents are files.
type memory struct {
	data   *tables
	closed atomic.Bool
	files
}

// tables are what the memory has stored, which outlives the memory that has opened it.
type tables struct {
	writing       sync.Mutex   // by the transaction that runs
	reading       sync.RWMutex // what is committed
	accounts      table[string, account.Account]
	clients       table[string, account.Client]
	tokens        table[string, account.TokenRecord]
	lines         table[string, account.Line]
	signals       table[string, busysignal.Signal]
	requests      table[string, signing.Request]
	certificates  table[string, signing.KeptCertificate]
	users         table[string, sandbox.User]
	authority     table[int, []byte]
	subscriptions table[string, delivery.Subscription]
	attempts      table[int64, delivery.Attempt]
	dropped       table[[2]string, delivery.Dropped]
	signingKeys   table[int, delivery.SigningKey]
	processes     table[string, portal.Process]
	processKeys   table[[2]string, portal.Key]
	jobs          table[string, leased]
	entries       table[int64, entry]
	batches       table[int64, storage.Batch]
	records       table[string, storage.Record]
	seq           int64 // of entries and attempts
	enqueued      chan struct{}
}

func newMemory(data *tables, folder string) *memory {
	m := &memory{data: data}
	if m.data.enqueued == nil {
		m.data.enqueued = make(chan struct{}, 1)
	}
	m.files = files{folder, m, m.Pages()}
	return m
}

var _ server.Backend = (*memory)(nil)

func (m *memory) Accounts() account.Store          { return accounts{m} }
func (m *memory) BusySignals() busysignal.Store    { return signals{m} }
func (m *memory) Requests() signing.Store          { return requests{m} }
func (m *memory) Sandbox() sandbox.Store           { return users{m} }
func (m *memory) Documents() storage.Documents     { return m.files }
func (m *memory) Jobs() storage.Jobs               { return jobs{m} }
func (m *memory) EvidenceLog() storage.EvidenceLog { return evidence{m} }
func (m *memory) Webhooks() delivery.Store         { return webhooks{m} }
func (m *memory) Processes() portal.Store          { return processes{m} }
func (m *memory) Pages() storage.Records           { return records{m} }

func (m *memory) AllCertificates(ctx context.Context) iter.Seq2[signing.KeptCertificate, error] {
	return sequence(list(ctx, m, &m.data.certificates, nil))
}

func (m *memory) AllSubscriptions(ctx context.Context) iter.Seq2[delivery.Subscription, error] {
	return sequence(list(ctx, m, &m.data.subscriptions, nil))
}

func (m *memory) AllUnopened(ctx context.Context) iter.Seq2[portal.Process, error] {
	return sequence(list(ctx, m, &m.data.processes, func(p portal.Process) bool { return !p.UnopenedUntil().IsZero() }))
}

func sequence[V any](all []V, err error) iter.Seq2[V, error] {
	return func(yield func(V, error) bool) {
		for _, v := range all {
			if !yield(v, nil) {
				return
			}
		}
		if err != nil {
			var none V
			yield(none, err)
		}
	}
}

// Close makes everything fail.
func (m *memory) Close() error {
	m.closed.Store(true)
	return nil
}

// usable is the error of those who come when they may not.
func (m *memory) usable(ctx context.Context) error {
	if m.closed.Load() {
		return errors.New("the backend is closed")
	}
	return ctx.Err()
}

// transaction travels in the context.
type transaction struct {
	of     *memory
	open   bool
	failed error             // of a transaction within
	settle []func(done bool) // of each table that was changed
	jobs   bool              // were enqueued
}

type transactionKey struct{}

func (m *memory) joined(ctx context.Context) *transaction {
	if tx, ok := ctx.Value(transactionKey{}).(*transaction); ok && tx.of.data == m.data && tx.open {
		return tx
	}
	return nil
}

func (m *memory) InTx(ctx context.Context, fn func(ctx context.Context) error) error {
	if tx := m.joined(ctx); tx != nil {
		err := fn(ctx)
		tx.failed = cmp.Or(tx.failed, err)
		return err
	}
	m.data.writing.Lock()
	defer m.data.writing.Unlock()
	if err := m.usable(ctx); err != nil {
		return err
	}
	tx, done := &transaction{of: m, open: true}, false
	defer func() { // also when fn has panicked
		tx.open = false
		m.data.reading.Lock()
		defer m.data.reading.Unlock()
		for _, settle := range tx.settle {
			settle(done)
		}
		if done && tx.jobs {
			select {
			case m.data.enqueued <- struct{}{}:
			default:
			}
		}
	}()
	err := fn(context.WithValue(ctx, transactionKey{}, tx))
	err = cmp.Or(err, tx.failed, m.usable(ctx))
	done = err == nil
	return err
}

// table is records by their keys, in the order in which they were added.
type table[K comparable, V any] struct {
	rows    map[K]row[V]  // that are committed
	pending map[K]*row[V] // of the transaction that runs; nil: the record is removed
	added   int64
}

// row is a record, encoded so that nothing is shared with those who have stored or read it.
type row[V any] struct {
	place   int64
	encoded []byte
}

func (r row[V]) value() (v V) {
	if err := json.Unmarshal(r.encoded, &v); err != nil {
		panic(err)
	}
	return v
}

// seen are the rows that a context sees: those of its transaction, or those that are committed.
func seen[K comparable, V any](ctx context.Context, m *memory, t *table[K, V]) map[K]row[V] {
	m.data.reading.RLock()
	defer m.data.reading.RUnlock()
	rows := maps.Clone(t.rows)
	if m.joined(ctx) == nil {
		return rows
	}
	if rows == nil {
		rows = make(map[K]row[V])
	}
	for key, r := range t.pending {
		if r == nil {
			delete(rows, key)
		} else {
			rows[key] = *r
		}
	}
	return rows
}

// find returns the row of a key that a context sees.
func find[K comparable, V any](ctx context.Context, m *memory, t *table[K, V], key K) (row[V], bool) {
	if m.joined(ctx) != nil {
		if r, changed := t.pending[key]; changed {
			if r == nil {
				return row[V]{}, false
			}
			return *r, true
		}
	}
	m.data.reading.RLock()
	defer m.data.reading.RUnlock()
	r, ok := t.rows[key]
	return r, ok
}

// get returns a record.
func get[K comparable, V any](ctx context.Context, m *memory, t *table[K, V], key K) (v V, err error) {
	if err := m.usable(ctx); err != nil {
		return v, err
	}
	r, ok := find(ctx, m, t, key)
	if !ok {
		return v, storage.ErrNotFound
	}
	return r.value(), nil
}

// list returns the records that are wanted, in the order in which they were added.
func list[K comparable, V any](ctx context.Context, m *memory, t *table[K, V], wanted func(V) bool) (all []V, err error) {
	if err := m.usable(ctx); err != nil {
		return nil, err
	}
	rows := slices.SortedFunc(maps.Values(seen(ctx, m, t)), func(a, b row[V]) int { return cmp.Compare(a.place, b.place) })
	for _, r := range rows {
		if v := r.value(); wanted == nil || wanted(v) {
			all = append(all, v)
		}
	}
	return all, nil
}

// put stores a record, or removes it when v is nil, in the transaction of the context.
func put[K comparable, V any](ctx context.Context, m *memory, t *table[K, V], key K, v *V) error {
	tx := m.joined(ctx)
	if tx == nil {
		return storage.ErrNoTx
	}
	if err := m.usable(ctx); err != nil {
		return err
	}
	before, was := find(ctx, m, t, key)
	if t.pending == nil {
		t.pending = make(map[K]*row[V])
		tx.settle = append(tx.settle, t.settle)
	}
	if v == nil {
		t.pending[key] = nil
		return nil
	}
	encoded, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if !was {
		t.added++
		before.place = t.added
	}
	t.pending[key] = &row[V]{before.place, encoded}
	return nil
}

// settle commits what a transaction has changed, or drops it.
func (t *table[K, V]) settle(done bool) {
	if t.rows == nil {
		t.rows = make(map[K]row[V])
	}
	for key, r := range t.pending {
		switch {
		case !done:
		case r == nil:
			delete(t.rows, key)
		default:
			t.rows[key] = *r
		}
	}
	t.pending = nil
}

// add is put for a key that is free.
func add[K comparable, V any](ctx context.Context, m *memory, t *table[K, V], key K, v V) error {
	if _, taken := find(ctx, m, t, key); taken && m.joined(ctx) != nil {
		return storage.ErrExists
	}
	return put(ctx, m, t, key, &v)
}

// change is put for a key that is there.
func change[K comparable, V any](ctx context.Context, m *memory, t *table[K, V], key K, v *V) error {
	if _, there := find(ctx, m, t, key); !there && m.joined(ctx) != nil {
		return storage.ErrNotFound
	}
	return put(ctx, m, t, key, v)
}

// removeFirst removes records that are wanted, at most limit of them and the first by less, and returns how many.
func removeFirst[K comparable, V any](ctx context.Context, m *memory, t *table[K, V], limit int, key func(V) K, wanted func(V) bool, less func(a, b V) int) (int, error) {
	if m.joined(ctx) == nil {
		return 0, storage.ErrNoTx
	}
	all, err := list(ctx, m, t, wanted)
	slices.SortStableFunc(all, less)
	all = atMost(all, limit)
	for _, v := range all {
		err = errors.Join(err, put(ctx, m, t, key(v), nil))
	}
	return len(all), err
}

// atMost is the first of a list.
func atMost[V any](all []V, limit int) []V {
	if limit <= 0 || len(all) == 0 {
		return nil
	}
	return all[:min(limit, len(all))]
}

type accounts struct{ *memory }

func (a accounts) Account(ctx context.Context, id string) (account.Account, error) {
	return get(ctx, a.memory, &a.data.accounts, id)
}
func (a accounts) ShareAccount(ctx context.Context, id string) (account.Account, error) {
	return a.Account(ctx, id)
}
func (a accounts) Accounts(ctx context.Context) ([]account.Account, error) {
	return list(ctx, a.memory, &a.data.accounts, nil)
}
func (a accounts) AddAccount(ctx context.Context, v account.Account) error {
	return add(ctx, a.memory, &a.data.accounts, v.ID, v)
}
func (a accounts) UpdateAccount(ctx context.Context, v account.Account) error {
	return change(ctx, a.memory, &a.data.accounts, v.ID, &v)
}
func (a accounts) DeleteAccount(ctx context.Context, id string) error {
	return change(ctx, a.memory, &a.data.accounts, id, nil)
}
func (a accounts) Client(ctx context.Context, id string) (account.Client, error) {
	return get(ctx, a.memory, &a.data.clients, id)
}
func (a accounts) Clients(ctx context.Context, of string) ([]account.Client, error) {
	return list(ctx, a.memory, &a.data.clients, func(c account.Client) bool { return c.AccountID == of })
}
func (a accounts) AddClient(ctx context.Context, c account.Client) error {
	return add(ctx, a.memory, &a.data.clients, c.ID, c)
}
func (a accounts) UpdateClient(ctx context.Context, c account.Client) error {
	return change(ctx, a.memory, &a.data.clients, c.ID, &c)
}
func (a accounts) DeleteClient(ctx context.Context, id string) error {
	return change(ctx, a.memory, &a.data.clients, id, nil)
}
func (a accounts) Token(ctx context.Context, hash []byte) (account.TokenRecord, error) {
	return get(ctx, a.memory, &a.data.tokens, string(hash))
}
func (a accounts) AddToken(ctx context.Context, t account.TokenRecord) error {
	return add(ctx, a.memory, &a.data.tokens, string(t.Hash), t)
}
func (a accounts) DeleteToken(ctx context.Context, hash []byte) error {
	return change(ctx, a.memory, &a.data.tokens, string(hash), nil)
}
func (a accounts) DeleteExpiredTokens(ctx context.Context, now time.Time, limit int) (int, error) {
	return removeFirst(ctx, a.memory, &a.data.tokens, limit, func(t account.TokenRecord) string { return string(t.Hash) },
		func(t account.TokenRecord) bool { return !t.ExpiresAt.After(now) },
		func(x, y account.TokenRecord) int { return x.ExpiresAt.Compare(y.ExpiresAt) })
}
func (a accounts) AddLine(ctx context.Context, l account.Line) error {
	return add(ctx, a.memory, &a.data.lines, l.ID, l)
}
func (a accounts) AddSignature(ctx context.Context, l account.Line) error {
	if a.joined(ctx) == nil {
		return storage.ErrNoTx
	}
	owner, err := get(ctx, a.memory, &a.data.accounts, l.Account)
	if err != nil {
		return err
	}
	l.Free = owner.FreeUsed < account.FreeSignatures
	if err := a.AddLine(ctx, l); errors.Is(err, storage.ErrExists) {
		return nil
	} else if err != nil || !l.Free {
		return err
	}
	owner.FreeUsed++
	return a.UpdateAccount(ctx, owner)
}
func (a accounts) DeleteLines(ctx context.Context, of string, limit int) (deleted []account.Line, err error) {
	_, err = removeFirst(ctx, a.memory, &a.data.lines, limit, func(l account.Line) string { deleted = append(deleted, l); return l.ID },
		func(l account.Line) bool { return l.Account == of }, func(x, y account.Line) int { return x.At.Compare(y.At) })
	return deleted, err
}
func (a accounts) Lines(ctx context.Context, of string, from, to time.Time) iter.Seq2[account.Line, error] {
	all, err := list(ctx, a.memory, &a.data.lines, func(l account.Line) bool { return l.Account == of && !l.At.Before(from) && l.At.Before(to) })
	slices.SortStableFunc(all, func(x, y account.Line) int { return x.At.Compare(y.At) })
	return sequence(all, err)
}

type signals struct{ *memory }

func (s signals) Signal(ctx context.Context, id string) (busysignal.Signal, error) {
	return get(ctx, s.memory, &s.data.signals, id)
}
func (s signals) AddSignal(ctx context.Context, v busysignal.Signal) error {
	return add(ctx, s.memory, &s.data.signals, v.ID, v)
}
func (s signals) UpdateSignal(ctx context.Context, v busysignal.Signal) error {
	return change(ctx, s.memory, &s.data.signals, v.ID, &v)
}
func (s signals) DeleteSignal(ctx context.Context, id string) error {
	return change(ctx, s.memory, &s.data.signals, id, nil)
}
func (s signals) DeleteUnusedSignals(ctx context.Context, lastUse time.Time, limit int) (int, error) {
	return removeFirst(ctx, s.memory, &s.data.signals, limit, func(v busysignal.Signal) string { return v.ID },
		func(v busysignal.Signal) bool { return !v.UsedAt.After(lastUse) },
		func(x, y busysignal.Signal) int { return x.UsedAt.Compare(y.UsedAt) })
}

type requests struct{ *memory }

func (q requests) KeepCertificate(ctx context.Context, c signing.KeptCertificate) error {
	return put(ctx, q.memory, &q.data.certificates, c.Person, &c)
}
func (q requests) KeptCertificate(ctx context.Context, person string) (signing.KeptCertificate, error) {
	return get(ctx, q.memory, &q.data.certificates, person)
}
func (q requests) DropCertificates(ctx context.Context, before time.Time, limit int) (int, error) {
	return removeFirst(ctx, q.memory, &q.data.certificates, limit, func(c signing.KeptCertificate) string { return c.Person },
		func(c signing.KeptCertificate) bool { return c.Expires.Before(before) },
		func(x, y signing.KeptCertificate) int { return x.Expires.Compare(y.Expires) })
}
func (q requests) CreateRequest(ctx context.Context, r signing.Request) error {
	if r.Key != nil && q.joined(ctx) != nil {
		if _, err := q.RequestByKey(ctx, r.Key.Client, r.Key.Key); !errors.Is(err, storage.ErrNotFound) {
			return cmp.Or(err, storage.ErrExists)
		}
	}
	return add(ctx, q.memory, &q.data.requests, r.ID, r)
}
func (q requests) Request(ctx context.Context, id string) (signing.Request, error) {
	return get(ctx, q.memory, &q.data.requests, id)
}
func (q requests) RequestByKey(ctx context.Context, client, key string) (signing.Request, error) {
	return first(list(ctx, q.memory, &q.data.requests, func(r signing.Request) bool {
		return r.Key != nil && r.Key.Client == client && r.Key.Key == key
	}))
}

// first is the first of a list; storage.ErrNotFound.
func first[V any](all []V, err error) (v V, _ error) {
	if err != nil || len(all) == 0 {
		return v, cmp.Or(err, storage.ErrNotFound)
	}
	return all[0], nil
}

func (q requests) UpdateRequest(ctx context.Context, r signing.Request) error {
	if q.joined(ctx) != nil {
		stored, err := q.Request(ctx, r.ID)
		if err == nil && stored.Revision != r.Revision-1 {
			err = signing.ErrConflict
		}
		if err != nil {
			return err
		}
	}
	return change(ctx, q.memory, &q.data.requests, r.ID, &r)
}
func (q requests) DeleteRequest(ctx context.Context, id string) error {
	return put(ctx, q.memory, &q.data.requests, id, nil)
}
func (q requests) oldest(ctx context.Context, limit int, wanted func(signing.Request) bool) ([]signing.Request, error) {
	all, err := list(ctx, q.memory, &q.data.requests, wanted)
	slices.SortStableFunc(all, func(x, y signing.Request) int { return x.CreatedAt.Compare(y.CreatedAt) })
	return atMost(all, limit), err
}
func (q requests) Abandoned(ctx context.Context, of string, before time.Time, limit int) ([]signing.Request, error) {
	return q.oldest(ctx, limit, func(r signing.Request) bool {
		return r.Account == of && r.Phase != signing.Ended && r.CreatedAt.Before(before)
	})
}
func (q requests) RequestsBefore(ctx context.Context, before time.Time, limit int) ([]signing.Request, error) {
	return q.oldest(ctx, limit, func(r signing.Request) bool { return r.CreatedAt.Before(before) })
}
func (q requests) Unfinished(ctx context.Context, before time.Time, limit int) ([]signing.Request, error) {
	return q.oldest(ctx, limit, func(r signing.Request) bool { return r.Phase != signing.Ended && r.CreatedAt.Before(before) })
}

type users struct{ *memory }

func (u users) taken(ctx context.Context, v sandbox.User) error {
	same, err := list(ctx, u.memory, &u.data.users, func(o sandbox.User) bool {
		return o.Account == v.Account && o.ID != v.ID && (idp.NormalizeKennitala(o.Kennitala) == idp.NormalizeKennitala(v.Kennitala) || o.Phone == v.Phone)
	})
	if err == nil && len(same) > 0 {
		err = storage.ErrExists
	}
	return err
}
func (u users) CreateUser(ctx context.Context, v sandbox.User) error {
	if err := u.taken(ctx, v); err != nil && u.joined(ctx) != nil {
		return err
	}
	return add(ctx, u.memory, &u.data.users, v.ID, v)
}
func (u users) UpdateUser(ctx context.Context, v sandbox.User) error {
	if u.joined(ctx) != nil {
		if _, err := u.User(ctx, v.Account, v.ID); err != nil {
			return err
		}
		if err := u.taken(ctx, v); err != nil {
			return err
		}
	}
	return change(ctx, u.memory, &u.data.users, v.ID, &v)
}
func (u users) User(ctx context.Context, of, id string) (sandbox.User, error) {
	return first(list(ctx, u.memory, &u.data.users, func(v sandbox.User) bool { return v.Account == of && v.ID == id }))
}
func (u users) UserByKennitala(ctx context.Context, of, kennitala string) (sandbox.User, error) {
	return first(list(ctx, u.memory, &u.data.users, func(v sandbox.User) bool {
		return v.Account == of && idp.NormalizeKennitala(v.Kennitala) == kennitala
	}))
}
func (u users) DeleteUser(ctx context.Context, of, id string) error {
	if u.joined(ctx) == nil {
		return storage.ErrNoTx
	}
	if _, err := u.User(ctx, of, id); err != nil {
		return err
	}
	return change(ctx, u.memory, &u.data.users, id, nil)
}
func (u users) UserByPhone(ctx context.Context, of, phone string) (sandbox.User, error) {
	return first(list(ctx, u.memory, &u.data.users, func(v sandbox.User) bool { return v.Account == of && v.Phone == phone }))
}
func (u users) Users(ctx context.Context, of string) ([]sandbox.User, error) {
	return list(ctx, u.memory, &u.data.users, func(v sandbox.User) bool { return v.Account == of })
}
func (u users) Authority(ctx context.Context) ([]byte, error) {
	return get(ctx, u.memory, &u.data.authority, 0)
}
func (u users) SaveAuthority(ctx context.Context, encoded []byte) error {
	return add(ctx, u.memory, &u.data.authority, 0, encoded)
}
func (u users) UpdateAuthority(ctx context.Context, encoded []byte) error {
	return change(ctx, u.memory, &u.data.authority, 0, &encoded)
}

type webhooks struct{ *memory }

func (w webhooks) CreateSubscription(ctx context.Context, s delivery.Subscription, limit int) error {
	if w.joined(ctx) != nil {
		if all, err := w.Subscriptions(ctx, s.Account); err != nil || len(all) >= limit {
			return cmp.Or(err, delivery.ErrTooMany)
		}
	}
	return add(ctx, w.memory, &w.data.subscriptions, s.ID, s)
}
func (w webhooks) UpdateSubscription(ctx context.Context, s delivery.Subscription) error {
	return change(ctx, w.memory, &w.data.subscriptions, s.ID, &s)
}
func (w webhooks) DeleteSubscription(ctx context.Context, id string) error {
	return change(ctx, w.memory, &w.data.subscriptions, id, nil)
}
func (w webhooks) Subscription(ctx context.Context, id string) (delivery.Subscription, error) {
	return get(ctx, w.memory, &w.data.subscriptions, id)
}
func (w webhooks) Subscriptions(ctx context.Context, of string) ([]delivery.Subscription, error) {
	return list(ctx, w.memory, &w.data.subscriptions, func(s delivery.Subscription) bool { return s.Account == of })
}

// next is a number that is greater than those before.
func (m *memory) next() int64 {
	m.data.seq++
	return m.data.seq
}

func (w webhooks) AddAttempt(ctx context.Context, a delivery.Attempt) error {
	if w.joined(ctx) == nil {
		return storage.ErrNoTx
	}
	return add(ctx, w.memory, &w.data.attempts, w.next(), a)
}
func (w webhooks) Attempts(ctx context.Context, subscription string) iter.Seq2[delivery.Attempt, error] {
	all, err := list(ctx, w.memory, &w.data.attempts, func(a delivery.Attempt) bool { return a.Subscription == subscription })
	slices.SortStableFunc(all, func(x, y delivery.Attempt) int { return x.At.Compare(y.At) })
	slices.Reverse(all)
	return sequence(all, err)
}
func (w webhooks) DeleteAttempts(ctx context.Context, before time.Time, limit int) (n int, err error) {
	if w.joined(ctx) == nil {
		return 0, storage.ErrNoTx
	}
	rows := seen(ctx, w.memory, &w.data.attempts)
	keys := slices.SortedFunc(maps.Keys(rows), func(x, y int64) int {
		return cmp.Or(rows[x].value().At.Compare(rows[y].value().At), cmp.Compare(x, y))
	})
	for _, key := range keys {
		if n < limit && rows[key].value().At.Before(before) {
			err = errors.Join(err, put(ctx, w.memory, &w.data.attempts, key, nil))
			n++
		}
	}
	return n, err
}
func (w webhooks) DeleteAttemptsOf(ctx context.Context, subscription string, limit int) (n int, err error) {
	if w.joined(ctx) == nil {
		return 0, storage.ErrNoTx
	}
	rows := seen(ctx, w.memory, &w.data.attempts)
	for key := range rows {
		if n < limit && rows[key].value().Subscription == subscription {
			err = errors.Join(err, put(ctx, w.memory, &w.data.attempts, key, nil))
			n++
		}
	}
	return n, err
}
func (w webhooks) AddDropped(ctx context.Context, d delivery.Dropped) error {
	return put(ctx, w.memory, &w.data.dropped, [2]string{d.Subscription, d.Event}, &d)
}
func (w webhooks) Dropped(ctx context.Context, subscription string) ([]delivery.Dropped, error) {
	all, err := list(ctx, w.memory, &w.data.dropped, func(d delivery.Dropped) bool { return d.Subscription == subscription })
	slices.SortStableFunc(all, func(x, y delivery.Dropped) int { return x.At.Compare(y.At) })
	for i := range all {
		all[i].Body = nil
	}
	return all, err
}
func (w webhooks) RemoveDropped(ctx context.Context, subscription, event string) (delivery.Dropped, error) {
	key := [2]string{subscription, event}
	if w.joined(ctx) == nil {
		return delivery.Dropped{}, storage.ErrNoTx
	}
	d, err := get(ctx, w.memory, &w.data.dropped, key)
	if err != nil {
		return d, err
	}
	return d, put(ctx, w.memory, &w.data.dropped, key, nil)
}
func (w webhooks) DeleteDropped(ctx context.Context, before time.Time, limit int) (int, error) {
	return removeFirst(ctx, w.memory, &w.data.dropped, limit, func(d delivery.Dropped) [2]string { return [2]string{d.Subscription, d.Event} },
		func(d delivery.Dropped) bool { return d.At.Before(before) }, func(x, y delivery.Dropped) int { return x.At.Compare(y.At) })
}
func (w webhooks) CreateKey(ctx context.Context, k delivery.SigningKey) error {
	return add(ctx, w.memory, &w.data.signingKeys, k.Number, k)
}
func (w webhooks) UpdateKey(ctx context.Context, k delivery.SigningKey) error {
	return change(ctx, w.memory, &w.data.signingKeys, k.Number, &k)
}
func (w webhooks) Keys(ctx context.Context) ([]delivery.SigningKey, error) {
	all, err := list(ctx, w.memory, &w.data.signingKeys, nil)
	slices.SortFunc(all, func(x, y delivery.SigningKey) int { return cmp.Compare(x.Number, y.Number) })
	return all, err
}
func (w webhooks) DeleteKey(ctx context.Context, number int) error {
	return change(ctx, w.memory, &w.data.signingKeys, number, nil)
}

type processes struct{ *memory }

func (s processes) CreateProcess(ctx context.Context, p portal.Process) error {
	return add(ctx, s.memory, &s.data.processes, p.ID, p)
}
func (s processes) UpdateProcess(ctx context.Context, p portal.Process) error {
	return change(ctx, s.memory, &s.data.processes, p.ID, &p)
}
func (s processes) DeleteProcess(ctx context.Context, id string) error {
	return change(ctx, s.memory, &s.data.processes, id, nil)
}
func (s processes) Process(ctx context.Context, id string) (portal.Process, error) {
	return get(ctx, s.memory, &s.data.processes, id)
}
func (s processes) ProcessByLink(ctx context.Context, hash []byte) (portal.Process, error) {
	return first(list(ctx, s.memory, &s.data.processes, func(p portal.Process) bool {
		return slices.ContainsFunc(p.LinkHashes(), func(h []byte) bool { return bytes.Equal(h, hash) })
	}))
}
func (s processes) Waiting(ctx context.Context, of string, after time.Time, limit int) ([]portal.Process, error) {
	all, err := list(ctx, s.memory, &s.data.processes, func(p portal.Process) bool { return p.Account == of && p.WaitsUntil().After(after) })
	return atMost(all, limit), err
}
func (s processes) Unopened(ctx context.Context, until time.Time, limit int) ([]portal.Process, error) {
	all, err := list(ctx, s.memory, &s.data.processes, func(p portal.Process) bool {
		return !p.UnopenedUntil().IsZero() && !p.UnopenedUntil().After(until)
	})
	slices.SortStableFunc(all, func(x, y portal.Process) int { return x.UnopenedUntil().Compare(y.UnopenedUntil()) })
	return atMost(all, limit), err
}
func (s processes) ListProcesses(ctx context.Context, of portal.Listing, after portal.Position, limit int) ([]portal.Process, error) {
	place := func(p portal.Process) portal.Position { return portal.Position{CreatedAt: p.CreatedAt, ID: p.ID} }
	order := func(x, y portal.Position) int {
		return cmp.Or(x.CreatedAt.Compare(y.CreatedAt), cmp.Compare(x.ID, y.ID))
	}
	all, err := list(ctx, s.memory, &s.data.processes, func(p portal.Process) bool {
		return p.Account == of.Account && p.Origin == of.Origin && (of.Status == "" || p.NotedStatus() == of.Status) && order(place(p), after) > 0
	})
	slices.SortFunc(all, func(x, y portal.Process) int { return order(place(x), place(y)) })
	return atMost(all, limit), err
}
func (s processes) Overdue(ctx context.Context, of string, before time.Time) iter.Seq2[portal.Process, error] {
	all, err := list(ctx, s.memory, &s.data.processes, func(p portal.Process) bool {
		return (of == "" || p.Account == of) && p.NotedStatus() == portal.Waiting && p.WaitsUntil().Before(before)
	})
	slices.SortStableFunc(all, func(x, y portal.Process) int { return x.WaitsUntil().Compare(y.WaitsUntil()) })
	return sequence(all, err)
}
func (s processes) Ended(ctx context.Context, before time.Time, limit int) ([]portal.Process, error) {
	ended := func(p portal.Process) time.Time {
		if p.EndedAt.IsZero() {
			return p.CreatedAt
		}
		return p.EndedAt
	}
	all, err := list(ctx, s.memory, &s.data.processes, func(p portal.Process) bool {
		return p.NotedStatus() != portal.Waiting && ended(p).Before(before)
	})
	slices.SortStableFunc(all, func(x, y portal.Process) int { return ended(x).Compare(ended(y)) })
	return atMost(all, limit), err
}
func (s processes) CreateKey(ctx context.Context, k portal.Key) error {
	return add(ctx, s.memory, &s.data.processKeys, [2]string{k.Client, k.Value}, k)
}
func (s processes) UpdateKey(ctx context.Context, k portal.Key) error {
	return change(ctx, s.memory, &s.data.processKeys, [2]string{k.Client, k.Value}, &k)
}
func (s processes) Key(ctx context.Context, client, value string) (portal.Key, error) {
	return get(ctx, s.memory, &s.data.processKeys, [2]string{client, value})
}
func (s processes) DeleteKey(ctx context.Context, client, value string) error {
	return put(ctx, s.memory, &s.data.processKeys, [2]string{client, value}, nil)
}
func (s processes) DeleteKeys(ctx context.Context, until time.Time, limit int) (int, error) {
	return removeFirst(ctx, s.memory, &s.data.processKeys, limit, func(k portal.Key) [2]string { return [2]string{k.Client, k.Value} },
		func(k portal.Key) bool { return !k.CreatedAt.After(until) }, func(x, y portal.Key) int { return x.CreatedAt.Compare(y.CreatedAt) })
}

// entry is an entry whose facts stay as they were written.
type entry struct {
	storage.Entry
	Facts []byte
}

type evidence struct{ *memory }

func (e evidence) Record(ctx context.Context, entries ...storage.Entry) error {
	if e.joined(ctx) == nil {
		return storage.ErrNoTx
	}
	for _, one := range entries {
		if !json.Valid(one.Facts) {
			return fmt.Errorf("the facts of the entry %s are not JSON", one.Kind)
		}
		one.Seq = e.next()
		if err := add(ctx, e.memory, &e.data.entries, one.Seq, entry{one, one.Facts}); err != nil {
			return err
		}
	}
	return nil
}
func (e evidence) list(ctx context.Context, wanted func(entry) bool) (entries []storage.Entry, err error) {
	all, err := list(ctx, e.memory, &e.data.entries, wanted)
	for _, one := range all {
		one.Entry.Facts = one.Facts
		entries = append(entries, one.Entry)
	}
	return entries, err
}
func (e evidence) Entries(ctx context.Context, subject string) ([]storage.Entry, error) {
	return e.list(ctx, func(o entry) bool { return o.Subject == subject })
}
func (e evidence) EntriesAfter(ctx context.Context, seq int64, limit int) ([]storage.Entry, error) {
	all, err := e.list(ctx, func(o entry) bool { return o.Seq > seq })
	return atMost(all, limit), err
}
func (e evidence) LastEntry(ctx context.Context, subject string) (storage.Entry, error) {
	all, err := e.Entries(ctx, subject)
	if err == nil && len(all) == 0 {
		return storage.Entry{}, storage.ErrNotFound
	}
	if err != nil {
		return storage.Entry{}, err
	}
	return all[len(all)-1], nil
}
func (e evidence) AddBatch(ctx context.Context, b storage.Batch, salts [][]byte) error {
	last, err := e.LastBatch(ctx)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	if e.joined(ctx) != nil && !b.Follows(last) {
		return storage.ErrMoved
	}
	for i, digest := range b.Entries {
		one, err := get(ctx, e.memory, &e.data.entries, digest.Seq)
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return err
		}
		one.Salt = salts[i]
		if err := put(ctx, e.memory, &e.data.entries, digest.Seq, &one); err != nil {
			return err
		}
	}
	return add(ctx, e.memory, &e.data.batches, b.Number, b)
}
func (e evidence) Batches(ctx context.Context, number int64, limit int) ([]storage.Batch, error) {
	all, err := list(ctx, e.memory, &e.data.batches, func(b storage.Batch) bool { return b.Number > number })
	return atMost(all, limit), err
}
func (e evidence) LastBatch(ctx context.Context) (storage.Batch, error) {
	all, err := list(ctx, e.memory, &e.data.batches, nil)
	if err == nil && len(all) == 0 {
		return storage.Batch{}, storage.ErrNotFound
	}
	if err != nil {
		return storage.Batch{}, err
	}
	return all[len(all)-1], nil
}
func (e evidence) DeleteEntries(ctx context.Context, seqs ...int64) error {
	for _, seq := range seqs {
		if err := put(ctx, e.memory, &e.data.entries, seq, nil); err != nil {
			return err
		}
	}
	return nil
}
func (e evidence) DeleteBatch(ctx context.Context, number int64) error {
	b, err := get(ctx, e.memory, &e.data.batches, number)
	if e.joined(ctx) == nil {
		return storage.ErrNoTx
	}
	if err != nil {
		return err
	}
	_, err = removeFirst(ctx, e.memory, &e.data.entries, math.MaxInt, func(o entry) int64 { return o.Seq },
		func(o entry) bool { return o.Seq <= b.Last() }, func(x, y entry) int { return cmp.Compare(x.Seq, y.Seq) })
	return errors.Join(err, put(ctx, e.memory, &e.data.batches, number, nil))
}
func (e evidence) Restore(ctx context.Context, entries []storage.Entry, batches []storage.Batch) error {
	if e.joined(ctx) == nil {
		return storage.ErrNoTx
	}
	for _, one := range entries {
		e.data.seq = max(e.data.seq, one.Seq)
		if err := add(ctx, e.memory, &e.data.entries, one.Seq, entry{one, one.Facts}); err != nil {
			return err
		}
	}
	for _, b := range batches {
		e.data.seq = max(e.data.seq, b.Last())
		if err := add(ctx, e.memory, &e.data.batches, b.Number, b); err != nil {
			return err
		}
	}
	return nil
}

type records struct{ *memory }

func (r records) PutRecord(ctx context.Context, v storage.Record) error {
	return put(ctx, r.memory, &r.data.records, string(v.Key), &v)
}
func (r records) Record(ctx context.Context, key []byte) (storage.Record, error) {
	return get(ctx, r.memory, &r.data.records, string(key))
}
func (r records) DeleteRecord(ctx context.Context, key []byte) error {
	return put(ctx, r.memory, &r.data.records, string(key), nil)
}
func (r records) DeleteRecords(ctx context.Context, until time.Time, limit int) (int, error) {
	return removeFirst(ctx, r.memory, &r.data.records, limit, func(v storage.Record) string { return string(v.Key) },
		func(v storage.Record) bool { return !v.Expires.After(until) }, func(x, y storage.Record) int { return x.Expires.Compare(y.Expires) })
}

// leased is a job with its lease.
type leased struct {
	storage.Job
	Token string
	Until time.Time
}

type jobs struct{ *memory }

func (j jobs) Enqueued() <-chan struct{} { return j.data.enqueued }

func (j jobs) Enqueue(ctx context.Context, all ...storage.Job) error {
	tx := j.joined(ctx)
	if tx == nil {
		return storage.ErrNoTx
	}
	for _, one := range all {
		if one.Unique != "" {
			same, err := list(ctx, j.memory, &j.data.jobs, func(o leased) bool { return o.Kind == one.Kind && o.Unique == one.Unique })
			if err != nil {
				return err
			}
			if len(same) > 0 {
				continue
			}
		}
		one.ID, one.Attempt = uuid.NewString(), 0 // all else is stored as it is
		if err := add(ctx, j.memory, &j.data.jobs, one.ID, leased{Job: one}); err != nil {
			return err
		}
		tx.jobs = true
	}
	return nil
}

func (j jobs) Claim(ctx context.Context, kind string, now time.Time, limit, perGroup int, lease time.Duration) (claimed []storage.Lease, err error) {
	if j.joined(ctx) == nil {
		return nil, storage.ErrNoTx
	}
	all, err := list(ctx, j.memory, &j.data.jobs, func(o leased) bool { return o.Kind == kind })
	if err != nil {
		return nil, err
	}
	inWork, waiting := make(map[string]int), make(map[string][]leased)
	for _, one := range all {
		if one.Until.After(now) {
			inWork[one.Group]++
		} else if !one.Due.After(now) && !one.Parked {
			waiting[one.Group] = append(waiting[one.Group], one)
		}
	}
	groups := slices.Sorted(maps.Keys(waiting))
	for _, group := range groups {
		slices.SortStableFunc(waiting[group], func(a, b leased) int { return a.Due.Compare(b.Due) })
	}
	for { // the one of the group that has the fewest in work, and of those the one that has been due longest
		best := ""
		found := false
		for _, group := range groups {
			if len(waiting[group]) == 0 || inWork[group] >= perGroup {
				continue
			}
			if !found || inWork[group] < inWork[best] || inWork[group] == inWork[best] && waiting[group][0].Due.Before(waiting[best][0].Due) {
				best, found = group, true
			}
		}
		if !found || len(claimed) >= limit {
			slices.SortStableFunc(claimed, func(a, b storage.Lease) int { return a.Due.Compare(b.Due) })
			return claimed, nil
		}
		one := waiting[best][0]
		waiting[best] = waiting[best][1:]
		inWork[best]++
		interrupted := one.Token != ""
		if !interrupted {
			one.Attempt++
		}
		one.Token, one.Until = uuid.NewString(), now.Add(lease)
		if err := put(ctx, j.memory, &j.data.jobs, one.ID, &one); err != nil {
			return nil, err
		}
		claimed = append(claimed, storage.Lease{Job: one.Job, Token: one.Token, Until: one.Until, Interrupted: interrupted})
	}
}

// held returns the job of a lease that was not lost.
func (j jobs) held(ctx context.Context, l storage.Lease) (leased, error) {
	if j.joined(ctx) == nil {
		return leased{}, storage.ErrNoTx
	}
	one, err := get(ctx, j.memory, &j.data.jobs, l.ID)
	if errors.Is(err, storage.ErrNotFound) || err == nil && (one.Token == "" || one.Token != l.Token) {
		err = storage.ErrLeaseLost
	}
	return one, err
}

func (j jobs) Finish(ctx context.Context, l storage.Lease) error {
	if _, err := j.held(ctx, l); err != nil {
		return err
	}
	return put(ctx, j.memory, &j.data.jobs, l.ID, nil)
}

func (j jobs) FinishAll(ctx context.Context, leases []storage.Lease) (finished []bool, err error) {
	for _, l := range leases {
		err := j.Finish(ctx, l)
		if err != nil && !errors.Is(err, storage.ErrLeaseLost) {
			return nil, err
		}
		finished = append(finished, err == nil)
	}
	return finished, nil
}

func (j jobs) Retry(ctx context.Context, l storage.Lease, due time.Time) error {
	return j.giveBack(ctx, l, func(one *leased) { one.Due, one.Interruptions = due, 0 })
}

func (j jobs) Postpone(ctx context.Context, l storage.Lease, due time.Time) error {
	return j.giveBack(ctx, l, func(one *leased) {
		one.Due = due
		one.Attempt--
	})
}

func (j jobs) Fail(ctx context.Context, l storage.Lease, f storage.Failure) error {
	return j.giveBack(ctx, l, func(one *leased) {
		one.Failures++
		one.Interruptions++
		if !f.Interrupted {
			one.Interruptions = 0
		}
		one.LastError, one.FailedAt, one.Due, one.Parked = f.Error, f.At, f.Due, f.Due.IsZero()
		if one.Parked {
			one.Due = f.At
		}
	})
}

// giveBack ends a lease and changes its job.
func (j jobs) giveBack(ctx context.Context, l storage.Lease, change func(*leased)) error {
	one, err := j.held(ctx, l)
	if err != nil {
		return err
	}
	one.Token, one.Until = "", time.Time{}
	change(&one)
	j.joined(ctx).jobs = true
	return put(ctx, j.memory, &j.data.jobs, one.ID, &one)
}

func (j jobs) Extend(ctx context.Context, leases []storage.Lease, until time.Time) (extended []bool, err error) {
	if j.joined(ctx) == nil {
		return nil, storage.ErrNoTx
	}
	for _, l := range leases {
		one, err := j.held(ctx, l)
		if err == nil {
			one.Until = until
			err = put(ctx, j.memory, &j.data.jobs, one.ID, &one)
		}
		if err != nil && !errors.Is(err, storage.ErrLeaseLost) {
			return nil, err
		}
		extended = append(extended, err == nil)
	}
	return extended, nil
}

func (j jobs) ExpireLeases(ctx context.Context, now time.Time) error {
	tx := j.joined(ctx)
	if tx == nil {
		return storage.ErrNoTx
	}
	all, err := list(ctx, j.memory, &j.data.jobs, func(o leased) bool { return o.Until.After(now) })
	for _, one := range all {
		one.Until, tx.jobs = now, true
		if err == nil {
			err = put(ctx, j.memory, &j.data.jobs, one.ID, &one)
		}
	}
	return err
}

func (j jobs) drop(ctx context.Context, wanted func(leased) bool) error {
	_, err := removeFirst(ctx, j.memory, &j.data.jobs, 1<<30, func(o leased) string { return o.ID }, wanted, func(a, b leased) int { return 0 })
	return err
}

func (j jobs) Drop(ctx context.Context, kind, group string) error {
	return j.drop(ctx, func(o leased) bool { return o.Kind == kind && o.Group == group })
}

func (j jobs) DropUnique(ctx context.Context, kind, unique string) error {
	return j.drop(ctx, func(o leased) bool { return o.Kind == kind && o.Unique == unique && unique != "" })
}

func (j jobs) NextDue(ctx context.Context, kinds ...string) (map[string]time.Time, error) {
	all, err := list(ctx, j.memory, &j.data.jobs, func(o leased) bool { return !o.Parked && slices.Contains(kinds, o.Kind) })
	next := make(map[string]time.Time)
	for _, one := range all {
		at := one.Due
		if one.Token != "" {
			at = one.Until
		}
		if soonest, there := next[one.Kind]; !there || at.Before(soonest) {
			next[one.Kind] = at
		}
	}
	return next, err
}

func (l leased) stored() storage.StoredJob {
	return storage.StoredJob{Job: l.Job, LeasedUntil: l.Until}
}

func (j jobs) Job(ctx context.Context, id string) (storage.StoredJob, error) {
	one, err := get(ctx, j.memory, &j.data.jobs, id)
	return one.stored(), err
}

func (j jobs) List(ctx context.Context, q storage.JobQuery) (some []storage.StoredJob, err error) {
	all, err := list(ctx, j.memory, &j.data.jobs, func(o leased) bool { return o.ID > q.After && q.Selects(o.stored()) })
	slices.SortFunc(all, func(a, b leased) int { return strings.Compare(a.ID, b.ID) })
	for _, one := range all[:max(0, min(len(all), q.Limit))] {
		some = append(some, one.stored())
	}
	return some, err
}

func (j jobs) CountParked(ctx context.Context) (map[string]int, error) {
	all, err := list(ctx, j.memory, &j.data.jobs, func(o leased) bool { return o.Parked })
	parked := make(map[string]int)
	for _, one := range all {
		parked[one.Kind]++
	}
	return parked, err
}

func (j jobs) RetryNow(ctx context.Context, id string, now time.Time) error {
	tx := j.joined(ctx)
	if tx == nil {
		return storage.ErrNoTx
	}
	one, err := get(ctx, j.memory, &j.data.jobs, id)
	if err != nil {
		return err
	}
	if one.stored().State(now) == storage.JobInWork {
		return storage.ErrInWork
	}
	one.Due, one.Token, one.Until, one.Failures, one.Interruptions, one.Parked = now, "", time.Time{}, 0, 0, false
	tx.jobs = true
	return put(ctx, j.memory, &j.data.jobs, id, &one)
}

func (j jobs) Remove(ctx context.Context, id string) error {
	if j.joined(ctx) == nil {
		return storage.ErrNoTx
	}
	if _, err := get(ctx, j.memory, &j.data.jobs, id); err != nil {
		return err
	}
	return put(ctx, j.memory, &j.data.jobs, id, nil)
}
