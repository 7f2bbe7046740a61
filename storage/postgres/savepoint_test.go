package postgres

import (
	"context"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/sandbox"
)

// A deadlock is undone as far as the savepoint that it happened behind, and the transaction
// runs again as a whole.
func TestADeadlockBehindASavepoint(t *testing.T) {
	db, _ := opened(t, Options{})
	users := []sandbox.User{
		{ID: "1", Account: "a", Kennitala: "1", Phone: "p1"},
		{ID: "2", Account: "a", Kennitala: "2", Phone: "p2"},
	}
	for _, u := range users {
		if err := db.InTx(t.Context(), func(ctx context.Context) error { return db.Sandbox().CreateUser(ctx, u) }); err != nil {
			t.Fatal(err)
		}
	}
	var both sync.WaitGroup
	both.Add(2)
	var runs [2]int
	var group errgroup.Group
	for i, phone := range []string{"q2", "q1"} {
		group.Go(func() error {
			return db.InTx(t.Context(), func(ctx context.Context) error {
				runs[i]++
				for _, change := range []string{"q" + users[i].ID, phone} { // each waits for what the other holds
					u, err := db.Sandbox().User(ctx, "a", users[i].ID)
					if err != nil {
						return err
					}
					u.Phone = change
					if err := db.Sandbox().UpdateUser(ctx, u); err != nil {
						return err
					}
					if runs[i] == 1 && change != phone {
						both.Done()
						both.Wait()
					}
				}
				return nil
			})
		})
	}
	err := group.Wait()
	if runs[0]+runs[1] < 3 { // more, when the one that runs again is as fast as to meet the other once more
		t.Errorf("the transactions ran %v times: there was no deadlock, or nothing ran again (%v)", runs, err)
	}
}
