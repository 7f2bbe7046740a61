package bolt

import (
	"bytes"
	"context"
	"iter"
	"time"

	"github.com/innsigli/innsigli/pades/inspect"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

var (
	processesByLink = index[processRecord]{bucket: "portal.process.link", keys: processRecord.links}

	// waitingProcesses has the processes of overdueProcesses, account by account.
	waitingProcesses = index[processRecord]{bucket: "portal.process.waiting", key: func(r processRecord) []byte {
		until := overdueProcesses.key(r)
		if until == nil {
			return nil
		}
		return append(text(r.Account), until...)
	}}

	unopenedProcesses = index[processRecord]{bucket: "portal.process.unopened", key: func(r processRecord) []byte {
		p := r.process()
		if p.UnopenedUntil().IsZero() {
			return nil
		}
		return instant(p.UnopenedUntil())
	}}

	// listedProcesses and processesByStatus have the processes of an account and origin in the order of creation.
	listedProcesses = index[processRecord]{bucket: "portal.process.listed", key: func(r processRecord) []byte {
		return append(listOf(portal.Listing{Account: r.Account, Origin: r.Origin}), positionKey(r.CreatedAt, r.ID)...)
	}}

	processesByStatus = index[processRecord]{bucket: "portal.process.status", key: func(r processRecord) []byte {
		p := r.process()
		return append(listOf(portal.Listing{Account: r.Account, Origin: r.Origin, Status: p.NotedStatus()}), positionKey(r.CreatedAt, r.ID)...)
	}}

	overdueProcesses = index[processRecord]{bucket: "portal.process.overdue", key: func(r processRecord) []byte {
		p := r.process()
		if p.NotedStatus() != portal.Waiting {
			return nil
		}
		return instant(p.WaitsUntil())
	}}

	endedProcesses = index[processRecord]{bucket: "portal.process.ended", key: func(r processRecord) []byte {
		p := r.process()
		switch {
		case p.NotedStatus() == portal.Waiting:
			return nil
		case p.EndedAt.IsZero():
			return instant(p.CreatedAt)
		}
		return instant(p.EndedAt)
	}}

	processTable = table[processRecord]{bucket: "portal.process", indexes: []index[processRecord]{
		processesByLink, waitingProcesses, unopenedProcesses, listedProcesses, processesByStatus, overdueProcesses, endedProcesses,
	}}
)

// listOf is what the keys of a list begin with.
func listOf(l portal.Listing) []byte {
	key := append(text(l.Account), text(string(l.Origin))...)
	if l.Status != "" {
		key = append(key, text(string(l.Status))...)
	}
	return key
}

// positionKey sorts as the position does. IDs have no byte 0, so that one ends the ID.
func positionKey(created time.Time, id string) []byte {
	return append(append(instant(created), id...), 0)
}

type processRecord struct {
	ID           string               `json:"id"`
	Account      string               `json:"account"`
	Origin       portal.Origin        `json:"origin"`
	CreatedAt    time.Time            `json:"createdAt"`
	FileName     string               `json:"fileName"`
	Document     string               `json:"document"`
	Participants []portal.Participant `json:"participants"`
	Turn         *portal.Turn         `json:"turn,omitempty"`
	Turns        int64                `json:"turns,omitempty"`
	EndedAt      time.Time            `json:"endedAt,omitzero"`
	Warnings     []inspect.Warning    `json:"warnings,omitempty"`
}

func (r processRecord) process() portal.Process { return portal.Process(r) }

func (r processRecord) links() (keys [][]byte) {
	p := r.process()
	for _, hash := range p.LinkHashes() {
		keys = append(keys, text(string(hash)))
	}
	return keys
}

// processes is the portal.Store of a DB.
type processes struct{ db *DB }

var _ portal.Store = processes{}

// Processes is the store of signing processes and of the idempotency keys they were created with.
func (db *DB) Processes() portal.Store { return processes{db} }

func (s processes) CreateProcess(ctx context.Context, p portal.Process) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		return processTable.insert(tx, p.ID, processRecord(p))
	})
}

func (s processes) UpdateProcess(ctx context.Context, p portal.Process) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		return processTable.update(tx, p.ID, processRecord(p))
	})
}

func (s processes) DeleteProcess(ctx context.Context, id string) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		return processTable.remove(tx, id)
	})
}

func (s processes) Process(ctx context.Context, id string) (portal.Process, error) {
	record, err := read(ctx, s.db, processTable, id)
	return record.process(), err
}

func (s processes) ProcessByLink(ctx context.Context, hash []byte) (portal.Process, error) {
	list, err := s.first(ctx, processesByLink, under(text(string(hash))), 1)
	if err != nil {
		return portal.Process{}, err
	}
	if len(list) == 0 {
		return portal.Process{}, storage.ErrNotFound
	}
	return list[0], nil
}

func (s processes) Waiting(ctx context.Context, account string, after time.Time, limit int) ([]portal.Process, error) {
	of := text(account)
	from := bytes.Join([][]byte{of, instant(after.Add(time.Microsecond))}, nil)
	return s.first(ctx, waitingProcesses, span{from: from, to: under(of).to}, limit)
}

func (s processes) Unopened(ctx context.Context, until time.Time, limit int) ([]portal.Process, error) {
	return s.first(ctx, unopenedProcesses, upTo(until), limit)
}

func (s processes) ListProcesses(ctx context.Context, of portal.Listing, after portal.Position, limit int) ([]portal.Process, error) {
	ix, in := processesByStatus, under(listOf(of))
	if of.Status == "" {
		ix = listedProcesses
	}
	in.from = append(listOf(of), positionKey(after.CreatedAt, after.ID)...)
	in.from[len(in.from)-1] = 1 // behind all keys of that ID
	return s.first(ctx, ix, in, limit)
}

func (s processes) Overdue(ctx context.Context, account string, earlier time.Time) iter.Seq2[portal.Process, error] {
	ix, in := overdueProcesses, before(earlier)
	if account != "" {
		ix, in = waitingProcesses, span{from: text(account), to: append(text(account), instant(earlier)...)}
	}
	return within(ctx, s.db, processTable, ix, in, processRecord.process)
}

func (s processes) Ended(ctx context.Context, earlier time.Time, limit int) ([]portal.Process, error) {
	return s.first(ctx, endedProcesses, before(earlier), limit)
}

func (s processes) first(ctx context.Context, ix index[processRecord], in span, limit int) (list []portal.Process, err error) {
	records, err := first(ctx, s.db, processTable, ix, in, limit)
	return convert(records, processRecord.process), err
}
