package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/webhook/delivery"
)

func TestLifespans(t *testing.T) {
	now := time.Date(2028, time.February, 29, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"1h":      "2028-02-29T11:00:00Z",
		"24h":     "2028-02-28T12:00:00Z",
		"1h30m":   "2028-02-29T10:30:00Z",
		"90d":     "2027-12-01T12:00:00Z",
		"1y":      "2027-03-01T12:00:00Z", // there is no 29 February
		"4y":      "2024-02-29T12:00:00Z",
		"10y":     "2018-03-01T12:00:00Z",
		"100y":    "1928-02-29T12:00:00Z",
		"876000h": "1928-03-25T12:00:00Z",

		"": "", "0": "", "0d": "", "0y": "", "59m59s": "", "-1d": "", "-24h": "", "+1d": "", "1.5y": "", "1y6d": "", "1d12h": "", "d": "", "y": "", "1w": "",
		"101y": "", "36501d": "", "876001h": "", "99999999999d": "", "1 d": "", "1_0d": "", "24": "", "10Y": "",
	} {
		l, ok := parseLifespan(text)
		if ok != (want != "") {
			t.Errorf("%q: taken %t", text, ok)
		} else if got := l.before(now).Format(time.RFC3339); ok && got != want {
			t.Errorf("%q before %v is %s, want %s", text, now, got, want)
		}
	}
	day, year := lifespan{rest: 24 * time.Hour}, lifespan{years: 1}
	for _, r := range []retention{{ended: day, keys: year}, {ended: year, keys: day}} {
		if got := r.requests(now); got != 365*24*time.Hour {
			t.Errorf("%+v: requests are kept for %v", r, got)
		}
	}
}

// Each line of the table is swept when its time has come, and not before (decisions.md
// 8.2).
func TestJanitor(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store.db")
	synctest.Test(t, func(t *testing.T) {
		s := openServer(t, place{path: store}, slog.New(slog.DiscardHandler))
		s.retention.evidence = lifespan{years: 1}
		ref, err := s.db.Documents().Create(t.Context(), bytes.NewReader(document), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		signal, err := s.signals.Create(t.Context(), sandboxAccount)
		if err != nil {
			t.Fatal(err)
		}
		now := time.Now().UTC()
		err = s.db.InTx(t.Context(), func(ctx context.Context) error {
			return errors.Join(
				s.db.EvidenceLog().Record(ctx, storage.Entry{Subject: "request", Account: sandboxAccount, Kind: "signature.asked", At: now, Facts: json.RawMessage(`{}`)}),
				s.db.Requests().CreateRequest(ctx, signing.Request{ID: "request", Account: sandboxAccount, CreatedAt: now, Phase: signing.Ended}),
				s.db.Webhooks().AddAttempt(ctx, delivery.Attempt{Subscription: "subscription", At: now}),
				s.db.Requests().KeepCertificate(ctx, signing.KeptCertificate{Person: "person", Certificate: document, Expires: now.Add(2 * day)}),
				s.db.Pages().PutRecord(ctx, storage.Record{Key: []byte("visit"), Expires: now.Add(unkeptFor)}),
				s.db.Processes().CreateKey(ctx, portal.Key{Client: "client", Value: "key", CreatedAt: now, Process: "process"}),
				s.db.Processes().CreateProcess(ctx, portal.Process{
					ID: "process", Account: sandboxAccount, CreatedAt: now, Participants: []portal.Participant{{ID: "one", Link: portal.Link{InvitedAt: now, Hash: []byte("hash")}}},
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
			{unkeptFor - time.Second, left{true, true, true, true, true, true, true, true, true}},
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
			s.sweepOnce(t.Context())
			var got left
			_, err := s.db.Documents().Open(t.Context(), ref.ID)
			got.Document = there(t, err)
			_, err = s.db.Requests().Request(t.Context(), "request")
			got.Request = there(t, err)
			_, err = s.db.Processes().Key(t.Context(), "client", "key")
			got.Key = there(t, err)
			_, err = s.db.Pages().Record(t.Context(), []byte("visit"))
			got.Visit = there(t, err)
			process, err := s.db.Processes().ProcessByLink(t.Context(), []byte("hash"))
			got.Link = there(t, err) && !process.UnopenedUntil().IsZero()
			_, err = s.db.Requests().KeptCertificate(t.Context(), "person")
			got.Certificate = there(t, err)
			for range s.hooks.Attempts(t.Context(), "subscription") {
				got.Attempt = true
			}
			_, err = s.db.BusySignals().Signal(t.Context(), signal)
			got.Signal = there(t, err)
			entries, err := s.db.EvidenceLog().Entries(t.Context(), "request")
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
func TestJanitorGoesOnUntilNothingIsLeft(t *testing.T) {
	s := openServer(t, place{path: filepath.Join(t.TempDir(), "store.db")}, slog.New(slog.DiscardHandler))
	old := make([]storage.Entry, 2*sweepBatch+1)
	for i := range old {
		old[i] = storage.Entry{Subject: "request", Kind: "signature.asked", At: time.Now().AddDate(-10, 0, -1), Facts: json.RawMessage(`{}`)}
	}
	if err := s.db.InTx(t.Context(), func(ctx context.Context) error { return s.db.EvidenceLog().Record(ctx, old...) }); err != nil {
		t.Fatal(err)
	}
	s.sweepOnce(t.Context())
	if entries, err := s.db.EvidenceLog().EntriesAfter(t.Context(), 0, 10); err != nil || len(entries) != 0 {
		t.Errorf("%d entries are left, %v", len(entries), err)
	}
}
