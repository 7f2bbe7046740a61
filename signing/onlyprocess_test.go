package signing_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

// slowCommit are the transactions of a store that takes a second for its next commit.
type slowCommit struct {
	storage.Transactor
	once   sync.Once
	before func() // is called before that transaction
}

func (s *slowCommit) InTx(ctx context.Context, fn func(context.Context) error) error {
	if ctx.Value(joins{}) != nil || s.before == nil {
		return s.Transactor.InTx(ctx, fn)
	}
	slow := false
	s.once.Do(func() { slow = true })
	if slow {
		s.before()
	}
	return s.Transactor.InTx(context.WithValue(ctx, joins{}, true), func(ctx context.Context) error {
		err := fn(ctx)
		if slow {
			time.Sleep(time.Second) // time: in a bubble
		}
		return err
	})
}

// setLease stores a lease of a request.
func (s service) setLease(id string, l signing.Lease) {
	s.t.Helper()
	err := s.db.InTx(s.t.Context(), func(ctx context.Context) error {
		r, err := s.db.Requests().Request(ctx, id)
		if err != nil {
			return err
		}
		r.Lease = l
		r.Revision++
		return s.db.Requests().UpdateRequest(ctx, r)
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// A session stores its lease because the record had one, which is released meanwhile. Until that is committed, no other
// session takes a lease in memory.
func TestLeaseIsBeingStored(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, db := newPhone(t), newStore(t)
		answer, given := p.poll, false
		p.poll = func(s idp.State) (idp.State, idp.Event, error) {
			if given {
				return s, idp.Failed{Failure: idp.Failure{Code: idp.InvalidGrant, OAuth: "invalid_grant"}}, nil
			}
			given = true
			time.Sleep(5 * time.Second) // time: in a bubble
			return answer(s)
		}
		tx := &slowCommit{Transactor: db}
		s := wired(t, db, db.Requests(), tx, p, signing.Options{SingleProcess: true, IgnoreInterval: true})
		id := s.mustStart()
		s.setLease(id, signing.Lease{Process: "the holder before", Token: "its", Until: time.Now().Add(5 * time.Second)})
		tx.before = func() { s.setLease(id, signing.Lease{Token: "its"}) }
		results := make(chan result, 2)
		go func() { results <- s.poll(id) }()
		time.Sleep(time.Second / 2) // time: in a bubble
		go func() { results <- s.poll(id) }()
		for range 2 {
			if r := <-results; r.Document != nil {
				s.checkSigned(r.Document)
			} else if !r.Finished {
				t.Errorf("%+v", r)
			}
		}
		s.tells(id, "signature.asked", "signature.prepared", "signature.made", "signature.completed", "signature.delivered")
	})
}

// A failure was delivered, and the end of its request is stored later because the store was away. A poll meanwhile waits for
// that.
func TestEndAfterAnOutage(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		answer answers
		want   idp.ErrorCode
		tell   []string
	}{
		"a failure":  {cancels, idp.UserCancelled, []string{"signature.asked", "signature.prepared", "signature.failed"}},
		"a document": {nil, "", []string{"signature.asked", "signature.prepared", "signature.made", "signature.completed", "signature.delivered"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, db := newPhone(t), newStore(t)
				if row.answer != nil {
					p.poll = row.answer
				}
				tx := &shaky{Transactor: db, outing: outing{at: -1, err: storage.ErrUnavailable}}
				s := wired(t, db, db.Requests(), tx, p, signing.Options{SingleProcess: true, IgnoreInterval: true})
				id := s.mustStart()
				err := s.Poll(t.Context(), account, id, func(a signing.Answer) error {
					if a.Failure.Code != row.want {
						t.Errorf("%+v", a.Failure)
					}
					tx.mu.Lock()
					defer tx.mu.Unlock()
					tx.until = time.Now().Add(2 * time.Second)
					return nil
				})
				if err != nil {
					t.Error(err)
				}
				if r := s.poll(id); !r.Finished {
					t.Errorf("the next poll: %+v", r)
				}
				if r, err := db.Requests().Request(t.Context(), id); err != nil || r.Phase != signing.Ended {
					t.Errorf("%s, %v", r.Phase, err)
				}
				s.tells(id, row.tell...)
			})
		})
	}
}

// The store is away for a moment while an answer is stored, and the request is so old that a sweep would end it.
func TestSweepWhileAnAnswerIsStored(t *testing.T) {
	t.Parallel()
	for name, keep := range map[string]time.Duration{"ends": 48 * time.Hour, "deletes": time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, db := newPhone(t), newStore(t)
				tx := &shaky{Transactor: db, outing: outing{at: -1, err: storage.ErrUnavailable}}
				answer := p.poll
				p.poll = func(s idp.State) (idp.State, idp.Event, error) {
					tx.mu.Lock()
					defer tx.mu.Unlock()
					tx.at = tx.n + 1
					return answer(s)
				}
				s := wired(t, db, db.Requests(), tx, p, signing.Options{SingleProcess: true, IgnoreInterval: true, Keep: keep})
				id := s.mustStart()
				time.Sleep(25 * time.Hour)
				var polled sync.WaitGroup
				polled.Go(func() { s.checkSigned(s.poll(id).Document) })
				synctest.Wait()
				if n, err := s.Sweep(t.Context()); n != 0 || err != nil {
					t.Errorf("swept %d, %v", n, err)
				}
				polled.Wait()
				s.tells(id, "signature.asked", "signature.prepared", "signature.made", "signature.completed", "signature.delivered")
			})
		})
	}
}

// damaged are requests of a store that records the order of their changes, and in which one cannot be changed.
type damaged struct {
	signing.Store
	mu      sync.Mutex
	request string
	err     error
	updated []string
}

func (d *damaged) UpdateRequest(ctx context.Context, r signing.Request) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.updated = append(d.updated, r.ID); r.ID == d.request {
		return d.err
	}
	return d.Store.UpdateRequest(ctx, r)
}

// The ends of requests are stored in the order of their starts. One that fails keeps no other from ending, and is reported.
func TestEndsThatAreStoredTogether(t *testing.T) {
	t.Parallel()
	for name, failure := range map[string]error{"each is stored": nil, "one fails": errors.New("damaged"), "one lacks something": storage.ErrNotFound} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, db := newPhone(t), newStore(t)
				p.sign = func(s idp.State) (idp.State, idp.Event, error) { return s, p.signed(), nil }
				requests := &damaged{Store: db.Requests(), err: failure}
				var reported []string
				s := wired(t, db, requests, db, p, signing.Options{
					SingleProcess: true, IgnoreInterval: true, EndDelay: time.Second,
					OnStep: func(_ context.Context, step signing.Step) {
						if step.Name == "end.failed" && errors.Is(step.Err, failure) {
							reported = append(reported, step.Request)
						}
					},
				})
				var started, failed []string
				for range 6 {
					started = append(started, s.mustStart())
					time.Sleep(time.Millisecond) // time: in a bubble
				}
				for _, id := range slices.Backward(started) {
					s.checkSigned(s.poll(id).Document)
				}
				if failure != nil {
					failed = started[3:4]
				}
				requests.mu.Lock()
				requests.updated, requests.request = nil, strings.Join(failed, "")
				requests.mu.Unlock()
				time.Sleep(2 * time.Second) // time: in a bubble
				synctest.Wait()
				requests.mu.Lock()
				defer requests.mu.Unlock()
				updated := requests.updated
				if failure != nil { // first in one transaction, up to the failure, and then each on its own
					updated = updated[4:]
				}
				if diff := cmp.Diff([][]string{started, failed}, [][]string{updated, reported}); diff != "" {
					t.Errorf("changes and reports (-want +got):\n%s", diff)
				}
				for _, id := range started {
					r, err := db.Requests().Request(t.Context(), id)
					if ended := !slices.Contains(failed, id); err != nil || (r.Phase == signing.Ended) != ended {
						t.Errorf("%s, %v", r.Phase, err)
					}
				}
			})
		})
	}
}
