package storagetest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/storage"
)

// overlapping has tests of concurrent transactions. In a backend with one writer the second transaction waits for
// the first; other backends lock what was read. Both are correct, so the tests check only the results.
var overlapping = tests{
	"a record that was read by its key does not change": func(t *testing.T, open func(*testing.T) Backend) {
		for name, r := range records(t, open) {
			t.Run(name, func(t *testing.T) {
				var was any
				o := &overlap{b: r.b, fn: r.change}
				do(t, r.b, func(ctx context.Context) (err error) {
					if was, err = r.read(ctx); err != nil {
						return err
					}
					o.meanwhile(t)
					got, err := r.read(ctx)
					checkRead(t, got, err, was)
					return err
				})
				o.wait(t)
				if now, err := r.read(t.Context()); err != nil || cmp.Equal(was, now) {
					t.Errorf("the change meanwhile is lost, error %v", err)
				}
			})
		}
	},

	"a missing record may be added by another transaction, and the first goes on": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		// add adds the account that both transactions add, and one of its own. It reports whether the first existed.
		add := func(ctx context.Context, own string, then func()) (existed bool, err error) {
			_, err = b.Accounts.Account(ctx, id("wanted"))
			then()
			if errors.Is(err, storage.ErrNotFound) {
				err = b.Accounts.AddAccount(ctx, exampleAccount("wanted"))
				existed = errors.Is(err, storage.ErrExists)
			}
			if err != nil && !existed {
				return existed, err
			}
			return existed, b.Accounts.AddAccount(ctx, exampleAccount(own))
		}
		var existed bool
		o := &overlap{b: b, fn: func(ctx context.Context) error {
			_, err := add(ctx, "second", func() {})
			return err
		}}
		do(t, b, func(ctx context.Context) (err error) {
			existed, err = add(ctx, "first", func() { o.meanwhile(t) })
			return err
		})
		o.wait(t)
		t.Logf("the other transaction was first: %v", existed)
		for _, name := range []string{"wanted", "first", "second"} {
			_, err := b.Accounts.Account(t.Context(), id(name))
			checkError(t, err, nil)
		}
	},

	"what another transaction adds and rolls back does not exist": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		add := func(ctx context.Context) error { return b.Accounts.AddAccount(ctx, exampleAccount("a")) }
		o := &overlap{b: b, fn: add}
		rollBack(t, b, func(ctx context.Context) error {
			if err := add(ctx); err != nil {
				return err
			}
			o.meanwhile(t)
			return nil
		})
		o.wait(t)
		_, err := b.Accounts.Account(t.Context(), id("a"))
		checkError(t, err, nil)
	},

	"two transactions that wait for each other both succeed": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		addAccounts(t, b, "a", "b")
		both := sync.WaitGroup{} // until both have read their first account
		both.Add(2)
		raise := func(first, second string) error {
			var met sync.Once
			return b.InTx(t.Context(), func(ctx context.Context) error {
				one, err := b.Accounts.Account(ctx, id(first))
				if err != nil {
					return err
				}
				met.Do(func() { both.Done(); briefly(both.Wait) })
				other, err := b.Accounts.Account(ctx, id(second))
				if err != nil {
					return err
				}
				one.Quota++
				other.Quota++
				return errors.Join(b.Accounts.UpdateAccount(ctx, one), b.Accounts.UpdateAccount(ctx, other))
			})
		}
		var group errgroup.Group
		group.Go(func() error { return raise("a", "b") })
		group.Go(func() error { return raise("b", "a") })
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"a", "b"} {
			want := exampleAccount(name)
			want.Quota += 2
			got, err := b.Accounts.Account(t.Context(), want.ID)
			checkRead(t, got, err, want)
		}
	},
}

// overlap is a transaction that begins while another one runs.
type overlap struct {
	b    Backend
	fn   func(ctx context.Context) error
	once sync.Once
	done chan error
}

// meanwhile begins the transaction and waits a moment, in which it goes as far as it can. If the function
// around it is run again, meanwhile does nothing.
func (o *overlap) meanwhile(t *testing.T) {
	o.once.Do(func() {
		o.done = make(chan error, 1)
		briefly(func() { o.done <- o.b.InTx(t.Context(), o.fn) })
	})
}

// wait fails the test unless the transaction succeeds.
func (o *overlap) wait(t *testing.T) {
	t.Helper()
	if err := <-o.done; err != nil {
		t.Errorf("the transaction meanwhile: %v", err)
	}
}

// briefly waits a moment for fn, which then goes on in the background.
func briefly(fn func()) {
	done := make(chan bool)
	go func() { defer close(done); fn() }()
	select {
	case <-done:
	case <-time.After(100 * time.Millisecond):
	}
}

// record is a stored record of a backend, with a function that reads it by its key and one that changes it.
type record struct {
	b      Backend
	read   func(ctx context.Context) (any, error)
	change func(ctx context.Context) error
}

// records returns a record of each type that is read by a key, each in a backend of its own.
func records(t *testing.T, open func(*testing.T) Backend) map[string]record {
	return map[string]record{
		"account":           accountRecord(t, open(t)),
		"client":            clientRecord(t, open(t)),
		"signal":            signalRecord(t, open(t)),
		"request":           requestRecord(t, open(t)),
		"certificate":       certificateRecord(t, open(t)),
		"user":              userRecord(t, open(t)),
		"document":          documentRecord(t, open(t)),
		"subscription":      subscriptionRecord(t, open(t)),
		"signing keys":      signingKeyRecord(t, open(t)),
		"process":           processRecord(t, open(t)),
		"process of a link": processOfALinkRecord(t, open(t)),
		"process key":       processKeyRecord(t, open(t)),
		"page record":       pageRecord(t, open(t)),
	}
}

func accountRecord(t *testing.T, b Backend) record {
	a := addAccounts(t, b, "a")[0]
	a.Quota++
	return record{b,
		func(ctx context.Context) (any, error) { return b.Accounts.Account(ctx, a.ID) },
		func(ctx context.Context) error { return b.Accounts.UpdateAccount(ctx, a) },
	}
}

func clientRecord(t *testing.T, b Backend) record {
	addAccounts(t, b, "a")
	c := addClients(t, b, "a", "c")[0]
	c.UsedAt = after(1)
	return record{b,
		func(ctx context.Context) (any, error) { return b.Accounts.Client(ctx, c.ID) },
		func(ctx context.Context) error { return b.Accounts.UpdateClient(ctx, c) },
	}
}

func signalRecord(t *testing.T, b Backend) record {
	s := exampleSignal("s")
	do(t, b, func(ctx context.Context) error { return b.BusySignals.AddSignal(ctx, s) })
	s.UsedAt = after(1)
	return record{b,
		func(ctx context.Context) (any, error) { return b.BusySignals.Signal(ctx, s.ID) },
		func(ctx context.Context) error { return b.BusySignals.UpdateSignal(ctx, s) },
	}
}

func requestRecord(t *testing.T, b Backend) record {
	r := exampleRequest("r")
	addRequests(t, b, r)
	r.Revision++
	return record{b,
		func(ctx context.Context) (any, error) { return b.Requests.Request(ctx, r.ID) },
		func(ctx context.Context) error { return b.Requests.UpdateRequest(ctx, r) },
	}
}

func certificateRecord(t *testing.T, b Backend) record {
	c := exampleCertificate("jon")
	keepCertificates(t, b, c)
	c.Certificate = []byte("another")
	return record{b,
		func(ctx context.Context) (any, error) { return b.Requests.KeptCertificate(ctx, c.Person) },
		func(ctx context.Context) error { return b.Requests.KeepCertificate(ctx, c) },
	}
}

func userRecord(t *testing.T, b Backend) record {
	u := exampleUser("u")
	addUsers(t, b, u)
	u.FullName = "changed"
	return record{b,
		func(ctx context.Context) (any, error) { return b.Sandbox.User(ctx, u.Account, u.ID) },
		func(ctx context.Context) error { return b.Sandbox.UpdateUser(ctx, u) },
	}
}

func documentRecord(t *testing.T, b Backend) record {
	ref := create(t, b, []byte("head"))
	return record{b,
		func(ctx context.Context) (any, error) {
			blob, err := b.Documents.Open(ctx, ref.ID)
			if err != nil {
				return nil, err
			}
			return blob.Size(), blob.Close()
		},
		func(ctx context.Context) error {
			return b.Documents.Append(ctx, ref.ID, storage.Revision{Base: ref.Size, Bytes: []byte(" more")})
		},
	}
}

func subscriptionRecord(t *testing.T, b Backend) record {
	s := exampleSubscription("s")
	addSubscriptions(t, b, s)
	s.Generation++
	return record{b,
		func(ctx context.Context) (any, error) { return b.Webhooks.Subscription(ctx, s.ID) },
		func(ctx context.Context) error { return b.Webhooks.UpdateSubscription(ctx, s) },
	}
}

func signingKeyRecord(t *testing.T, b Backend) record {
	k := exampleKey(1)
	do(t, b, func(ctx context.Context) error { return b.Webhooks.CreateKey(ctx, k) })
	k.EndsAt = after(100)
	return record{b,
		func(ctx context.Context) (any, error) { return b.Webhooks.Keys(ctx) },
		func(ctx context.Context) error { return b.Webhooks.UpdateKey(ctx, k) },
	}
}

func processRecord(t *testing.T, b Backend) record {
	p := exampleProcess("p")
	addProcesses(t, b, p)
	p.Turns++
	return record{b,
		func(ctx context.Context) (any, error) { return b.Processes.Process(ctx, p.ID) },
		func(ctx context.Context) error { return b.Processes.UpdateProcess(ctx, p) },
	}
}

func processOfALinkRecord(t *testing.T, b Backend) record {
	r := processRecord(t, b)
	r.read = func(ctx context.Context) (any, error) {
		return b.Processes.ProcessByLink(ctx, invitation("p 3", 0).Hash)
	}
	return r
}

func processKeyRecord(t *testing.T, b Backend) record {
	k := exampleProcessKey("k")
	addProcessKeys(t, b, k)
	k.Process = id("another")
	return record{b,
		func(ctx context.Context) (any, error) { return b.Processes.Key(ctx, k.Client, k.Value) },
		func(ctx context.Context) error { return b.Processes.UpdateKey(ctx, k) },
	}
}

func pageRecord(t *testing.T, b Backend) record {
	r := exampleRecord("r", 1)
	putRecords(t, b, r)
	r.Value = []byte("another")
	return record{b,
		func(ctx context.Context) (any, error) { return b.Pages.Record(ctx, r.Key) },
		func(ctx context.Context) error { return b.Pages.PutRecord(ctx, r) },
	}
}
