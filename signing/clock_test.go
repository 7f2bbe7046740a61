package signing_test

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

// finer is a time in JSON that says more than microseconds.
var finer = regexp.MustCompile(`:\d\d\.\d{7,}`)

// precise is a store of requests that takes times in whole microseconds alone.
type precise struct {
	signing.Store
	t *testing.T
}

func (s precise) CreateRequest(ctx context.Context, r signing.Request) error {
	isPrecise(s.t, r)
	return s.Store.CreateRequest(ctx, r)
}

func (s precise) UpdateRequest(ctx context.Context, r signing.Request) error {
	isPrecise(s.t, r)
	return s.Store.UpdateRequest(ctx, r)
}

func isPrecise(t *testing.T, record any) {
	t.Helper()
	encoded, err := json.Marshal(record)
	if err != nil {
		t.Fatal(err)
	}
	if found := finer.FindAll(encoded, -1); found != nil {
		t.Errorf("%q in %s", found, encoded)
	}
}

// Every backend keeps the same of a time, so that a copy to another changes nothing.
func TestTimesAreWholeMicroseconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(1234567 * time.Nanosecond)
		p, db := newPhone(t), newStore(t)
		o := newOutage(p.ca)
		s := wired(t, db, precise{db.Requests(), t}, db, p, signing.Options{Sources: o.sources})
		p.sign = func(state idp.State) (idp.State, idp.Event, error) {
			state.Expires = time.Now().Add(100*time.Second + 1)
			return state, idp.Waiting{RetryAfter: 2*time.Second + 3}, nil
		}
		answer := p.poll
		p.poll = func(state idp.State) (idp.State, idp.Event, error) {
			state.Expires = time.Now().Add(100*time.Second + 5)
			return state, nil, errors.New("no answer")
		}
		id := s.atLevel(ades.LT)
		time.Sleep(5*time.Second + 7)
		s.pending(id, "no answer")
		o.cut(errTSADown, nil)
		p.poll = answer
		for range 4 {
			time.Sleep(30*time.Second + 1001)
			s.pending(id, "no timestamp")
			s.work(t.Context())
			all, err := db.Jobs().NextDue(t.Context(), "signing.complete")
			due := all["signing.complete"]
			if err != nil || due.IsZero() || !due.Equal(due.Truncate(time.Microsecond)) {
				t.Errorf("the job is due at %v, %v", due, err)
			}
		}
		o.cut(nil, nil)
		time.Sleep(time.Minute)
		s.checkSigned(s.poll(id).Document)
		entries, err := db.EvidenceLog().Entries(t.Context(), id)
		if err != nil || len(entries) == 0 {
			t.Fatalf("%d entries, %v", len(entries), err)
		}
		for _, e := range entries {
			isPrecise(t, struct {
				storage.Entry
				Facts json.RawMessage
			}{e, e.Facts})
		}
	})
}
