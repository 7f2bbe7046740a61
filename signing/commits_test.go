package signing_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/idp"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/bolt"
)

// The commits of one signing at level LT, by what each stores. docs/explanation/never-lost.md says why each must be durable
// before the next step. The end of the request, which no step waits for, shares its commit with others.
func TestCommitsOfASigning(t *testing.T) {
	t.Parallel()
	const (
		created   = "CreateRequest Keep signature.asked"
		prepared  = "signature.prepared"
		made      = "signature.made Enqueue"
		update    = " UpdateRequest"
		completed = "Append DropUnique signature.completed" + update
		ended     = "Delete signature.delivered" + update
	)
	for name, row := range map[string]struct {
		phone func(p *phone)
		polls int // that wait
		want  []string
	}{
		"the certificate is known at the start": {func(p *phone) {
			p.sign = func(s idp.State) (idp.State, idp.Event, error) { return s, idp.Waiting{Code: "1234"}, nil }
			p.poll = pollOf(p, nil, idp.Waiting{Code: "1234", RetryAfter: time.Second})
		}, 1, []string{created, prepared + update, made + update, completed}},
		"a poll brings the certificate": {func(p *phone) {
			p.begin = func() (idp.Event, error) { return idp.Waiting{}, nil }
			p.sign = func(s idp.State) (idp.State, idp.Event, error) { return s, p.signed(), nil }
			p.poll = pollOf(p, p.needDigest(), idp.Waiting{Code: "1234"}, idp.Waiting{Code: "1234", RetryAfter: time.Second})
		}, 2, []string{created, update[1:], prepared + " " + made + update, completed}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPhone(t)
				row.phone(p)
				path := filepath.Join(t.TempDir(), "test.db")
				db, err := bolt.Open(path, bolt.Options{})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { db.Close() })
				count := &commits{DB: db}
				s := wired(t, count, count.Requests(), count, p, signing.Options{SingleProcess: true, IgnoreInterval: true, EndDelay: time.Second})
				sign := func() []byte {
					p.calls = 0
					started, err := s.startWith(pdftest.Build(pdftest.Options{Payload: 100_000}), func(in *signing.Start) { in.Level = ades.LT })
					if err != nil {
						t.Fatal(err)
					}
					for range row.polls {
						if r := s.poll(started.ID); r.Code != idp.AuthorizationPending || r.Verify != "1234" {
							t.Errorf("%+v", r)
						}
						time.Sleep(2 * time.Second) // time: in a bubble
					}
					return s.poll(started.ID).Document
				}
				before := boltCommits(t, path)
				s.checkSigned(sign())
				if diff := cmp.Diff(row.want, count.take()); diff != "" {
					t.Errorf("transactions (-want +got):\n%s", diff)
				}
				if n := boltCommits(t, path) - before; n != len(row.want) {
					t.Errorf("%d commits", n)
				}
				time.Sleep(2 * time.Second) // time: in a bubble
				if diff := cmp.Diff([]string{ended}, count.take()); diff != "" {
					t.Errorf("transactions after the signing (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// What the only process of a store has in memory is not needed by the next one: leases that were not released, and answers
// that the person has not answered.
func TestOnlyProcessDies(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPhone(t)
		p.begin = func() (idp.Event, error) { return idp.Waiting{}, nil }
		p.sign = func(s idp.State) (idp.State, idp.Event, error) { return s, p.signed(), nil }
		p.poll = pollOf(p, p.needDigest(), idp.Waiting{Code: "1234"})
		s := newService(t, p, signing.Options{IgnoreInterval: true, EndDelay: time.Second})
		id := s.mustStart()
		if r := s.poll(id); r.Code != idp.AuthorizationPending {
			t.Errorf("%+v", r)
		}
		first := s.poll(id).Document // and it dies, before it has stored the end
		next := onStore(t, s.db, p, signing.Options{IgnoreInterval: true, SingleProcess: true})
		if again := next.poll(id).Document; !bytes.Equal(again, first) {
			t.Error("the document that is delivered again is another one")
		}
		next.checkSigned(first)
		if r := next.poll(id); !r.Finished {
			t.Errorf("after the end: %+v", r)
		}

		id = next.mustStart()
		if r := next.poll(id); r.Code != idp.AuthorizationPending {
			t.Errorf("%+v", r)
		}
		last := onStore(t, s.db, p, signing.Options{IgnoreInterval: true, SingleProcess: true})
		if r := last.poll(id); r.Code != idp.AuthorizationPending || r.Verify != "1234" {
			t.Errorf("the answer that was not stored: %+v", r)
		}
		last.checkSigned(last.poll(id).Document)
	})
}

// pollOf returns the polls of a phone: each of the answers once, with a state that changes, and then last, or the signature if
// that is nil.
func pollOf(p *phone, last idp.Event, first ...idp.Event) answers {
	return func(s idp.State) (idp.State, idp.Event, error) {
		if n := len(s.Public); n < len(first) {
			s.Public = append(slices.Clone(s.Public), '.')
			return s, first[n], nil
		}
		if last != nil {
			return s, last, nil
		}
		return s, p.signed(), nil
	}
}

// boltCommits returns the number of transactions that were committed to a file of bbolt: the higher one in its two meta pages.
func boltCommits(t *testing.T, path string) int {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const txid, pageSize = 64, 24
	second := int(binary.NativeEndian.Uint32(file[pageSize:]))
	return int(max(binary.NativeEndian.Uint64(file[txid:]), binary.NativeEndian.Uint64(file[second+txid:])))
}

// commits is a store that records what each transaction writes.
type commits struct {
	*bolt.DB
	mu   sync.Mutex
	done []string
}

// writesKey is the key of the writes of a transaction, as *[]string, in its context.
type writesKey struct{}

func (c *commits) InTx(ctx context.Context, fn func(context.Context) error) error {
	if ctx.Value(writesKey{}) != nil {
		return c.DB.InTx(ctx, fn)
	}
	var writes []string
	err := c.DB.InTx(ctx, func(ctx context.Context) error {
		writes = nil
		return fn(context.WithValue(ctx, writesKey{}, &writes))
	})
	if err == nil && len(writes) > 0 {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.done = append(c.done, strings.Join(writes, " "))
	}
	return err
}

// take returns what was committed since the last call.
func (c *commits) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	done := c.done
	c.done = nil
	return done
}

func wrote(ctx context.Context, what string) {
	if writes, ok := ctx.Value(writesKey{}).(*[]string); ok {
		*writes = append(*writes, what)
	}
}

func (c *commits) Requests() signing.Store          { return countedRequests{c.DB.Requests()} }
func (c *commits) BusySignals() busysignal.Store    { return c.DB.BusySignals() }
func (c *commits) Documents() storage.Documents     { return countedDocuments{c.DB.Documents()} }
func (c *commits) Jobs() storage.Jobs               { return countedJobs{c.DB.Jobs()} }
func (c *commits) EvidenceLog() storage.EvidenceLog { return countedEvidence{c.DB.EvidenceLog()} }

type countedRequests struct{ signing.Store }

func (s countedRequests) CreateRequest(ctx context.Context, r signing.Request) error {
	wrote(ctx, "CreateRequest")
	return s.Store.CreateRequest(ctx, r)
}

func (s countedRequests) UpdateRequest(ctx context.Context, r signing.Request) error {
	defer wrote(ctx, "UpdateRequest")
	return s.Store.UpdateRequest(ctx, r)
}

type countedDocuments struct{ storage.Documents }

func (d countedDocuments) Keep(ctx context.Context, id string) error {
	wrote(ctx, "Keep")
	return d.Documents.Keep(ctx, id)
}

func (d countedDocuments) Append(ctx context.Context, id string, revisions ...storage.Revision) error {
	wrote(ctx, "Append")
	return d.Documents.Append(ctx, id, revisions...)
}

func (d countedDocuments) Delete(ctx context.Context, id string) error {
	wrote(ctx, "Delete")
	return d.Documents.Delete(ctx, id)
}

type countedJobs struct{ storage.Jobs }

func (j countedJobs) Enqueue(ctx context.Context, jobs ...storage.Job) error {
	wrote(ctx, "Enqueue")
	return j.Jobs.Enqueue(ctx, jobs...)
}

func (j countedJobs) DropUnique(ctx context.Context, kind, unique string) error {
	wrote(ctx, "DropUnique")
	return j.Jobs.DropUnique(ctx, kind, unique)
}

type countedEvidence struct{ storage.EvidenceLog }

func (l countedEvidence) Record(ctx context.Context, entries ...storage.Entry) error {
	for _, e := range entries {
		wrote(ctx, e.Kind)
	}
	return l.EvidenceLog.Record(ctx, entries...)
}
