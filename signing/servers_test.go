package signing_test

import (
	"errors"
	"sync"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage/postgres"
)

func TestMain(m *testing.M) { postgrestest.Main(m) }

// servers are services on one database, each with connections of its own.
func servers(t *testing.T, p *phone, n int) []service {
	t.Helper()
	return serversOn(t, postgrestest.Database(t), p, n)
}

func serversOn(t *testing.T, url string, p *phone, n int) (all []service) {
	t.Helper()
	if _, _, err := postgres.Migrate(t.Context(), url, postgres.Options{}); err != nil {
		t.Fatal(err)
	}
	for range n {
		db, err := postgres.Open(t.Context(), url, postgres.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		all = append(all, onStore(t, db, p, signing.Options{IgnoreInterval: true}))
	}
	return all
}

// Clients that make the same calls of several servers at once start one request, which is
// delivered once. The phone fails the test when it is asked twice at a time.
func TestSeveralServers(t *testing.T) {
	t.Parallel()
	p := newPhone(t)
	all := servers(t, p, 4)
	signal, err := all[0].signals.Create(t.Context(), account)
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]string, 4*len(all))
	var clients sync.WaitGroup
	for i := range ids {
		clients.Go(func() { ids[i] = all[i%len(all)].startOnly(signal) })
	}
	clients.Wait()
	for _, id := range ids {
		if id != ids[0] {
			t.Errorf("two requests: %s and %s", ids[0], id)
		}
	}
	if p.calls != 2 {
		t.Errorf("%d calls to the provider, want Begin and Sign", p.calls)
	}
	results := make([]result, len(ids))
	for i := range results {
		clients.Go(func() { results[i] = all[i%len(all)].poll(ids[0]) })
	}
	clients.Wait()
	delivered := 0
	for _, r := range results {
		if r.Document != nil {
			delivered++
			all[0].checkSigned(r.Document)
		} else if !r.Finished {
			t.Errorf("%+v", r)
		}
	}
	if delivered != 1 || p.calls != 3 {
		t.Errorf("delivered %d times after %d calls to the provider", delivered, p.calls)
	}
	want := 5 // one entry of each kind
	if kinds := all[0].kinds(ids[0]); len(kinds) != want {
		t.Errorf("the evidence log has %v", kinds)
	}
}

// startOnly starts the one request of its idempotency key, and waits while another call of
// that key is running.
func (s service) startOnly(signal string) (id string) {
	s.t.Helper()
	testenv.Wait(s.t, "the call of this key to end", func() bool {
		started, err := s.start(func(in *signing.Start) {
			in.Key = &signing.IdempotencyKey{Client: "client", Key: "key", Fingerprint: "body"}
			in.BusySignal = &signing.BusySignalUse{ID: signal}
		})
		if err != nil && !errors.Is(err, signing.ErrKeyInUse) {
			s.t.Error(err)
		}
		id = started.ID
		return !errors.Is(err, signing.ErrKeyInUse)
	})
	return id
}
