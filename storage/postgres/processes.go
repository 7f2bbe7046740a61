package postgres

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/innsigli/innsigli/pades/inspect"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

var processTable = table[processRow]{
	name: "processes",
	columns: []string{
		"id", "account", "origin", "created_at", "file_name", "document", "participants", "turn", "turns", "waits_until", "unopened_until",
		"ended_at", "warnings",
	},
	fields: func(p *processRow) []any {
		return []any{
			&p.ID, &p.Account, (*string)(&p.Origin), &p.CreatedAt, &p.FileName, &p.Document, encoded[[]portal.Participant]{&p.Participants},
			encoded[*portal.Turn]{&p.Turn}, &p.Turns, (*moment)(&p.waitsUntil), (*moment)(&p.unopenedUntil),
			(*moment)(&p.EndedAt), encoded[[]inspect.Warning]{&p.Warnings},
		}
	},
}

// processRow is a stored process, with the times of its indexes.
type processRow struct {
	portal.Process
	waitsUntil, unopenedUntil time.Time
}

func storedProcess(p portal.Process) processRow {
	return processRow{p, p.WaitsUntil(), p.UnopenedUntil()}
}

func (r processRow) process() portal.Process { return r.Process }

// processes is the portal.Store of a DB.
type processes struct{ db *DB }

var _ portal.Store = processes{}

// Processes returns the store of signing processes and of the idempotency keys with which they were created.
func (db *DB) Processes() portal.Store { return processes{db} }

func (s processes) CreateProcess(ctx context.Context, p portal.Process) error {
	err := s.db.write(ctx, func(tx pgx.Tx) error { return processTable.insert(ctx, tx, storedProcess(p)) })
	if err != nil {
		return err
	}
	return s.link(ctx, p)
}

func (s processes) UpdateProcess(ctx context.Context, p portal.Process) error {
	err := s.db.write(ctx, func(tx pgx.Tx) error { return processTable.replace(ctx, tx, storedProcess(p)) })
	if err != nil {
		return err
	}
	return s.link(ctx, p)
}

func (s processes) DeleteProcess(ctx context.Context, id string) error {
	err := s.db.write(ctx, func(tx pgx.Tx) error { return processTable.remove(ctx, tx, id) })
	if err != nil {
		return err
	}
	return s.link(ctx, portal.Process{ID: id})
}

// link stores the links by which the process is found, and deletes its earlier ones.
func (s processes) link(ctx context.Context, p portal.Process) error {
	hashes := append([][]byte{}, p.LinkHashes()...) // which is not NULL
	return s.db.queueExec(ctx, `WITH used AS (DELETE FROM process_links WHERE process = $1 AND hash <> ALL ($2))
		INSERT INTO process_links (process, hash) SELECT $1, unnest($2::bytea[]) ON CONFLICT DO NOTHING`, p.ID, hashes)
}

func (s processes) Process(ctx context.Context, id string) (portal.Process, error) {
	row, err := find(ctx, s.db, processTable, "id = $1", id)
	return row.process(), err
}

// ProcessByLink checks the link of the process that it has found: a transaction for which it waited may have
// replaced the link.
func (s processes) ProcessByLink(ctx context.Context, hash []byte) (portal.Process, error) {
	row, err := find(ctx, s.db, processTable, "id IN (SELECT process FROM process_links WHERE hash = $1 LIMIT 1)", hash)
	if err != nil {
		return portal.Process{}, err
	}
	if !slices.ContainsFunc(row.LinkHashes(), func(one []byte) bool { return bytes.Equal(one, hash) }) {
		return portal.Process{}, storage.ErrNotFound
	}
	return row.process(), nil
}

// Waiting locks nothing: the caller only counts the processes, of which other transactions may change many.
func (s processes) Waiting(ctx context.Context, account string, after time.Time, limit int) ([]portal.Process, error) {
	return s.list(ctx, "account = $1 AND waits_until > $2 LIMIT $3", account, after, max(limit, 0))
}

func (s processes) Unopened(ctx context.Context, until time.Time, limit int) ([]portal.Process, error) {
	return s.list(ctx, "unopened_until <= $1 ORDER BY unopened_until, seq LIMIT $2", until, max(limit, 0))
}

// ListProcesses, like Overdue and Ended, locks nothing: its callers read a process again before they change it.
func (s processes) ListProcesses(ctx context.Context, of portal.Listing, after portal.Position, limit int) ([]portal.Process, error) {
	condition, args := "account = $1 AND origin = $2 AND (created_at, id) > ($3, $4)", []any{of.Account, string(of.Origin), after.CreatedAt, after.ID}
	if of.Status != "" {
		condition, args = condition+" AND status = $5", append(args, string(of.Status))
	}
	args = append(args, max(limit, 0))
	return s.list(ctx, fmt.Sprintf("%s ORDER BY created_at, id LIMIT $%d", condition, len(args)), args...)
}

func (s processes) Overdue(ctx context.Context, account string, before time.Time) iter.Seq2[portal.Process, error] {
	order := keysetOrder{where: "status = 'Waiting' AND waits_until < $1", args: []any{before}, order: []string{"waits_until", "seq"}}
	if account != "" {
		order.where, order.args = order.where+" AND account = $2", append(order.args, account)
	}
	return some(ctx, s.db, processTable, processRow.process, order)
}

func (s processes) Ended(ctx context.Context, before time.Time, limit int) ([]portal.Process, error) {
	return s.list(ctx, "status <> 'Waiting' AND coalesce(ended_at, created_at) < $1 ORDER BY coalesce(ended_at, created_at), seq LIMIT $2", before, max(limit, 0))
}

func (s processes) list(ctx context.Context, condition string, args ...any) ([]portal.Process, error) {
	rows, err := list(ctx, s.db, processTable, condition, args...)
	return convert(rows, processRow.process), err
}

var processKeyTable = table[portal.Key]{
	name:    "process_keys",
	columns: []string{"client", "value", "fingerprint", "created_at", "process", "until"},
	fields: func(k *portal.Key) []any {
		return []any{&k.Client, &k.Value, &k.Fingerprint, &k.CreatedAt, &k.Process, (*moment)(&k.Until)}
	},
}

func (s processes) CreateKey(ctx context.Context, k portal.Key) error {
	return s.db.write(ctx, func(tx pgx.Tx) error { return processKeyTable.insert(ctx, tx, k) })
}

func (s processes) UpdateKey(ctx context.Context, k portal.Key) error {
	return s.db.write(ctx, func(tx pgx.Tx) error {
		if !storable(k.Value) {
			return storage.ErrNotFound
		}
		updated, err := processKeyTable.update(ctx, tx, k, "value = "+processKeyTable.parameter("value"))
		if err == nil && !updated {
			return storage.ErrNotFound
		}
		return err
	})
}

func (s processes) Key(ctx context.Context, client, value string) (portal.Key, error) {
	return find(ctx, s.db, processKeyTable, "client = $1 AND value = $2", client, value)
}

func (s processes) DeleteKey(ctx context.Context, client, value string) error {
	return s.db.write(ctx, func(tx pgx.Tx) error {
		if !storable(client, value) {
			return nil
		}
		_, err := tx.Exec(ctx, "DELETE FROM process_keys WHERE client = $1 AND value = $2", client, value)
		return err
	})
}

func (s processes) DeleteKeys(ctx context.Context, until time.Time, limit int) (int, error) {
	return deleteFirst(ctx, s.db, processKeyTable, "created_at", "<=", until, limit)
}
