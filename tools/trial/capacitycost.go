package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// spent is what signings cost: the servers' CPU time, and what the store counts.
type spent struct {
	cpu      time.Duration // of the servers
	database time.Duration // of the processes of a database on this machine; 0: not known
	commits  int64
	written  int64 // bytes: of the servers to files, or of the database to its log
	syncs    int64 // of the database's log
	postgres bool
}

func (c spent) minus(before spent) spent {
	c.cpu -= before.cpu
	c.database -= before.database
	c.commits -= before.commits
	c.written -= before.written
	c.syncs -= before.syncs
	return c
}

// spentEach is the cost of one signing.
type spentEach struct {
	spent
	n       int
	commits float64
}

func (c spent) each(n int) spentEach {
	e := spentEach{spent: c, n: max(n, 1)}
	e.cpu, e.database = (c.cpu / time.Duration(e.n)).Round(10*time.Microsecond), (c.database / time.Duration(e.n)).Round(10*time.Microsecond)
	e.commits = float64(c.commits) / float64(e.n)
	return e
}

func (e spentEach) rows() (rows [][2]any) {
	n := float64(e.n)
	rows = append(rows, [2]any{"commits a signing", fmt.Sprintf("%.2f", e.commits)})
	if !e.postgres {
		return append(rows, [2]any{"kB written a signing", fmt.Sprintf("%.1f", float64(e.written)/1e3/n)})
	}
	return append(rows,
		[2]any{"kB of the database's log a signing", fmt.Sprintf("%.1f", float64(e.written)/1e3/n)},
		[2]any{"syncs of the log a signing", fmt.Sprintf("%.2f", float64(e.syncs)/n)},
		[2]any{"CPU of the database a signing, if it is on this machine", e.database})
}

// costDuring returns what was spent from one time to another.
func (p *deployment) costDuring(ctx context.Context, from, to time.Time) (_ spent, err error) {
	count := p.costOfFile
	if !strings.HasPrefix(p.store, "bolt:") {
		db, err := pgx.Connect(ctx, p.store)
		if err != nil {
			return spent{}, err
		}
		defer db.Close(context.WithoutCancel(ctx))
		count = func() (spent, error) { return costOfDatabase(ctx, db) }
	}
	total := func() (spent, error) {
		c, err := count()
		for _, s := range p.servers {
			cpu, cpuErr := cpuTime(s.command.Process.Pid)
			c.cpu, err = c.cpu+cpu, errors.Join(err, cpuErr)
		}
		return c, err
	}
	pause(ctx, time.Until(from))
	before, err := total()
	if err != nil {
		return spent{}, err
	}
	pause(ctx, time.Until(to))
	after, err := total()
	return after.minus(before), errors.Join(ctx.Err(), err)
}

// costOfFile counts the commits of a bbolt file, and the bytes that its server has written.
func (p *deployment) costOfFile() (c spent, err error) {
	path, _, _ := strings.Cut(strings.TrimPrefix(p.store, "bolt:"), "?")
	if c.commits, err = boltCommits(path); err != nil {
		return c, err
	}
	for _, s := range p.servers {
		n, err := bytesWritten(s.command.Process.Pid)
		if err != nil {
			return c, err
		}
		c.written += n
	}
	return c, nil
}

// boltCommits returns the number of the last transaction that a bbolt file has committed. The file begins with two meta
// pages, which are written in turns; each has the number behind its header, the magic number, the version, the page size,
// the flags, the root bucket, the free list and the size.
func boltCommits(path string) (last int64, err error) {
	const magic, magicAt, pageSizeAt, numberAt = 0xED0CDAED, 16, 24, 64
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	page := int64(0)
	for i := range int64(2) {
		var meta [numberAt + 8]byte
		if _, err := file.ReadAt(meta[:], i*page); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if binary.NativeEndian.Uint32(meta[magicAt:]) != magic {
			return 0, fmt.Errorf("%s has no meta page at %d", path, i*page)
		}
		page = int64(binary.NativeEndian.Uint32(meta[pageSizeAt:]))
		last = max(last, int64(binary.NativeEndian.Uint64(meta[numberAt:])))
	}
	return last, nil
}

// costOfDatabase reads what a database counts. Its connections report at most once a second, so that a run is measured
// from about a second before its beginning to a second before its end.
func costOfDatabase(ctx context.Context, db *pgx.Conn) (c spent, err error) {
	c.postgres = true
	err = db.QueryRow(ctx, `SELECT xact_commit, wal_bytes::bigint, wal_sync
		FROM pg_stat_database, pg_stat_wal WHERE datname = current_database()`).Scan(&c.commits, &c.written, &c.syncs)
	if err != nil {
		return c, err
	}
	rows, err := db.Query(ctx, `SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()`)
	if err != nil {
		return c, err
	}
	pids, err := pgx.CollectRows(rows, pgx.RowTo[int])
	if err != nil {
		return c, err
	}
	for _, pid := range pids {
		if isPostgres(pid) {
			cpu, _ := cpuTime(pid) // it may have ended
			c.database += cpu
		}
	}
	return c, nil
}
