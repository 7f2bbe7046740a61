package bolt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"go.etcd.io/bbolt"

	"github.com/innsigli/innsigli/storage"
)

// group is a bbolt transaction that several transactions share. They run in it one after the other, and each reads what
// the transactions before it wrote. They are committed together: a commit flushes the disk twice, which takes longer than
// the transactions. A transaction joins the group if it waits for its turn when the transaction before ends. If no
// transaction waits, the one that ends commits the group, so that a single transaction is not delayed. Transactions that
// begin during the commit are the next group. A first transaction that wrote nothing or failed ends the group also if
// others wait: the group is rolled back, and the transaction waits for no commit.
//
// A transaction that fails after others wrote undoes its own writes. If the commit fails, all transactions of the group fail
// with the error of the commit: also those that only read or failed, because they may have read data that was never stored.
type group struct {
	// Only the transaction that has the turn uses these:
	tx      *bbolt.Tx
	members int // transactions that joined
	writers int // of these, the transactions that wrote and wait for the commit
	size    int // bytes that the writers wrote
	// erased are the documents that the group has deleted of those whose records are in memory (folder.created). Their records
	// are removed from there after the commit.
	erased map[string]bool

	// All transactions of the group use the following, also after their turn.

	// flushes counts the transactions that may still flush the documents that they appended to. The commit waits for them.
	flushes sync.WaitGroup
	done    chan struct{} // closed when the group was committed or rolled back

	mu  sync.Mutex
	err error // why the group cannot be committed, or was not; nil: no reason yet
}

// A group that has this many transactions, or in which they wrote this many bytes, is committed even if other transactions
// wait.
const (
	maxGroupTransactions = 64
	maxGroupBytes        = 4 << 20
)

// fail makes the group fail with an error: it is rolled back instead of committed.
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

// isComplete reports whether no other transaction may join the group. The caller has the turn.
func (g *group) isComplete() bool {
	return g.members >= maxGroupTransactions || g.size >= maxGroupBytes || g.failure() != nil
}

// begin waits for a turn, and begins a transaction in the group of the transaction before, or in a new group.
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
	// Without writers before it, a transaction that fails needs no undo: end rolls the group back.
	log := &undoLog{needsUndo: db.group.writers > 0}
	return &txn{db: db, group: db.group, tx: &boltTx{Tx: db.group.tx, log: log, erased: db.group.erased}}, nil
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

// end ends a transaction whose function returned err, which may be nil. It returns when the transaction is durable or
// undone. The caller has the turn; end passes the turn to the next transaction of the group, or ends the group and releases
// the turn.
func (t *txn) end(err error) error {
	db, g := t.db, t.group
	err = t.settle(err)
	if g.writers == 0 { // nothing to commit
		_ = t.closeFiles()
		db.endGroup()
		db.turns.release()
		return err
	}
	g.flushes.Add(1)
	passed := t.passTurn()
	var fileErr error
	if err == nil {
		fileErr = t.flushFiles()
	}
	if fileErr = errors.Join(fileErr, t.closeFiles()); fileErr != nil {
		g.fail(translate(fileErr))
	}
	g.flushes.Done()
	// Try again to pass the turn: another transaction may have begun to wait while the files were flushed.
	if !passed && !t.passTurn() {
		db.endGroup()
		db.turns.release()
	}
	<-g.done
	if groupErr := g.failure(); groupErr != nil {
		return groupErr // also in place of err: see group
	}
	return err
}

// passTurn passes the turn to a transaction that waits, and reports whether there is one and the group takes it. The caller
// has the turn; after true, it no longer has.
func (t *txn) passTurn() bool { return !t.group.isComplete() && t.db.turns.pass() }

// settle ends the use of the group by a transaction: its writes belong to the group, or are undone. It returns the error
// of the transaction.
func (t *txn) settle(err error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	g, log := t.group, t.tx.log
	t.tx = nil
	if t.panicErr != nil {
		groupErr := fmt.Errorf("bolt: a part of the transaction failed: %w", t.panicErr)
		g.fail(groupErr)
		err = cmp.Or(err, groupErr)
	}
	if err == nil && t.nestedErr != nil {
		err = fmt.Errorf("bolt: a nested transaction failed: %w", t.nestedErr)
	}
	if err == nil {
		if log.wrote {
			g.writers++
			g.size += log.size
		}
		return nil
	}
	for _, id := range t.erased { // the deletions are undone
		delete(g.erased, id)
	}
	if g.writers == 0 || t.panicErr != nil {
		return err // the whole group is rolled back
	}
	if undoErr := guarded(log.undo); undoErr != nil {
		g.fail(fmt.Errorf("bolt: undoing a transaction that failed (%w): %w", err, undoErr))
	}
	return err
}

// endGroup commits the group of the transaction that has the turn, or rolls it back if it failed or has no writers.
func (db *DB) endGroup() {
	g := db.group
	db.group = nil
	g.flushes.Wait()
	if g.writers > 0 && g.failure() == nil {
		if err := db.commit(g.tx); err != nil {
			g.fail(fmt.Errorf("bolt: committing: %w", err))
		}
	}
	if g.failure() == nil { // the deletions are final
		for id := range g.erased {
			db.folder.created.remove(id)
		}
	}
	_ = g.tx.Rollback() // after a commit it returns an error, and does nothing
	close(g.done)
}

// pause waits for a turn, and commits the group whose last transaction passed the turn on. Until resume is called, no
// transaction runs, and no write waits for a commit.
func (db *DB) pause(ctx context.Context) error {
	if err := db.turns.take(ctx); err != nil {
		return err
	}
	if db.group != nil {
		db.endGroup()
	}
	return nil
}

func (db *DB) resume() { db.turns.release() }
