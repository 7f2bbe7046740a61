package bolt

import (
	"context"

	"go.etcd.io/bbolt"
)

// chunkIntake stores a document that comes in by a transaction for each step.
type chunkIntake struct {
	db *DB
	*creation
	durable int64 // bytes
}

func (in *chunkIntake) store(ctx context.Context, p []byte, last bool) error {
	err := in.db.InTx(ctx, func(ctx context.Context) error {
		return in.db.write(ctx, func(tx *bbolt.Tx) error {
			d, err := in.begun(tx)
			if err != nil {
				return err
			}
			if err := putSharedChunks(tx, in.id, in.durable, p); err != nil {
				return err
			}
			if d.Size = in.size; last {
				d = in.record()
			}
			return documentTable.update(tx, in.id, d)
		})
	})
	if err == nil {
		in.durable = in.size
	}
	return err
}

// begun is the document's record so far. It is there from the first bytes on, for Sweep
// to find should the rest never come; when Sweep has found it, the document is lost.
func (in *chunkIntake) begun(tx *bbolt.Tx) (documentRecord, error) {
	if in.durable > 0 {
		return documentTable.get(tx, in.id)
	}
	d := documentRecord{StartedAt: in.started}
	return d, documentTable.insert(tx, in.id, d)
}

func (in *chunkIntake) discard(ctx context.Context) {
	if in.durable == 0 {
		return
	}
	_ = in.db.InTx(ctx, func(ctx context.Context) error {
		return documents{in.db}.Delete(ctx, in.id)
	})
}
