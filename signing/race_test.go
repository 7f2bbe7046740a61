package signing_test

import (
	"context"
	"errors"
	"testing"

	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

// racing is a store in which another server adds the request of an idempotency key just
// after it was looked for, as it may where transactions do not exclude each other.
type racing struct {
	signing.Store
	looked bool
}

func (s *racing) RequestByKey(ctx context.Context, client, key string) (signing.Request, error) {
	if !s.looked {
		s.looked = true
		return signing.Request{}, storage.ErrNotFound
	}
	return s.Store.RequestByKey(ctx, client, key)
}

// spec 1.8: two starts with one key at once are one request, whichever server they
// go to. What the first holds is no obstacle to the second.
func TestStartsWithOneKeyOnTwoServers(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]error{"body": nil, "another body": signing.ErrKeyReused} {
		t.Run(body, func(t *testing.T) {
			p, db := newPhone(t), &creating{DB: newStore(t)}
			signal, err := busysignal.New(db.BusySignals(), db, busysignal.Options{}).Create(t.Context(), account)
			if err != nil {
				t.Fatal(err)
			}
			start := func(s service, body string) (signing.Started, error) {
				return s.start(pictured(t), func(in *signing.Start) {
					in.Key = &signing.IdempotencyKey{Client: "client", Key: "key", Fingerprint: body}
					in.BusySignal = &signing.BusySignalUse{ID: signal}
				})
			}
			first := onStore(t, db, p, signing.Options{})
			one, err := start(first, "body")
			if err != nil {
				t.Fatal(err)
			}
			calls := p.calls
			two, err := start(wired(t, db, &racing{Store: db.Requests()}, db, p, signing.Options{}), body)
			if !errors.Is(err, want) || err == nil && two.ID != one.ID || p.calls != calls {
				t.Errorf("%+v, %v after %d calls to the provider", two, err, p.calls-calls)
			}
			if len(db.created) != 4 { // a document and an image at each server
				t.Fatalf("%d documents", len(db.created))
			}
			first.wantThere(db.created[:2], true)
			first.wantThere(db.created[2:], false)
			first.checkSigned(first.poll(one.ID).Document)
		})
	}
}
