package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/innsigli/innsigli/storage"
)

// chunkSize is how many bytes of a document are one row, so that a row fills a page of
// 8192 bytes: 24 for the page's header and 4 for the row's place in it, 24 for the row's
// header, 16 for its key and 4 for the length leave 8120. Some are left over, because
// a page whose rows were deleted keeps their places for a while, 4 bytes each.
const chunkSize = 8096

// putChunks stores p as the document's bytes from the offset on, by COPY: an INSERT would
// have to hold all of p once more.
func putChunks(ctx context.Context, tx pgx.Tx, seq, offset int64, p []byte) error {
	if len(p) == 0 {
		return nil
	}
	next := pgx.CopyFromFunc(func() (row []any, err error) {
		if len(p) == 0 {
			return nil, nil
		}
		n := min(len(p), chunkSize)
		row = []any{seq, offset, p[:n]}
		offset, p = offset+int64(n), p[n:]
		return row, nil
	})
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"document_chunks"}, []string{"document", "start", "content"}, next)
	return err
}

// readChunks fills p with the document's bytes from the offset on.
func readChunks(ctx context.Context, q querier, seq, offset int64, p []byte) error {
	end := offset + int64(len(p))
	rows, err := q.Query(ctx, `SELECT start, content FROM document_chunks
		WHERE document = $1 AND start > $2 AND start < $3 ORDER BY start`, seq, offset-chunkSize, end)
	if err != nil {
		return err
	}
	var start int64
	var chunk pgtype.DriverBytes
	at := offset
	_, err = pgx.ForEachRow(rows, []any{&start, &chunk}, func() error {
		skip := at - start
		if skip >= int64(len(chunk)) && at == offset {
			return nil // a short one before the first byte that is wanted
		}
		if skip < 0 || skip >= int64(len(chunk)) {
			return fmt.Errorf("postgres: document %d has no byte %d", seq, at)
		}
		at += int64(copy(p[at-offset:], chunk[skip:]))
		return nil
	})
	switch {
	case err != nil:
		return err
	case at == offset:
		return storage.ErrNotFound
	case at < end:
		return fmt.Errorf("postgres: document %d ends at %d", seq, at)
	}
	return nil
}
