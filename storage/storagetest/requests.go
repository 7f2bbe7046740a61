package storagetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

// exampleRequest has a value in every field.
func exampleRequest(name string) signing.Request {
	return signing.Request{
		ID: id(name), Account: id("a"), CreatedAt: base, UpdatedAt: base.Add(time.Second), Expires: base.Add(time.Minute),
		Phase:  signing.Waiting,
		Person: idp.Person{Account: id("a"), Method: idp.SIM, Kennitala: "0101302989", Phone: "555 0101"},
		Text:   idp.Text{Document: "Samningur 漢字.pdf", Reason: "Undirritun"},
		Place:  "Reykjavík",
		Level:  ades.LTA,
		Format: signing.XML, Packing: 2, City: "Reykjavík", Country: "Ísland",
		Document: id("document"), BusySignal: id("signal"), Order: "order",
		Stamp:     &signing.Stamp{Page: 3, Rect: [4]float64{36.5, 0.1, 153.5, 1.0 / 3}, Image: id("image")},
		State:     idp.State{Provider: "p", Version: 3, Key: "k", Public: []byte{0, 1}, Secret: []byte{2, 255}, Expires: base.Add(time.Hour)},
		Pending:   []byte{3, 0},
		Code:      "0042",
		Value:     []byte{4, 0},
		Draft:     []byte{5, 0},
		SignedAt:  base.Add(4 * time.Second),
		NextTry:   base.Add(5 * time.Second),
		NextAsk:   base.Add(6 * time.Second),
		Failure:   &idp.Failure{Code: idp.UserCancelled, OAuth: "access_denied", Description: "mssp_401"},
		Refused:   true,
		StartCode: "0041", StartExpires: base.Add(7 * time.Second),
		Key:      &signing.IdempotencyKey{Client: "client", Key: "key of " + name, Fingerprint: "body"},
		PolledAt: base.Add(2 * time.Second),
		Lease:    signing.Lease{Process: "process", Token: "token", Until: base.Add(3 * time.Second)},
		Revision: 1,
	}
}

func addRequests(t *testing.T, b Backend, requests ...signing.Request) {
	t.Helper()
	for _, r := range requests {
		do(t, b, func(ctx context.Context) error { return b.Requests.CreateRequest(ctx, r) })
	}
}

// requestAt is a request of an account, created so many seconds after base.
func requestAt(name, account string, seconds int) signing.Request {
	r := exampleRequest(name)
	r.Account, r.CreatedAt = id(account), base.Add(time.Duration(seconds)*time.Second)
	return r
}

// names returns the IDs of requests.
func names(requests []signing.Request) []string {
	var list []string
	for _, r := range requests {
		list = append(list, r.ID)
	}
	return list
}

var requests = recordType[signing.Request]{
	examples: goldenExamples().requests,
	changed: func(r signing.Request) signing.Request {
		r.UpdatedAt, r.Phase, r.Code, r.Pending, r.Value, r.Draft, r.Stamp = after(9), signing.Ended, "", nil, nil, nil, nil
		r.Revision++
		return r
	},
	others: withOtherIDs("r", func(r *signing.Request, id string) { r.ID = id }),
	get: func(ctx context.Context, b Backend, r signing.Request) (signing.Request, error) {
		return b.Requests.Request(ctx, r.ID)
	},
	add:    func(ctx context.Context, b Backend, r signing.Request) error { return b.Requests.CreateRequest(ctx, r) },
	update: func(ctx context.Context, b Backend, r signing.Request) error { return b.Requests.UpdateRequest(ctx, r) },
	remove: func(ctx context.Context, b Backend, r signing.Request) error {
		return b.Requests.DeleteRequest(ctx, r.ID)
	},
}.and(tests{
	"a request is stored with all fields": func(t *testing.T, open func(*testing.T) Backend) {
		b, r, own := open(t), exampleRequest("r"), exampleRequest("of its own document")
		own.Order, own.Draft = "", nil
		addRequests(t, b, r, own)
		b = b.Reopen(t)
		for _, want := range []signing.Request{r, own} {
			got, err := b.Requests.Request(t.Context(), want.ID)
			checkRead(t, got, err, want)
		}
		got, err := b.Requests.RequestByKey(t.Context(), r.Key.Client, r.Key.Key)
		checkRead(t, got, err, r)
	},

	"ids and idempotency keys are unique": func(t *testing.T, open func(*testing.T) Backend) {
		b, r := open(t), exampleRequest("r")
		addRequests(t, b, r)
		same := exampleRequest("another")
		same.ID = r.ID
		doFailing(t, b, storage.ErrExists, func(ctx context.Context) error { return b.Requests.CreateRequest(ctx, same) })
		key := exampleRequest("another")
		key.Key = r.Key
		doFailing(t, b, storage.ErrExists, func(ctx context.Context) error { return b.Requests.CreateRequest(ctx, key) })
		client, none, more := exampleRequest("third"), exampleRequest("none"), exampleRequest("none too")
		client.Key = &signing.IdempotencyKey{Client: "another client", Key: r.Key.Key}
		none.Key, more.Key = nil, nil
		addRequests(t, b, client, none, more)
		do(t, b, func(ctx context.Context) error { return b.Requests.DeleteRequest(ctx, r.ID) })
		addRequests(t, b, key)
	},

	"an update of an outdated revision is a conflict": func(t *testing.T, open func(*testing.T) Backend) {
		b, r := open(t), exampleRequest("r")
		addRequests(t, b, r)
		change := func(revision int64) func(ctx context.Context) error {
			changed := r
			changed.Revision, changed.Code = revision, "9999"
			return func(ctx context.Context) error { return b.Requests.UpdateRequest(ctx, changed) }
		}
		doFailing(t, b, signing.ErrConflict, change(1))
		doFailing(t, b, signing.ErrConflict, change(3))
		do(t, b, change(2))
		doFailing(t, b, signing.ErrConflict, change(2))
	},

	"abandoned requests are those of the account that have not ended, the oldest first": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		ended := requestAt("ended", "a", 0)
		ended.Phase = signing.Ended
		addRequests(t, b, requestAt("third", "a", 3), requestAt("first", "a", 1), ended, requestAt("second", "a", 2), requestAt("foreign", "b", 0), requestAt("new", "a", 10))
		for limit, want := range map[int][]string{10: {id("first"), id("second"), id("third")}, 2: {id("first"), id("second")}} {
			got, err := b.Requests.Abandoned(t.Context(), id("a"), base.Add(10*time.Second), limit)
			checkRead(t, names(got), err, want)
		}
		first := requestAt("first", "a", 1)
		first.Phase, first.Revision = signing.Ended, 2
		do(t, b, func(ctx context.Context) error { return b.Requests.UpdateRequest(ctx, first) })
		got, err := b.Requests.Abandoned(t.Context(), id("a"), base.Add(10*time.Second), 10)
		checkRead(t, names(got), err, []string{id("second"), id("third")})
	},

	"old requests are those of all accounts, ended or not": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		ended := requestAt("ended", "a", 2)
		ended.Phase = signing.Ended
		addRequests(t, b, requestAt("third", "a", 3), requestAt("first", "b", 1), ended, requestAt("new", "a", 10))
		got, err := b.Requests.RequestsBefore(t.Context(), base.Add(10*time.Second), 10)
		checkRead(t, names(got), err, []string{id("first"), id("ended"), id("third")})
		got, err = b.Requests.RequestsBefore(t.Context(), base.Add(10*time.Second), 1)
		if diff := cmp.Diff([]string{id("first")}, names(got)); err != nil || diff != "" {
			t.Error(err, diff)
		}
	},

	"unfinished requests are those of all accounts that have not ended": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		ended, failed := requestAt("ended", "a", 0), requestAt("failed", "a", 2)
		ended.Phase, failed.Phase = signing.Ended, signing.Failed
		addRequests(t, b, requestAt("third", "a", 3), requestAt("first", "b", 1), ended, failed, requestAt("new", "a", 10))
		unfinished := func(limit int, want ...string) {
			t.Helper()
			got, err := b.Requests.Unfinished(t.Context(), base.Add(10*time.Second), limit)
			checkRead(t, names(got), err, want)
		}
		unfinished(10, id("first"), id("failed"), id("third"))
		unfinished(2, id("first"), id("failed"))
		failed.Phase, failed.Revision = signing.Ended, 2
		do(t, b, func(ctx context.Context) error { return b.Requests.UpdateRequest(ctx, failed) })
		unfinished(10, id("first"), id("third"))
		do(t, b, func(ctx context.Context) error { return b.Requests.DeleteRequest(ctx, id("first")) })
		unfinished(10, id("third"))
	},
})

// exampleCertificate is a certificate of a person.
func exampleCertificate(person string) signing.KeptCertificate {
	sum := sha256.Sum256([]byte(person))
	return signing.KeptCertificate{Person: hex.EncodeToString(sum[:]), Certificate: []byte{0x30, 0x82, 0, 255, 'a'}, Expires: base}
}

func keepCertificates(t *testing.T, b Backend, certificates ...signing.KeptCertificate) {
	t.Helper()
	for _, c := range certificates {
		do(t, b, func(ctx context.Context) error { return b.Requests.KeepCertificate(ctx, c) })
	}
}

// certificateAt is a certificate that expires so many seconds after base.
func certificateAt(person string, seconds int) signing.KeptCertificate {
	c := exampleCertificate(person)
	c.Expires = base.Add(time.Duration(seconds) * time.Second)
	return c
}

// drop deletes expired certificates, and fails the test unless there were so many.
func drop(t *testing.T, b Backend, before time.Time, limit, want int) {
	t.Helper()
	dropped := -1
	do(t, b, func(ctx context.Context) (err error) {
		dropped, err = b.Requests.DropCertificates(ctx, before, limit)
		return err
	})
	if dropped != want {
		t.Errorf("dropped %d, want %d", dropped, want)
	}
}

var certificates = recordType[signing.KeptCertificate]{
	examples: []signing.KeptCertificate{exampleCertificate("jon"), {Person: exampleCertificate("anna").Person, Certificate: bytes.Repeat([]byte{0, 0xff}, 4096), Expires: base}},
	changed: func(c signing.KeptCertificate) signing.KeptCertificate {
		c.Certificate, c.Expires = []byte{1}, after(1)
		return c
	},
	others: withOtherIDs("jon", func(c *signing.KeptCertificate, id string) { c.Person = id }),
	get: func(ctx context.Context, b Backend, c signing.KeptCertificate) (signing.KeptCertificate, error) {
		return b.Requests.KeptCertificate(ctx, c.Person)
	},
	add: func(ctx context.Context, b Backend, c signing.KeptCertificate) error {
		return b.Requests.KeepCertificate(ctx, c)
	},
	replaces: true,
}.and(tests{
	"expired certificates are deleted in batches": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		first, second, third, fourth := certificateAt("1", 1), certificateAt("2", 2), certificateAt("3", 3), certificateAt("4", 4)
		keepCertificates(t, b, third, first, fourth, second, certificateAt("1", 10)) // the first was renewed
		drop(t, b, after(4), 0, 0)
		drop(t, b, after(4), -1, 0)
		for _, want := range []int{1, 1, 0} {
			drop(t, b, after(4), 1, want)
		}
		for c, want := range map[string]error{first.Person: nil, second.Person: storage.ErrNotFound, third.Person: storage.ErrNotFound, fourth.Person: nil} {
			_, err := b.Requests.KeptCertificate(t.Context(), c)
			checkError(t, err, want)
		}
		drop(t, b, after(4).Add(time.Microsecond), 10, 1)
		drop(t, b, after(100), 10, 1)
	},

	"of concurrent writes one is stored completely": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		const writers, rounds = 8, 10
		var group errgroup.Group
		for i := range writers {
			c := certificateAt("jon", i)
			c.Certificate = bytes.Repeat([]byte{byte(i)}, 100)
			group.Go(func() error {
				return repeat(rounds, func() error {
					return b.InTx(t.Context(), func(ctx context.Context) error { return b.Requests.KeepCertificate(ctx, c) })
				})
			})
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
		got, err := b.Requests.KeptCertificate(t.Context(), exampleCertificate("jon").Person)
		if err != nil {
			t.Fatal(err)
		}
		want := certificateAt("jon", int(got.Certificate[0]))
		want.Certificate = bytes.Repeat(got.Certificate[:1], 100)
		checkRead(t, got, err, want)
		drop(t, b, after(100), 10, 1)
	},
})
