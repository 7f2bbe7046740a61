package storagetest

import (
	"context"
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/innsigli/innsigli/storage"
)

var errRefused = errors.New("storagetest: refused")

var transactions = tests{
	"a committed transaction is stored": func(t *testing.T, open func(*testing.T) Backend) {
		b, a := open(t), exampleAccount("a")
		do(t, b, func(ctx context.Context) error { return b.Accounts.AddAccount(ctx, a) })
		got, err := b.Accounts.Account(t.Context(), a.ID)
		checkRead(t, got, err, a)
	},

	"an error rolls everything back and is returned unchanged": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		err := b.InTx(t.Context(), func(ctx context.Context) error {
			if err := addOneOfEach(ctx, b); err != nil {
				return err
			}
			return errRefused
		})
		if err != errRefused {
			t.Errorf("InTx answered %v", err)
		}
		checkNothingStored(t, b)
	},

	"a panic rolls everything back, and the next transaction runs": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		func() {
			defer func() {
				if found := recover(); found != errRefused {
					t.Errorf("the panic became %v", found)
				}
			}()
			_ = b.InTx(t.Context(), func(ctx context.Context) error {
				if err := addOneOfEach(ctx, b); err != nil {
					return err
				}
				panic(errRefused)
			})
		}()
		checkNothingStored(t, b)
		do(t, b, func(ctx context.Context) error { return addOneOfEach(ctx, b) })
	},

	"only the transaction reads what it wrote": func(t *testing.T, open func(*testing.T) Backend) {
		b, a := open(t), exampleAccount("a")
		do(t, b, func(ctx context.Context) error {
			if err := b.Accounts.AddAccount(ctx, a); err != nil {
				return err
			}
			_, err := b.Accounts.Account(t.Context(), a.ID)
			checkError(t, err, storage.ErrNotFound)
			got, err := b.Accounts.Account(ctx, a.ID)
			checkRead(t, got, err, a)
			return nil
		})
	},

	"a nested transaction joins the outer one": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		rollBack(t, b, func(ctx context.Context) error {
			if err := b.InTx(ctx, func(ctx context.Context) error { return addOneOfEach(ctx, b) }); err != nil {
				return err
			}
			_, err := b.Accounts.Account(ctx, exampleAccount("a").ID)
			checkError(t, err, nil)
			return nil
		})
		checkNothingStored(t, b)
	},

	"an error of a nested transaction rolls back the outer one": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		doFailing(t, b, errRefused, func(ctx context.Context) error {
			if err := addOneOfEach(ctx, b); err != nil {
				return err
			}
			err := b.InTx(ctx, func(context.Context) error { return errRefused })
			checkError(t, err, errRefused)
			return nil
		})
		checkNothingStored(t, b)
	},

	"writing needs a transaction": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		for name, write := range writes(b) {
			t.Run(name, func(t *testing.T) { checkError(t, write(t.Context()), storage.ErrNoTx) })
		}
		checkNothingStored(t, b)
	},

	"a context is invalid after its transaction": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		var ended context.Context
		do(t, b, func(ctx context.Context) error { ended = ctx; return nil })
		for name, write := range writes(b) {
			t.Run(name, func(t *testing.T) { checkError(t, write(ended), storage.ErrNoTx) })
		}
		checkNothingStored(t, b)
	},

	"a context carries no transaction of another backend": func(t *testing.T, open func(*testing.T) Backend) {
		b, other := open(t), open(t)
		do(t, b, func(ctx context.Context) error {
			for name, write := range writes(other) {
				t.Run(name, func(t *testing.T) { checkError(t, write(ctx), storage.ErrNoTx) })
			}
			return nil
		})
		checkNothingStored(t, other)
	},

	"a context that has ended begins no transaction": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := b.InTx(ctx, func(ctx context.Context) error { return addOneOfEach(ctx, b) })
		checkError(t, err, context.Canceled)
		checkNothingStored(t, b)
	},
}

// addOneOfEach writes to every store of records.
func addOneOfEach(ctx context.Context, b Backend) error {
	return errors.Join(
		b.Accounts.AddAccount(ctx, exampleAccount("a")),
		b.Accounts.AddClient(ctx, exampleClient("c", "a")),
		b.Accounts.AddToken(ctx, exampleToken("t")),
		b.BusySignals.AddSignal(ctx, exampleSignal("s")),
		b.Requests.CreateRequest(ctx, exampleRequest("r")),
		b.Requests.KeepCertificate(ctx, exampleCertificate("jon")),
		b.Sandbox.CreateUser(ctx, exampleUser("u")),
		b.Jobs.Enqueue(ctx, exampleJob("k", "g", 0)),
		b.EvidenceLog.Record(ctx, exampleEntry("s", "asked", 0)),
		b.Webhooks.CreateSubscription(ctx, exampleSubscription("s"), manySubscriptions),
		b.Webhooks.CreateKey(ctx, exampleKey(1)),
		b.Webhooks.AddAttempt(ctx, exampleAttempt("s", "1", 0)),
		b.Webhooks.AddDropped(ctx, exampleDropped("s", "e", 0)),
		b.Processes.CreateProcess(ctx, exampleProcess("p")),
		b.Processes.CreateKey(ctx, exampleProcessKey("k")),
		b.Accounts.AddLine(ctx, exampleLine("1", "a", 0)),
	)
}

func checkNothingStored(t *testing.T, b Backend) {
	t.Helper()
	_, err := b.Accounts.Account(t.Context(), exampleAccount("a").ID)
	checkError(t, err, storage.ErrNotFound)
	_, err = b.Accounts.Client(t.Context(), exampleClient("c", "a").ID)
	checkError(t, err, storage.ErrNotFound)
	_, err = b.Accounts.Token(t.Context(), exampleToken("t").Hash)
	checkError(t, err, storage.ErrNotFound)
	_, err = b.BusySignals.Signal(t.Context(), exampleSignal("s").ID)
	checkError(t, err, storage.ErrNotFound)
	_, err = b.Requests.Request(t.Context(), exampleRequest("r").ID)
	checkError(t, err, storage.ErrNotFound)
	_, err = b.Requests.KeptCertificate(t.Context(), exampleCertificate("jon").Person)
	checkError(t, err, storage.ErrNotFound)
	_, err = b.Sandbox.User(t.Context(), exampleUser("u").Account, exampleUser("u").ID)
	checkError(t, err, storage.ErrNotFound)
	due, err := b.Jobs.NextDue(t.Context(), "k")
	checkRead(t, due, err, map[string]time.Time{})
	checkEntries(t, allEntries(t, b), nil)
	_, err = b.Webhooks.Subscription(t.Context(), exampleSubscription("s").ID)
	checkError(t, err, storage.ErrNotFound)
	checkKeys(t, b)
	checkRead(t, attemptsOf(t.Context(), t, b, id("s")), nil, nil)
	checkDropped(t, b, id("s"))
	_, err = b.Processes.Process(t.Context(), id("p"))
	checkError(t, err, storage.ErrNotFound)
	_, err = b.Processes.ProcessByLink(t.Context(), invitation("p 3", 0).Hash)
	checkError(t, err, storage.ErrNotFound)
	_, err = b.Processes.Key(t.Context(), "client", "k")
	checkError(t, err, storage.ErrNotFound)
	checkRead(t, lines(t.Context(), t, b, id("a"), base, after(1)), nil, nil)
}

// writes returns calls of all methods that write. In a transaction, each succeeds or returns storage.ErrNotFound.
func writes(b Backend) map[string]func(ctx context.Context) error {
	all := make(map[string]func(ctx context.Context) error)
	for _, some := range []map[string]func(ctx context.Context) error{accountWrites(b), signingWrites(b), documentWrites(b), jobWrites(b), webhookWrites(b), sentWrites(b), processWrites(b), pageWrites(b)} {
		maps.Copy(all, some)
	}
	return all
}

func accountWrites(b Backend) map[string]func(ctx context.Context) error {
	a, c, token, user := exampleAccount("a"), exampleClient("c", "a"), exampleToken("t"), exampleUser("u")
	return map[string]func(ctx context.Context) error{
		"AddAccount":    func(ctx context.Context) error { return b.Accounts.AddAccount(ctx, a) },
		"UpdateAccount": func(ctx context.Context) error { return b.Accounts.UpdateAccount(ctx, a) },
		"AddClient":     func(ctx context.Context) error { return b.Accounts.AddClient(ctx, c) },
		"UpdateClient":  func(ctx context.Context) error { return b.Accounts.UpdateClient(ctx, c) },
		"DeleteAccount": func(ctx context.Context) error { return b.Accounts.DeleteAccount(ctx, a.ID) },
		"DeleteLines": func(ctx context.Context) error {
			_, err := b.Accounts.DeleteLines(ctx, a.ID, 1)
			return err
		},
		"DeleteUser":   func(ctx context.Context) error { return b.Sandbox.DeleteUser(ctx, user.Account, user.ID) },
		"DeleteClient": func(ctx context.Context) error { return b.Accounts.DeleteClient(ctx, c.ID) },
		"AddToken":     func(ctx context.Context) error { return b.Accounts.AddToken(ctx, token) },
		"DeleteToken":  func(ctx context.Context) error { return b.Accounts.DeleteToken(ctx, token.Hash) },
		"DeleteExpiredTokens": func(ctx context.Context) error {
			_, err := b.Accounts.DeleteExpiredTokens(ctx, token.ExpiresAt, 1)
			return err
		},
		"AddLine":         func(ctx context.Context) error { return b.Accounts.AddLine(ctx, exampleLine("1", "a", 0)) },
		"AddSignature":    func(ctx context.Context) error { return b.Accounts.AddSignature(ctx, exampleLine("1", "a", 0)) },
		"CreateUser":      func(ctx context.Context) error { return b.Sandbox.CreateUser(ctx, user) },
		"UpdateUser":      func(ctx context.Context) error { return b.Sandbox.UpdateUser(ctx, user) },
		"SaveAuthority":   func(ctx context.Context) error { return b.Sandbox.SaveAuthority(ctx, []byte("a")) },
		"UpdateAuthority": func(ctx context.Context) error { return b.Sandbox.UpdateAuthority(ctx, []byte("a")) },
	}
}

func signingWrites(b Backend) map[string]func(ctx context.Context) error {
	signal, request, certificate := exampleSignal("s"), exampleRequest("r"), exampleCertificate("jon")
	return map[string]func(ctx context.Context) error{
		"AddSignal":    func(ctx context.Context) error { return b.BusySignals.AddSignal(ctx, signal) },
		"UpdateSignal": func(ctx context.Context) error { return b.BusySignals.UpdateSignal(ctx, signal) },
		"DeleteSignal": func(ctx context.Context) error { return b.BusySignals.DeleteSignal(ctx, signal.ID) },
		"DeleteUnusedSignals": func(ctx context.Context) error {
			_, err := b.BusySignals.DeleteUnusedSignals(ctx, signal.UsedAt, 1)
			return err
		},
		"CreateRequest":   func(ctx context.Context) error { return b.Requests.CreateRequest(ctx, request) },
		"UpdateRequest":   func(ctx context.Context) error { return b.Requests.UpdateRequest(ctx, request) },
		"DeleteRequest":   func(ctx context.Context) error { return b.Requests.DeleteRequest(ctx, request.ID) },
		"KeepCertificate": func(ctx context.Context) error { return b.Requests.KeepCertificate(ctx, certificate) },
		"DropCertificates": func(ctx context.Context) error {
			_, err := b.Requests.DropCertificates(ctx, after(1), 1)
			return err
		},
	}
}

func documentWrites(b Backend) map[string]func(ctx context.Context) error {
	return map[string]func(ctx context.Context) error{
		"Keep":   func(ctx context.Context) error { return b.Documents.Keep(ctx, noDocument) },
		"Append": func(ctx context.Context) error { return b.Documents.Append(ctx, noDocument) },
		"Delete": func(ctx context.Context) error { return b.Documents.Delete(ctx, noDocument) },
	}
}

func jobWrites(b Backend) map[string]func(ctx context.Context) error {
	l := storage.Lease{Job: storage.Job{ID: id("job")}, Token: id("token")}
	return map[string]func(ctx context.Context) error{
		"Enqueue": func(ctx context.Context) error { return b.Jobs.Enqueue(ctx, exampleJob("k", "g", 0)) },
		"Claim": func(ctx context.Context) error {
			_, err := b.Jobs.Claim(ctx, "k", base, 1, 1, lease)
			return err
		},
		"Finish": func(ctx context.Context) error { return b.Jobs.Finish(ctx, l) },
		"FinishAll": func(ctx context.Context) error {
			_, err := b.Jobs.FinishAll(ctx, []storage.Lease{l})
			return err
		},
		"Extend": func(ctx context.Context) error {
			_, err := b.Jobs.Extend(ctx, []storage.Lease{l}, base)
			return err
		},
		"Retry":        func(ctx context.Context) error { return b.Jobs.Retry(ctx, l, base) },
		"Postpone":     func(ctx context.Context) error { return b.Jobs.Postpone(ctx, l, base) },
		"Fail":         func(ctx context.Context) error { return b.Jobs.Fail(ctx, l, storage.Failure{At: base}) },
		"ExpireLeases": func(ctx context.Context) error { return b.Jobs.ExpireLeases(ctx, base) },
		"RetryNow":     func(ctx context.Context) error { return b.Jobs.RetryNow(ctx, l.ID, base) },
		"Remove":       func(ctx context.Context) error { return b.Jobs.Remove(ctx, l.ID) },
		"Drop":         func(ctx context.Context) error { return b.Jobs.Drop(ctx, "k", "g") },
		"DropUnique":   func(ctx context.Context) error { return b.Jobs.DropUnique(ctx, "k", "u") },
		"Record":       func(ctx context.Context) error { return b.EvidenceLog.Record(ctx, exampleEntry("s", "asked", 0)) },
		"AddBatch": func(ctx context.Context) error {
			return b.EvidenceLog.AddBatch(ctx, exampleBatch(1, storage.Entry{Seq: 1}), goldenSalts[:1])
		},
		"DeleteEntries": func(ctx context.Context) error { return b.EvidenceLog.DeleteEntries(ctx, 1) },
		"DeleteBatch":   func(ctx context.Context) error { return b.EvidenceLog.DeleteBatch(ctx, 1) },
		"Restore":       func(ctx context.Context) error { return b.EvidenceLog.Restore(ctx, nil, nil) },
	}
}

func webhookWrites(b Backend) map[string]func(ctx context.Context) error {
	s, k := exampleSubscription("s"), exampleKey(1)
	return map[string]func(ctx context.Context) error{
		"CreateSubscription": func(ctx context.Context) error { return b.Webhooks.CreateSubscription(ctx, s, manySubscriptions) },
		"UpdateSubscription": func(ctx context.Context) error { return b.Webhooks.UpdateSubscription(ctx, s) },
		"DeleteSubscription": func(ctx context.Context) error { return b.Webhooks.DeleteSubscription(ctx, s.ID) },
		"CreateKey":          func(ctx context.Context) error { return b.Webhooks.CreateKey(ctx, k) },
		"UpdateKey":          func(ctx context.Context) error { return b.Webhooks.UpdateKey(ctx, k) },
		"DeleteKey":          func(ctx context.Context) error { return b.Webhooks.DeleteKey(ctx, k.Number) },
	}
}

func sentWrites(b Backend) map[string]func(ctx context.Context) error {
	d := exampleDropped("s", "e", 0)
	return map[string]func(ctx context.Context) error{
		"AddAttempt": func(ctx context.Context) error { return b.Webhooks.AddAttempt(ctx, exampleAttempt("s", "1", 0)) },
		"DeleteAttempts": func(ctx context.Context) error {
			_, err := b.Webhooks.DeleteAttempts(ctx, after(1), 1)
			return err
		},
		"DeleteAttemptsOf": func(ctx context.Context) error {
			_, err := b.Webhooks.DeleteAttemptsOf(ctx, id("s"), 1)
			return err
		},
		"AddDropped": func(ctx context.Context) error { return b.Webhooks.AddDropped(ctx, d) },
		"RemoveDropped": func(ctx context.Context) error {
			_, err := b.Webhooks.RemoveDropped(ctx, d.Subscription, d.Event)
			return err
		},
		"DeleteDropped": func(ctx context.Context) error {
			_, err := b.Webhooks.DeleteDropped(ctx, after(1), 1)
			return err
		},
	}
}

func processWrites(b Backend) map[string]func(ctx context.Context) error {
	p, k := exampleProcess("p"), exampleProcessKey("k")
	return map[string]func(ctx context.Context) error{
		"CreateProcess":    func(ctx context.Context) error { return b.Processes.CreateProcess(ctx, p) },
		"UpdateProcess":    func(ctx context.Context) error { return b.Processes.UpdateProcess(ctx, p) },
		"DeleteProcess":    func(ctx context.Context) error { return b.Processes.DeleteProcess(ctx, p.ID) },
		"CreateProcessKey": func(ctx context.Context) error { return b.Processes.CreateKey(ctx, k) },
		"UpdateProcessKey": func(ctx context.Context) error { return b.Processes.UpdateKey(ctx, k) },
		"DeleteProcessKey": func(ctx context.Context) error { return b.Processes.DeleteKey(ctx, k.Client, k.Value) },
		"DeleteProcessKeys": func(ctx context.Context) error {
			_, err := b.Processes.DeleteKeys(ctx, base, 1)
			return err
		},
	}
}

func pageWrites(b Backend) map[string]func(ctx context.Context) error {
	r := exampleRecord("r", 0)
	return map[string]func(ctx context.Context) error{
		"PutPageRecord":    func(ctx context.Context) error { return b.Pages.PutRecord(ctx, r) },
		"DeletePageRecord": func(ctx context.Context) error { return b.Pages.DeleteRecord(ctx, r.Key) },
		"DeletePageRecords": func(ctx context.Context) error {
			_, err := b.Pages.DeleteRecords(ctx, base, 1)
			return err
		},
	}
}
