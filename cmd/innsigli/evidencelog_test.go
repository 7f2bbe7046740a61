package main

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/server/operator"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/evidence"
)

// A log of several pages, of 500 entries each, is exported whole and in its order, directly and over the socket.
func TestEvidenceOfManyPages(t *testing.T) {
	s := served(t)
	entries := make([]storage.Entry, 1001)
	for i := range entries {
		entries[i] = storage.Entry{
			Subject: fmt.Sprintf("request %d", i%7), Account: sandboxAccount, Kind: "signature.asked",
			At: time.Date(2026, time.June, 17, 12, 0, 0, i*1000, time.UTC), Facts: json.RawMessage(fmt.Sprintf(`{"number":%d}`, i)),
		}
	}
	if err := s.db.InTx(t.Context(), func(ctx context.Context) error { return s.db.EvidenceLog().Record(ctx, entries...) }); err != nil {
		t.Fatal(err)
	}
	for i := range entries {
		entries[i].Seq = int64(i + 1)
	}
	var third []storage.Entry
	for i := 3; i < len(entries); i += 7 {
		third = append(third, entries[i])
	}
	for name, o := range map[string]operator.Operator{"directly": s.operator(), "over the socket": operator.NewClient(s.store.Socket())} {
		for request, want := range map[string][]storage.Entry{"": entries, "request 3": third} {
			var got []storage.Entry
			each := func(r evidence.Record) error {
				if r.Entry != nil && r.Entry.Account != "" { // not the log's own, since the server chains it meanwhile
					e := *r.Entry
					e.Salt = nil
					got = append(got, e)
				}
				return nil
			}
			if err := o.Evidence(t.Context(), request, each); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %q: %s", name, request, diff)
			}
		}
	}
}
