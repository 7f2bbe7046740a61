package storagetest

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

// exampleRequest has something in every field.
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

// at is a request of an account, created so many seconds after base.
func at(name, account string, seconds int) signing.Request {
	r := exampleRequest(name)
	r.Account, r.CreatedAt = id(account), base.Add(time.Duration(seconds)*time.Second)
	return r
}

func names(requests []signing.Request) []string {
	var list []string
	for _, r := range requests {
		list = append(list, r.ID)
	}
	return list
}

var requests = tests{
	"a request is kept whole": func(t *testing.T, open func(*testing.T) Backend) {
		b, r, own := open(t), exampleRequest("r"), exampleRequest("of its own document")
		own.Order, own.Draft = "", nil
		addRequests(t, b, r, own)
		b = b.Reopen(t)
		for _, want := range []signing.Request{r, own} {
			got, err := b.Requests.Request(t.Context(), want.ID)
			found(t, got, err, want)
		}
		got, err := b.Requests.RequestByKey(t.Context(), r.Key.Client, r.Key.Key)
		found(t, got, err, r)
	},

	"an unknown request is not found": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		for _, unknown := range []string{"", "r", id("r"), "\x00"} {
			_, err := b.Requests.Request(t.Context(), unknown)
			failed(t, err, storage.ErrNotFound)
			_, err = b.Requests.RequestByKey(t.Context(), unknown, unknown)
			failed(t, err, storage.ErrNotFound)
		}
		refused(t, b, storage.ErrNotFound, func(ctx context.Context) error { return b.Requests.UpdateRequest(ctx, exampleRequest("r")) })
		do(t, b, func(ctx context.Context) error { return b.Requests.DeleteRequest(ctx, id("r")) })
	},

	"ids and idempotency keys are unique": func(t *testing.T, open func(*testing.T) Backend) {
		b, r := open(t), exampleRequest("r")
		addRequests(t, b, r)
		same := exampleRequest("another")
		same.ID = r.ID
		refused(t, b, storage.ErrExists, func(ctx context.Context) error { return b.Requests.CreateRequest(ctx, same) })
		key := exampleRequest("another")
		key.Key = r.Key
		refused(t, b, storage.ErrExists, func(ctx context.Context) error { return b.Requests.CreateRequest(ctx, key) })
		client, none, more := exampleRequest("third"), exampleRequest("none"), exampleRequest("none too")
		client.Key = &signing.IdempotencyKey{Client: "another client", Key: r.Key.Key}
		none.Key, more.Key = nil, nil
		addRequests(t, b, client, none, more)
		do(t, b, func(ctx context.Context) error { return b.Requests.DeleteRequest(ctx, r.ID) })
		addRequests(t, b, key)
	},

	"a change of an outdated record is refused": func(t *testing.T, open func(*testing.T) Backend) {
		b, r := open(t), exampleRequest("r")
		addRequests(t, b, r)
		change := func(revision int64) func(ctx context.Context) error {
			changed := r
			changed.Revision, changed.Code = revision, "9999"
			return func(ctx context.Context) error { return b.Requests.UpdateRequest(ctx, changed) }
		}
		refused(t, b, signing.ErrConflict, change(1))
		refused(t, b, signing.ErrConflict, change(3))
		do(t, b, change(2))
		refused(t, b, signing.ErrConflict, change(2))
	},

	"abandoned are the account's that have not ended, oldest first": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		ended := at("ended", "a", 0)
		ended.Phase = signing.Ended
		addRequests(t, b, at("third", "a", 3), at("first", "a", 1), ended, at("second", "a", 2), at("foreign", "b", 0), at("new", "a", 10))
		for limit, want := range map[int][]string{10: {id("first"), id("second"), id("third")}, 2: {id("first"), id("second")}} {
			got, err := b.Requests.Abandoned(t.Context(), id("a"), base.Add(10*time.Second), limit)
			found(t, names(got), err, want)
		}
		first := at("first", "a", 1)
		first.Phase, first.Revision = signing.Ended, 2
		do(t, b, func(ctx context.Context) error { return b.Requests.UpdateRequest(ctx, first) })
		got, err := b.Requests.Abandoned(t.Context(), id("a"), base.Add(10*time.Second), 10)
		found(t, names(got), err, []string{id("second"), id("third")})
	},

	"old requests are those of all accounts, ended or not": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		ended := at("ended", "a", 2)
		ended.Phase = signing.Ended
		addRequests(t, b, at("third", "a", 3), at("first", "b", 1), ended, at("new", "a", 10))
		got, err := b.Requests.RequestsBefore(t.Context(), base.Add(10*time.Second), 10)
		found(t, names(got), err, []string{id("first"), id("ended"), id("third")})
		got, err = b.Requests.RequestsBefore(t.Context(), base.Add(10*time.Second), 1)
		if diff := cmp.Diff([]string{id("first")}, names(got)); err != nil || diff != "" {
			t.Error(err, diff)
		}
	},

	"unfinished requests are those of all accounts that have not ended": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		ended, failed := at("ended", "a", 0), at("failed", "a", 2)
		ended.Phase, failed.Phase = signing.Ended, signing.Failed
		addRequests(t, b, at("third", "a", 3), at("first", "b", 1), ended, failed, at("new", "a", 10))
		unfinished := func(limit int, want ...string) {
			t.Helper()
			got, err := b.Requests.Unfinished(t.Context(), base.Add(10*time.Second), limit)
			found(t, names(got), err, want)
		}
		unfinished(10, id("first"), id("failed"), id("third"))
		unfinished(2, id("first"), id("failed"))
		failed.Phase, failed.Revision = signing.Ended, 2
		do(t, b, func(ctx context.Context) error { return b.Requests.UpdateRequest(ctx, failed) })
		unfinished(10, id("first"), id("third"))
		do(t, b, func(ctx context.Context) error { return b.Requests.DeleteRequest(ctx, id("first")) })
		unfinished(10, id("third"))
	},
}
