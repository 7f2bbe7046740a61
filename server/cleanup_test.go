package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/portal/process"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/evidence"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// The retention of requests is the longer one of what is asked for, in the calendar's years.
func TestRetentionOfRequests(t *testing.T) {
	now := time.Date(2028, time.February, 29, 12, 0, 0, 0, time.UTC)
	day, year := Period{Rest: 24 * time.Hour}, Period{Years: 1}
	for _, r := range []Retention{{EndedRequests: day, IdempotencyKeys: year}, {EndedRequests: year, IdempotencyKeys: day}} {
		if got := r.requests(now); got != 365*24*time.Hour {
			t.Errorf("%+v: requests are kept for %v", r, got)
		}
	}
}

// Each line of the table is swept when its time has come, and not before (spec
// 7.2).
func TestCleanup(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store.db")
	synctest.Test(t, func(t *testing.T) {
		s, db := newServer(t, store, func(c *Config) { c.Retention.Evidence = Period{Years: 1} })
		ref, err := db.Documents().Create(t.Context(), bytes.NewReader([]byte("a document")), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.accounts.EnsureAccount(t.Context(), sandboxAccount, "Sandbox", true); err != nil {
			t.Fatal(err)
		}
		signal, err := s.signals.Create(t.Context(), sandboxAccount)
		if err != nil {
			t.Fatal(err)
		}
		now := time.Now().UTC()
		err = db.InTx(t.Context(), func(ctx context.Context) error {
			return errors.Join(
				db.EvidenceLog().Record(ctx, storage.Entry{Subject: "request", Account: sandboxAccount, Kind: "signature.asked", At: now, Facts: json.RawMessage(`{}`)}),
				db.Requests().CreateRequest(ctx, signing.Request{ID: "request", Account: sandboxAccount, CreatedAt: now, Phase: signing.Ended}),
				db.Webhooks().AddAttempt(ctx, delivery.Attempt{Subscription: "subscription", At: now}),
				db.Requests().KeepCertificate(ctx, signing.KeptCertificate{Person: "person", Certificate: []byte("a certificate"), Expires: now.Add(2 * day)}),
				db.Pages().PutRecord(ctx, storage.Record{Key: []byte("visit"), Expires: now.Add(uploadTime)}),
				db.Processes().CreateKey(ctx, portal.Key{Client: "client", Value: "key", CreatedAt: now, Process: "process"}),
				db.Processes().CreateProcess(ctx, portal.Process{
					ID: "process", Account: sandboxAccount, CreatedAt: now, Participants: []portal.Participant{{Participant: process.Participant{ID: "one", Link: portal.Link{InvitedAt: now, Hash: []byte("hash")}}}},
				}),
			)
		})
		if err != nil {
			t.Fatal(err)
		}
		type left struct{ Visit, Document, Request, Key, Certificate, Link, Attempt, Signal, Entry bool }
		for _, step := range []struct {
			after time.Duration
			want  left
		}{
			{0, left{true, true, true, true, true, true, true, true, true}},
			{uploadTime - time.Second, left{true, true, true, true, true, true, true, true, true}},
			{2 * time.Second, left{false, false, true, true, true, true, true, true, true}},
			{23 * time.Hour, left{false, false, false, false, true, true, true, true, true}},
			{day, left{false, false, false, false, false, true, true, true, true}},
			{5*day - 2*time.Second, left{false, false, false, false, false, true, true, true, true}},
			{2 * time.Second, left{false, false, false, false, false, false, true, true, true}},
			{7*day - time.Hour, left{false, false, false, false, false, false, true, true, true}},
			{time.Hour, left{false, false, false, false, false, false, false, true, true}},
			{350 * day, left{false, false, false, false, false, false, false, true, true}},
			{2 * day, left{false, false, false, false, false, false, false, false, false}},
		} {
			time.Sleep(step.after)
			s.cleanup(t.Context())
			var got left
			_, err := db.Documents().Open(t.Context(), ref.ID)
			got.Document = there(t, err)
			_, err = db.Requests().Request(t.Context(), "request")
			got.Request = there(t, err)
			_, err = db.Processes().Key(t.Context(), "client", "key")
			got.Key = there(t, err)
			_, err = db.Pages().Record(t.Context(), []byte("visit"))
			got.Visit = there(t, err)
			process, err := db.Processes().ProcessByLink(t.Context(), []byte("hash"))
			got.Link = there(t, err) && !process.UnopenedUntil().IsZero()
			_, err = db.Requests().KeptCertificate(t.Context(), "person")
			got.Certificate = there(t, err)
			for range s.hooks.Attempts(t.Context(), "subscription") {
				got.Attempt = true
			}
			_, err = db.BusySignals().Signal(t.Context(), signal)
			got.Signal = there(t, err)
			entries, err := db.EvidenceLog().Entries(t.Context(), "request")
			got.Entry = len(entries) == 1 && there(t, err)
			if diff := cmp.Diff(step.want, got); diff != "" {
				t.Errorf("at %v: %s", time.Since(now), diff)
			}
		}
	})
}

// there says whether a read found something.
func there(t *testing.T, err error) bool {
	t.Helper()
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		t.Fatal(err)
	}
	return err == nil
}

// The evidence log of many years is removed in transactions of a bounded size.
func TestCleanupGoesOnUntilNothingIsLeft(t *testing.T) {
	s, db := newServer(t, filepath.Join(t.TempDir(), "store.db"), nil)
	old := make([]storage.Entry, 2*cleanupBatch+1)
	for i := range old {
		old[i] = storage.Entry{Subject: "request", Kind: "signature.asked", At: time.Now().AddDate(-10, 0, -1), Facts: json.RawMessage(`{}`)}
	}
	if err := db.InTx(t.Context(), func(ctx context.Context) error { return db.EvidenceLog().Record(ctx, old...) }); err != nil {
		t.Fatal(err)
	}
	s.cleanup(t.Context())
	entries, err := db.EvidenceLog().EntriesAfter(t.Context(), 0, 10)
	if err != nil || len(entries) != 1 || entries[0].Kind != evidence.PrunedKind {
		t.Errorf("the entries that are left: %+v, %v", entries, err)
	}
}

// Processes stay, unless [retention] has a time for those that ended.
func TestCleanupOfProcesses(t *testing.T) {
	for _, period := range []Period{{}, {Rest: 30 * day}} {
		store := filepath.Join(t.TempDir(), "store.db")
		synctest.Test(t, func(t *testing.T) {
			s, db := newServer(t, store, func(c *Config) { c.Retention.Processes = period })
			a, err := s.accounts.CreateAccount(t.Context(), "Example Ltd.")
			if err != nil {
				t.Fatal(err)
			}
			ref, err := db.Documents().Create(t.Context(), bytes.NewReader([]byte("a document")), 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			err = db.InTx(t.Context(), func(ctx context.Context) error {
				p := portal.Process{ID: "process", Account: a.ID, Origin: portal.API, CreatedAt: now(), Document: ref.ID, Participants: []portal.Participant{invited("one", portal.Signer)}}
				return errors.Join(db.Documents().Keep(ctx, ref.ID), db.Processes().CreateProcess(ctx, p))
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, step := range []struct {
				after time.Duration
				want  bool
			}{{0, true}, {portal.InvitationTime + time.Second, true}, {30*day - 2*time.Second, true}, {2 * time.Second, period == Period{}}} {
				time.Sleep(step.after)
				s.cleanup(t.Context())
				_, err := db.Processes().Process(t.Context(), "process")
				document, documentErr := db.Documents().Open(t.Context(), ref.ID)
				if documentErr == nil {
					document.Close()
				}
				if there(t, err) != step.want || there(t, documentErr) != step.want {
					t.Errorf("%v after %v: %v, %v", period, step.after, err, documentErr)
				}
			}
		})
	}
}
