package postgres

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/signing"
)

// Lists are read in parts, which meet without a gap also where records have the same time.
// That each list is whole shows in storage/transfer.
func TestALongList(t *testing.T) {
	db, _ := opened(t, Options{})
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var want []string
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		want = nil
		for i := range 600 {
			id := fmt.Sprintf("%03d", (i*7)%600)
			want = append(want, id)
			err := db.Requests().CreateRequest(ctx, signing.Request{ID: id, CreatedAt: at, Level: 1})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for r, err := range db.AllRequests(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r.ID)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the list (-want +got):\n%s", diff)
	}
	for range db.AllRequests(t.Context()) {
		break // a reader may stop
	}
}

func TestAListEndsWithItsError(t *testing.T) {
	db, _ := opened(t, Options{})
	db.Close()
	n := 0
	for _, err := range db.AllTokens(t.Context()) {
		if n++; !errors.Is(err, ErrClosed) {
			t.Errorf("AllTokens: %v", err)
		}
	}
	if n != 1 {
		t.Errorf("%d times", n)
	}
}
