package storagetest

import (
	"context"
	"testing"

	"github.com/innsigli/innsigli/storage"
)

// record is one of a backend, how it is read by its key, and a change of it.
type record struct {
	b      Backend
	read   func(ctx context.Context) (any, error)
	change func(ctx context.Context) error
}

// records are one of each kind that is read by a key, each in a backend of its own.
func records(t *testing.T, open func(*testing.T) Backend) map[string]record {
	return map[string]record{
		"account":           accountRecord(t, open(t)),
		"shared account":    sharedAccountRecord(t, open(t)),
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

func sharedAccountRecord(t *testing.T, b Backend) record {
	r := accountRecord(t, b)
	r.read = func(ctx context.Context) (any, error) { return b.Accounts.ShareAccount(ctx, exampleAccount("a").ID) }
	return r
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
	keep(t, b, c)
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
	subscribe(t, b, s)
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
	r := remembered("r", 1)
	remember(t, b, r)
	r.Value = []byte("another")
	return record{b,
		func(ctx context.Context) (any, error) { return b.Pages.Record(ctx, r.Key) },
		func(ctx context.Context) error { return b.Pages.PutRecord(ctx, r) },
	}
}
