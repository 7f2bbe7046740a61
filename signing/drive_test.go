package signing_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

func (o *orders) drive(id string) signing.Progress {
	o.t.Helper()
	p, err := o.Drive(o.t.Context(), id)
	if err != nil {
		o.t.Error(err)
	}
	return p
}

// answers are the answers of a phone to polls.
type answers = func(idp.State) (idp.State, idp.Event, error)

func unchanging(poll answers) func(*phone) answers { return func(*phone) answers { return poll } }

// A caller that waits hears of the end as soon as it is there, without any job. The second poll follows at once.
func TestDrive(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		poll    func(*phone) answers
		takes   time.Duration
		failure idp.ErrorCode
	}{
		"at once":       {nil, 0, ""},
		"at the second": {func(p *phone) answers { return pollOf(p, nil, idp.Waiting{}) }, 0, ""},
		"cancelled":     {unchanging(cancels), 0, idp.UserCancelled},
		"never":         {unchanging(waits), 290 * time.Second, idp.ExpiredToken},
		"never, slowly": {unchanging(func(s idp.State) (idp.State, idp.Event, error) { return s, idp.Waiting{RetryAfter: time.Minute}, nil }), 290 * time.Second, idp.ExpiredToken},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPhone(t)
				if row.poll != nil {
					p.poll = row.poll(p)
				}
				o := newOrders(t, p, signing.Options{IgnoreInterval: true})
				id, began := o.mustOrder(), time.Now()
				got := o.drive(id)
				var failure idp.ErrorCode
				if got.Failure != nil {
					failure = got.Failure.Code
				}
				more := 2 * time.Second // to the end of an interval
				if row.takes == 0 {
					more = 0
				}
				if took := time.Since(began); !got.Done || failure != row.failure || took < row.takes || took > row.takes+more {
					t.Errorf("%+v, %q after %v", got, failure, took)
				}
				if diff := cmp.Diff(got, o.drive(id)); diff != "" {
					t.Errorf("after the end: %s", diff)
				}
				o.wantNoJobs()
			})
		})
	}
}

// Whether jobs or polls drive a request, and however many: each answer is asked for once.
func TestDrivenByMany(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPhone(t)
		began := time.Now()
		p.poll = func(s idp.State) (idp.State, idp.Event, error) {
			time.Sleep(3 * time.Second) // the provider takes its time
			if time.Since(began) < time.Minute {
				return s, idp.Waiting{}, nil
			}
			return s, p.signed(), nil
		}
		o := newOrders(t, p, signing.Options{})
		o.background(t)
		beside := o.beside(signing.Options{})
		id := o.mustOrder()
		var drivers sync.WaitGroup
		for _, by := range []*orders{o, o, beside, beside} {
			drivers.Go(func() {
				if got := by.drive(id); !got.Done || got.Failure != nil {
					t.Errorf("%+v", got)
				}
			})
		}
		drivers.Wait()
		o.wantSignatures(1)
		o.tells(property, landed...)
		o.tells(id, ordered...)
	})
}

// A provider is not asked more often for being slow, and the store is left alone meanwhile.
func TestDrivingIsNoHammering(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, db := newPhone(t), newStore(t)
		tx := &countedTx{Transactor: db}
		p.poll = waits
		o := ordersOn(t, db, tx, p, signing.Options{IgnoreInterval: true})
		id := o.mustOrder()
		calls, before := p.calls, tx.n.Load()
		ctx, end := context.WithTimeout(t.Context(), time.Minute)
		defer end()
		if _, err := o.Drive(ctx, id); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if asked := p.calls - calls; asked < 25 || asked > 40 {
			t.Errorf("asked %d times in a minute", asked)
		}
		if n := tx.n.Load() - before; n > 100 {
			t.Errorf("%d transactions in a minute", n)
		}
	})
}

// While a source is down, who drives in a call waits with the job, and hears of the end.
func TestDriveDuringAnOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, db := newPhone(t), newStore(t)
		tx, out := &countedTx{Transactor: db}, newOutage(p.ca)
		o := ordersOn(t, db, tx, p, signing.Options{IgnoreInterval: true, Sources: out.sources})
		out.cut(errTSADown, nil)
		o.background(t)
		id := o.mustOrder()
		go func() {
			time.Sleep(10 * time.Minute)
			out.cut(nil, nil)
		}()
		before, began := tx.n.Load(), time.Now()
		if got := o.drive(id); !got.Done || got.Failure != nil {
			t.Errorf("%+v", got)
		}
		if took := time.Since(began); took < 10*time.Minute || took > 11*time.Minute {
			t.Errorf("after %v", took)
		}
		if n := tx.n.Load() - before; n > 1000 {
			t.Errorf("%d transactions in %v", n, time.Since(began))
		}
		o.wantSignatures(1)
	})
}

// Requests that do not exist, and requests that are gone.
func TestProgressOfNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOrders(t, newPhone(t), signing.Options{})
		id := o.mustOrder()
		o.drive(id)
		time.Sleep(25 * time.Hour)
		if n, err := o.Sweep(t.Context()); n != 1 || err != nil {
			t.Errorf("swept %d, %v", n, err)
		}
		for _, id := range []string{id, "4e3c0e0e-6f0a-4c39-9b4c-000000000000", "no UUID", ""} {
			if _, err := o.Progress(t.Context(), id); !errors.Is(err, signing.ErrFinished) {
				t.Errorf("%q: %v", id, err)
			}
			if _, err := o.Drive(t.Context(), id); !errors.Is(err, signing.ErrFinished) {
				t.Errorf("%q: %v", id, err)
			}
		}
		if err := o.db.InTx(t.Context(), func(ctx context.Context) error { return o.Cancel(ctx, id) }); err != nil {
			t.Error(err)
		}
		o.tells(property, landed...)
	})
}

// A job that another version wrote is not lost.
func TestJobThatCannotBeRead(t *testing.T) {
	t.Parallel()
	o := newOrders(t, newPhone(t), signing.Options{})
	for _, payload := range []string{"", "{}", `{"version":2,"request":"r"}`, "garbage"} {
		if retry, err := o.Handlers()["signing.drive"](t.Context(), storage.Job{ID: "j", Payload: []byte(payload)}); err == nil || !retry.IsZero() {
			t.Errorf("%q: %v, %v", payload, retry, err)
		}
	}
}
