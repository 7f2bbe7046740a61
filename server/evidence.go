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
	// chainInterval is how often tick is called.
	chainInterval = 5 * time.Second
	// checkpointInterval is the time between two timestamps over the chain.
	checkpointInterval = time.Hour
	// checkpointPoll is how often tick makes a checkpoint if one is due. A timestamp that failed is tried again then.
	checkpointPoll = 5 * time.Minute
	// chainStopTimeout bounds the last chaining and checkpoint, when the server stops.
	chainStopTimeout = 10 * time.Second
	// pruneInterval is the time between two prunings of the evidence log, and the pause after the store refused one.
	pruneInterval = 24 * time.Hour
)

// evidenceKeeper chains the evidence log: it adds the digests of new entries to the hash chain. It also has checkpoints
// timestamped, and prunes old entries (spec 7.3).
//
// One goroutine calls tick, another one prune, and stop is called when both have ended. The first four fields do not
// change, and each of the others is used by one goroutine at a time.
type evidenceKeeper struct {
	chain       evidence.Chain
	log         *slog.Logger            // the server's log
	timestamper func() ades.Timestamper // returns the current timestamp authority; nil if there is none
	retention   Period                  // of entries

	// Of tick and stop:
	state             evidence.State // of the chain, after the last call of extend
	checkpointTriedAt time.Time      // when tick last called checkpoint
	loggedHead        evidence.Head  // the last head in the server's log
	loggedAt          time.Time      // when loggedHead was logged
	chainError        string         // of the last tick, which would else be logged in each chainInterval; "" after a success

	// Of prune:
	refusedAt time.Time // when the store last did not let the server prune
}

func newEvidenceKeeper(c Config, timestamper func() ades.Timestamper) *evidenceKeeper {
	return &evidenceKeeper{
		chain: evidence.Chain{Log: c.Backend.EvidenceLog(), Tx: c.Backend}, log: c.Log,
		timestamper: timestamper, retention: c.Retention.Evidence,
	}
}

// extend chains new entries. After an error, state has the batches that were chained before it, and the next call continues
// there.
func (k *evidenceKeeper) extend(ctx context.Context) (err error) {
	k.state, err = k.chain.Extend(ctx, k.state)
	return err
}

// tick chains new entries, and makes a checkpoint if one is due. It is called once in each chainInterval.
func (k *evidenceKeeper) tick(ctx context.Context) {
	if err := k.extend(ctx); err != nil {
		if ctx.Err() == nil && err.Error() != k.chainError {
			k.chainError = err.Error()
			k.log.ErrorContext(ctx, "chaining the evidence log failed", "error", err)
		}
		return
	}
	k.chainError = ""
	if now := time.Now(); now.Sub(k.checkpointTriedAt) >= checkpointPoll {
		k.checkpointTriedAt = now
		k.checkpoint(ctx, checkpointInterval)
	}
}

// checkpoint has the head of the chain timestamped, unless the last checkpoint is younger than interval or no entry was
// added since. It logs the head, so that an archive of the server's log shows later whether the chain was cut off:
//   - after a timestamp;
//   - after an error, if the head is new;
//   - if there is no timestamp authority, the head is new, and the last one was logged at least interval ago.
func (k *evidenceKeeper) checkpoint(ctx context.Context, interval time.Duration) {
	isNew := k.state.Head != k.loggedHead
	authority := k.timestamper()
	if authority == nil {
		if isNew && time.Since(k.loggedAt) >= interval {
			k.logHead(ctx, false)
		}
		return
	}
	timestamped, err := k.timestampHead(ctx, authority, interval)
	if err != nil && ctx.Err() == nil {
		k.log.WarnContext(ctx, "checkpoint of the evidence log postponed", "error", err)
	}
	if timestamped || err != nil && isNew {
		k.logHead(ctx, timestamped)
	}
}

// timestampHead records a timestamp over the head and returns true, unless none is due (evidence.Chain.Checkpoint).
func (k *evidenceKeeper) timestampHead(ctx context.Context, authority ades.Timestamper, interval time.Duration) (bool, error) {
	return k.chain.Checkpoint(ctx, k.state, interval, func(ctx context.Context, sum []byte) ([]byte, error) {
		token, err := tsp.Obtain(ctx, authority, crypto.SHA256, sum)
		if err != nil {
			return nil, fmt.Errorf("getting a timestamp over the chain of the evidence log: %w", err)
		}
		return token.Raw, nil
	})
}

func (k *evidenceKeeper) logHead(ctx context.Context, timestamped bool) {
	k.loggedHead, k.loggedAt = k.state.Head, time.Now()
	k.log.InfoContext(ctx, "evidence log chained", "entries", k.state.Total, "head", k.state.Head.String(), "timestamped", timestamped)
}

// stop chains what was recorded last, with a checkpoint, when the server stops. It does not log the head with the
// checkpoint's own entry: the head that the checkpoint covers is logged.
func (k *evidenceKeeper) stop(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), chainStopTimeout)
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

// prune deletes all entries that are older than the retention time. If any server has done so less than pruneInterval ago,
// chain.Prune does nothing and returns no error. prune always returns 0, so that the cleanup does not repeat it.
func (k *evidenceKeeper) prune(ctx context.Context) (int, error) {
	now := time.Now()
	if now.Sub(k.refusedAt) < pruneInterval {
		return 0, nil
	}
	_, err := k.chain.Prune(ctx, k.retention.before(now), pruneInterval)
	if errors.Is(err, storage.ErrNotPermitted) {
		k.refusedAt = now
		k.log.WarnContext(ctx, "entries of the evidence log are due, and the server may not delete them: run innsigli evidence prune")
		return 0, nil
	}
	return 0, err
}
