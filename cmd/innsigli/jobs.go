package main

import (
	"context"
	"time"

	"github.com/innsigli/innsigli/internal/queue"
	"github.com/innsigli/innsigli/signing"
)

// runner does the jobs.
func (s *server) runner() queue.Runner {
	r := s.jobs()
	for i, k := range r.Kinds {
		r.Kinds[i] = s.observed(k)
	}
	return r
}

func (s *server) jobs() queue.Runner {
	r := queue.Runner{
		Jobs: s.db.Jobs(),
		Tx:   s.tx,
		Failed: func(ctx context.Context, kind string, err error) {
			if kind == "" {
				s.log.ErrorContext(ctx, "the store failed", "error", err)
				return
			}
			s.log.ErrorContext(ctx, "a job failed", "kind", kind, "error", err)
		},
	}
	// What these do is wait for the identity provider, timestamps and revocation status, so that
	// many may, and those of one account may well be all there are. Each live request of a process
	// is one every two seconds.
	for name, do := range s.signing.Handlers() {
		k := queue.Kind{Name: name, Do: do, Concurrency: 128, PerGroup: 64}
		if name == signing.DriveKind { // each is short: another server soon goes on for one that died
			k.Lease = 30 * time.Second
		}
		r.Kinds = append(r.Kinds, k)
	}
	for _, w := range s.hooks.Work() {
		r.Kinds = append(r.Kinds, queue.Kind{Name: w.Kind, DoThen: w.Do, Concurrency: w.Concurrency, PerGroup: w.PerGroup, Lease: w.Lease})
	}
	if s.mail == nil {
		r.Kinds = append(r.Kinds, queue.Kind{Name: letterKind, Do: s.unsent().drop})
		return r
	}
	r.Kinds = append(r.Kinds,
		queue.Kind{Name: mailKind, Do: s.mail.send, PerGroup: 8},
		queue.Kind{Name: letterKind, DoThen: s.letters.send, Concurrency: 16, PerGroup: 8})
	return r
}
