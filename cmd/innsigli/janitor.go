package main

import (
	"context"
	"fmt"
	"time"
)

const (
	// sweepEvery is how often what has outlived its purpose is removed.
	sweepEvery = time.Minute
	// unkeptFor is how long a document may take from its first byte to its request.
	unkeptFor = time.Hour
	// sweepBatch is how many entries of the evidence log, kept certificates, or records of the signing
	// page, one transaction removes.
	sweepBatch = 1000
)

// chore removes a bounded number of what nobody needs any more, and says how many there
// were; when there were any, there may be more.
type chore struct {
	what string
	do   func(context.Context) (int, error)
}

// chores are the retention table (decisions.md 8.2). Documents are not in it: one goes with the
// delivery of its request, or with its process, which stays until it is deleted.
func (s *server) chores() []chore {
	return []chore{
		{"documents that no request was started with", s.sweepDocuments},
		{"requests and idempotency keys", s.signing.Sweep},
		{"kept certificates", s.sweepCertificates},
		{"access tokens", s.accounts.Sweep},
		{"busy signals", s.signals.Sweep},
		{"links of processes that expired unopened, and their idempotency keys", s.processes.Sweep},
		{"what the signing page remembers", s.sweepPages},
		{"webhook attempts and dropped events", s.sweepWebhooks},
		{"evidence log", s.sweepEvidence},
		{"how often clients have called", s.sweepBuckets},
	}
}

// sweepOnce does all chores. Several servers may do them at once on one store.
func (s *server) sweepOnce(ctx context.Context) {
	for _, c := range s.chores() {
		if err := c.untilDone(ctx); err != nil && ctx.Err() == nil {
			s.log.Error("sweeping failed", "what", c.what, "error", err)
		}
	}
}

func (c chore) untilDone(ctx context.Context) error {
	for ctx.Err() == nil {
		if n, err := c.do(ctx); n == 0 || err != nil {
			return err
		}
	}
	return nil
}

func (s *server) sweepDocuments(ctx context.Context) (int, error) {
	return s.db.Documents().Sweep(ctx, time.Now().Add(-unkeptFor))
}

func (s *server) sweepEvidence(ctx context.Context) (n int, err error) {
	err = s.db.InTx(ctx, func(ctx context.Context) error {
		n, err = s.db.EvidenceLog().DeleteEntries(ctx, s.retention.evidence.before(time.Now()), sweepBatch)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("removing entries: %w", err)
	}
	return n, nil
}

func (s *server) sweepWebhooks(ctx context.Context) (int, error) {
	return s.hooks.Sweep(ctx, s.retention.attempts.before(time.Now()))
}

// sweepCertificates removes those that are of no more use because they have expired.
func (s *server) sweepCertificates(ctx context.Context) (n int, err error) {
	err = s.db.InTx(ctx, func(ctx context.Context) error {
		n, err = s.db.Requests().DropCertificates(ctx, time.Now(), sweepBatch)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("dropping certificates: %w", err)
	}
	return n, nil
}

// sweepPages removes visits that are over, and counts of what was begun too long ago to matter.
func (s *server) sweepPages(ctx context.Context) (n int, err error) {
	err = s.db.InTx(ctx, func(ctx context.Context) error {
		n, err = s.db.Pages().DeleteRecords(ctx, time.Now(), sweepBatch)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("removing records of the signing page: %w", err)
	}
	return n, nil
}

// every does something at the start and again and again.
func every(ctx context.Context, pause time.Duration, do func(context.Context)) error {
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for {
		do(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}
