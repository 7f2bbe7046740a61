package server

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/tsp"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/evidence"
)

const (
	// chainInterval is the time between two looks at the evidence log for entries to chain.
	chainInterval = 5 * time.Second
	// checkpointInterval is the time between two timestamps over the chain.
	checkpointInterval = time.Hour
	// checkpointRetry is how often the server asks whether a checkpoint is due, and so also the pause after a timestamp that
	// failed.
	checkpointRetry = 5 * time.Minute
	// checkpointTime bounds a timestamp over the chain when the server stops.
	checkpointTime = 10 * time.Second
	// pruneInterval is the time between two prunings of the evidence log, and between two messages that the server may
	// not prune it.
	pruneInterval = 24 * time.Hour
)

// evidenceKeeper chains the evidence log, has checkpoints timestamped and prunes old entries (spec 7.3).
type evidenceKeeper struct {
	chain       evidence.Chain
	log         *slog.Logger            // the server's log
	timestamper func() ades.Timestamper // returns the current timestamp authority; nil if there is none
	retention   Period                  // of entries

	state          evidence.State // of the chain, after the last call of extend
	checkpointAt   time.Time      // of the last attempt at a checkpoint
	loggedHead     evidence.Head  // the last head in the server's log
	loggedAt       time.Time      // when loggedHead was logged
	lastError      string         // of chaining, so that the same error is logged once; "" after a success
	pruneRefusedAt time.Time      // when the store last did not let the server prune
}

func newEvidenceKeeper(c Config, timestamper func() ades.Timestamper) *evidenceKeeper {
	return &evidenceKeeper{
		chain: evidence.Chain{Log: c.Backend.EvidenceLog(), Tx: c.Backend}, log: c.Log,
		timestamper: timestamper, retention: c.Retention.Evidence,
	}
}

// extend chains new entries. After an error, state has the batches that were chained before it.
func (k *evidenceKeeper) extend(ctx context.Context) (err error) {
	k.state, err = k.chain.Extend(ctx, k.state)
	return err
}

// keep chains new entries, and has a checkpoint timestamped if one is due.
func (k *evidenceKeeper) keep(ctx context.Context) {
	if err := k.extend(ctx); err != nil {
		if ctx.Err() == nil && err.Error() != k.lastError {
			k.lastError = err.Error()
			k.log.ErrorContext(ctx, "chaining the evidence log failed", "error", err)
		}
		return
	}
	k.lastError = ""
	if now := time.Now(); now.Sub(k.checkpointAt) >= checkpointRetry {
		k.checkpointAt = now
		k.checkpoint(ctx, checkpointInterval)
	}
}

// checkpoint has the head of the chain timestamped unless a checkpoint is younger than interval, and logs the head, so that
// an archive of the server's log shows later whether the chain was cut off. Without a timestamp authority, or while it does
// not answer, the head is logged alone.
func (k *evidenceKeeper) checkpoint(ctx context.Context, interval time.Duration) {
	timestamped, logDue := false, false
	isNew := k.state.Head != k.loggedHead
	if timestamper := k.timestamper(); timestamper == nil {
		logDue = isNew && time.Since(k.loggedAt) >= interval
	} else {
		var err error
		timestamped, err = k.chain.Checkpoint(ctx, k.state, interval, func(ctx context.Context, sum []byte) ([]byte, error) {
			token, err := tsp.Obtain(ctx, timestamper, crypto.SHA256, sum)
			if err != nil {
				return nil, fmt.Errorf("getting a timestamp over the chain of the evidence log: %w", err)
			}
			return token.Raw, nil
		})
		if err != nil && ctx.Err() == nil {
			k.log.WarnContext(ctx, "checkpoint of the evidence log postponed", "error", err)
		}
		logDue = timestamped
		if err != nil {
			logDue = isNew // without a timestamp
		}
	}
	if logDue {
		k.loggedHead, k.loggedAt = k.state.Head, time.Now()
		k.log.InfoContext(ctx, "evidence log chained", "entries", k.state.Total, "head", k.state.Head.String(), "timestamped", timestamped)
	}
}

// stop chains what was recorded last, with a checkpoint, when the server stops.
func (k *evidenceKeeper) stop(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkpointTime)
	defer cancel()
	err := k.extend(ctx)
	if err == nil {
		k.checkpoint(ctx, 0)
		err = k.extend(ctx) // chains the entry that the checkpoint added
	}
	if err != nil {
		k.log.ErrorContext(ctx, "chaining the evidence log failed", "error", err)
	}
}

// prune deletes all entries that are older than the retention time. The evidence log lets it do so once in pruneInterval.
// prune is a [cleanupTask], which is repeated until it returns 0, and returns 0 always: one call leaves nothing to repeat.
func (k *evidenceKeeper) prune(ctx context.Context) (int, error) {
	now := time.Now()
	if now.Sub(k.pruneRefusedAt) < pruneInterval {
		return 0, nil
	}
	_, err := k.chain.Prune(ctx, k.retention.before(now), pruneInterval)
	if errors.Is(err, storage.ErrNotPermitted) {
		k.pruneRefusedAt = now
		k.log.WarnContext(ctx, "entries of the evidence log are due, and the server may not delete them: run innsigli evidence prune")
		return 0, nil
	}
	return 0, err
}
