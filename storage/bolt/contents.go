package bolt

import (
	"context"
	"time"

	"go.etcd.io/bbolt"
)

// contents keeps the bytes of documents: in chunks of the store's own file, or in a
// folder of files. What is a document, and how long it is, says documentTable.
type contents interface {
	// mark is what tells the place from others, as it stands there. A place with neither
	// mark nor document has the one expected: the store's first start ended before settle.
	mark(expected string) (string, error)
	// claim is the mark for the place of a new store; settle leaves it there, once the store
	// has it.
	claim() (string, error)
	settle(mark string) error
	// create takes in a new document.
	create(c *creation) intake
	// read fills p with a document's bytes from the offset on; storage.ErrNotFound.
	read(tx *bbolt.Tx, id string, offset int64, p []byte) error
	// append stores p as the document's bytes from its end on, durable when the
	// transaction is.
	append(tx *bbolt.Tx, id string, end int64, p []byte) error
	// remove removes a document's bytes with the transaction.
	remove(t *txn, id string) error
	// sweep removes bytes that were stored before the time given and that no document
	// has, and says of how many documents they were.
	sweep(ctx context.Context, before time.Time) (int, error)
	// hold keeps the bytes of documents that are removed until release is called.
	hold() (release func())
	close() error
}

// intake takes in one document.
type intake interface {
	// store adds bytes; the last ones complete the document.
	store(ctx context.Context, p []byte, last bool) error
	// discard removes what was stored of a document that will not be complete. Should
	// that fail, Sweep does it later.
	discard(ctx context.Context)
}
