package bolt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"go.etcd.io/bbolt"

	"github.com/innsigli/innsigli/storage"
)

// group is a bbolt transaction that several transactions share. They run in it one after the other, and each reads what
// those before it wrote. They are committed together: a commit flushes the disk twice, which takes longer than all of
// them. A transaction joins the group if it waits for its turn when the one before ends. If none waits, that one commits
// the group, so that a transaction without company is not delayed, and those that come during the commit are the next
// group.
//
// A transaction that fails undoes its own writes. If the commit fails, all transactions of the group fail with that
// error: also those that only read, or failed, because they read what was never stored.
//
// Only the transaction that has the turn uses a group, until done is closed.
type group struct {
	tx      *bbolt.Tx
	members int // transactions that joined
	writers int // of them, those that wrote, and wait for the commit
	size    int // bytes that they wrote
	// erased are the documents that its transactions have deleted and whose records are in memory; see created.
	erased map[string]bool
	// flushes are those of documents that transactions of the group appended to. They are done before the commit.
	flushes sync.WaitGroup
	done    chan struct{} // closed when the group has ended

	mu  sync.Mutex
	err error // why it was not committed
}

// A group with so many transactions, or bytes that they wrote, is committed though others wait.
const (
	maxGroupTransactions = 64
	maxGroupBytes        = 4 << 20
)

var (
	errCannotUndo = errors.New("bolt: buckets were made or deleted, which cannot be undone alone")
	// errPanicked is the error of a function that panicked.
	errPanicked = errors.New("bolt: the function of the transaction panicked")
)

// fail has the commit fail with an error.
func (g *group) fail(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.err = errors.Join(g.err, err)
}

// failure returns why the group cannot be committed, or was not.
func (g *group) failure() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

// isFull reports whether no other transaction may join the group.
func (g *group) isFull() bool {
	return g.members >= maxGroupTransactions || g.size >= maxGroupBytes || g.failure() != nil
}

// begin waits for a turn, and begins a transaction in the group of the one before, or in a new one.
func (db *DB) begin(ctx context.Context) (*txn, error) {
	if err := db.turns.take(ctx); err != nil {
		return nil, err
	}
	if db.group == nil {
		g, err := db.newGroup()
		if err != nil {
			db.turns.release()
			return nil, fmt.Errorf("bolt: beginning a transaction: %w", err)
		}
		db.group = g
	}
	db.group.members++
	log := &undoLog{isKept: db.group.writers > 0}
	return &txn{db: db, group: db.group, tx: &boltTx{db.group.tx, log, db.group.erased}}, nil
}

func (db *DB) newGroup() (*group, error) {
	if err := db.flushName(); err != nil {
		return nil, fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	tx, err := db.file.Load().Begin(true)
	if err != nil {
		return nil, translate(err)
	}
	return &group{tx: tx, erased: map[string]bool{}, done: make(chan struct{})}, nil
}

// end ends a transaction whose function returned an error, or nil. It returns when the transaction is durable or undone.
func (t *txn) end(err error) error {
	db, g := t.db, t.group
	err = t.leave(err)
	if g.writers == 0 { // it is the first, and stores nothing
		_ = t.closeFiles(false)
		db.endGroup()
		db.turns.release()
		return err
	}
	g.flushes.Add(1)
	passed := !g.isFull() && db.turns.pass()
	if flushed := t.closeFiles(err == nil); flushed != nil {
		g.fail(translate(flushed))
	}
	g.flushes.Done()
	if !passed && (g.isFull() || !db.turns.pass()) {
		db.endGroup()
		db.turns.release()
	}
	<-g.done
	if failed := g.failure(); failed != nil {
		return failed
	}
	return err
}

// leave ends the use of the group by a transaction: its writes belong to the group, or are undone. It returns the error
// of the transaction.
func (t *txn) leave(err error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	g, log := t.group, t.tx.log
	t.tx = nil
	if t.broken != nil {
		broken := fmt.Errorf("bolt: a part of the transaction failed: %w", t.broken)
		g.fail(broken)
		err = cmp.Or(err, broken)
	}
	if err == nil && t.failed != nil {
		err = fmt.Errorf("bolt: a nested transaction failed: %w", t.failed)
	}
	if err == nil && log.wrote {
		g.writers++
		g.size += log.size
	}
	if err != nil {
		for _, id := range t.erased {
			delete(g.erased, id)
		}
	}
	if err != nil && g.writers > 0 && t.broken == nil {
		if undone := guarded(log.undo); undone != nil {
			g.fail(fmt.Errorf("bolt: undoing a transaction that failed (%w): %w", err, undone))
		}
	}
	return err
}

// endGroup commits the group of the transaction that has the turn, or rolls it back if it failed or nothing was written.
// If bbolt panicked in the commit, the free pages that it took are not used again before the store is opened again.
func (db *DB) endGroup() {
	g := db.group
	db.group = nil
	g.flushes.Wait()
	if g.writers > 0 && g.failure() == nil {
		if err := db.commit(g.tx); err != nil {
			g.fail(fmt.Errorf("bolt: committing: %w", err))
		}
	}
	if g.failure() == nil {
		for id := range g.erased {
			db.folder.created.remove(id)
		}
	}
	_ = g.tx.Rollback() // after a commit it answers that there is nothing to undo
	close(g.done)
}

// lock waits for a turn without a group: nothing is written that is not committed, until unlock is called.
func (db *DB) lock(ctx context.Context) error {
	if err := db.turns.take(ctx); err != nil {
		return err
	}
	if db.group != nil {
		db.endGroup()
	}
	return nil
}

func (db *DB) unlock() { db.turns.release() }

// turns are taken one at a time, in the order of waiting. The zero value is ready for use.
type turns struct {
	mu      sync.Mutex
	taken   bool
	waiting []chan struct{} // closed when it is the turn of that waiter
}

// take waits for a turn, or for the end of the context.
func (t *turns) take(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t.mu.Lock()
	if !t.taken {
		t.taken = true
		t.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	t.waiting = append(t.waiting, turn)
	t.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.Index(t.waiting, turn)
	if i < 0 {
		return nil // the turn was passed to this waiter meanwhile
	}
	t.waiting = slices.Delete(t.waiting, i, i+1)
	return ctx.Err()
}

// pass gives the turn of the caller to the first that waits, and reports whether any does. If none does, the caller
// still has the turn.
func (t *turns) pass() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) == 0 {
		return false
	}
	close(t.waiting[0])
	t.waiting = slices.Delete(t.waiting, 0, 1)
	return true
}

// release ends the turn of the caller.
func (t *turns) release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) == 0 {
		t.taken = false
		return
	}
	close(t.waiting[0])
	t.waiting = slices.Delete(t.waiting, 0, 1)
}
