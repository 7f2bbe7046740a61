package server

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/internal/pki/tsp"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/evidence"
)

const (
	// chainInterval is the time between two looks at the evidence log for entries to chain.
	chainInterval = 5 * time.Second
	// checkpointInterval is the time between two timestamps over the chain.
	checkpointInterval = time.Hour
	// checkpointTime bounds a timestamp over the chain when the server stops.
	checkpointTime = 10 * time.Second
	// pruneInterval is the time between two prunings of the evidence log, and between two messages that the server may
	// not prune it.
	pruneInterval = 24 * time.Hour
)

// evidenceKeeper chains the evidence log, has checkpoints timestamped and prunes old entries (spec 7.3).
type evidenceKeeper struct {
	chain evidence.Chain
	state evidence.State
	// checkpointTry is when a checkpoint was last tried, and forbidden when it was last logged that the store does not let
	// the server prune.
	checkpointTry, forbidden time.Time
	logged                   evidence.Head // the last head in the server's log
	loggedAt                 time.Time
	failed                   string // the last error in the server's log
}

func newEvidenceKeeper(b Backend) *evidenceKeeper {
	return &evidenceKeeper{chain: evidence.Chain{Log: b.EvidenceLog(), Tx: b}}
}

// chainEvidence chains new entries, and has a checkpoint timestamped if one is due.
func (s *Server) chainEvidence(ctx context.Context) {
	k := s.evidence
	state, err := k.chain.Extend(ctx, k.state)
	k.state = state
	if err != nil {
		if ctx.Err() == nil && err.Error() != k.failed {
			k.failed = err.Error()
			s.config.Log.ErrorContext(ctx, "chaining the evidence log failed", "error", err)
		}
		return
	}
	k.failed = ""
	if now := time.Now(); now.Sub(k.checkpointTry) >= checkpointInterval/12 {
		k.checkpointTry = now
		s.checkpointEvidence(ctx, checkpointInterval)
	}
}

// checkpointEvidence has the head of the chain timestamped unless a checkpoint is younger than interval, and logs the head,
// so that an archive of the server's log shows later whether the chain was cut off. Without a timestamp authority, or while
// it does not answer, the head is logged alone.
func (s *Server) checkpointEvidence(ctx context.Context, interval time.Duration) {
	k := s.evidence
	var done bool
	var err error
	sources := s.observer.Sources(s.people.sources(s.config.Sources)())
	if sources.Time != nil {
		done, err = k.chain.Checkpoint(ctx, k.state, interval, func(ctx context.Context, sum []byte) ([]byte, error) {
			token, err := tsp.Obtain(ctx, sources.Time, crypto.SHA256, sum)
			if err != nil {
				return nil, fmt.Errorf("getting a timestamp over the chain of the evidence log: %w", err)
			}
			return token.Raw, nil
		})
	} else {
		done = k.state.Head != k.logged && time.Since(k.loggedAt) >= interval
	}
	if err != nil && ctx.Err() == nil {
		s.config.Log.WarnContext(ctx, "checkpoint of the evidence log postponed", "error", err)
	}
	if done || err != nil && k.state.Head != k.logged {
		k.logged, k.loggedAt = k.state.Head, time.Now()
		s.config.Log.InfoContext(ctx, "evidence log chained", "entries", k.state.Total, "head", k.state.Head.String(), "timestamped", done && sources.Time != nil)
	}
}

// stopEvidence chains what was recorded last, with a checkpoint, when the server stops.
func (s *Server) stopEvidence(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkpointTime)
	defer cancel()
	k := s.evidence
	state, err := k.chain.Extend(ctx, k.state)
	if err != nil {
		s.config.Log.ErrorContext(ctx, "chaining the evidence log failed", "error", err)
		return
	}
	k.state = state
	s.checkpointEvidence(ctx, 0)
	if k.state, err = k.chain.Extend(ctx, k.state); err != nil { // with the checkpoint
		s.config.Log.ErrorContext(ctx, "chaining the evidence log failed", "error", err)
	}
}

// pruneEvidence deletes entries that are older than the retention time, once a day.
func (s *Server) pruneEvidence(ctx context.Context) (int, error) {
	k := s.evidence
	now := time.Now()
	if now.Sub(k.forbidden) < pruneInterval {
		return 0, nil
	}
	_, err := k.chain.Prune(ctx, s.config.Retention.Evidence.before(now), pruneInterval)
	if errors.Is(err, storage.ErrNotPermitted) {
		k.forbidden = now
		s.config.Log.WarnContext(ctx, "entries of the evidence log are due, and the server may not delete them: run innsigli evidence prune")
		return 0, nil
	}
	return 0, err
}
