package signing

import (
	"context"
	"errors"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// look reads the request of a poll. Most polls come while the person has not answered, and
// know from the request that there is nothing new to hear; others come while the signature is
// a job's to complete. That is enough then, with no lease and no write.
func (s *Service) look(ctx context.Context, account, id string) (r Request, early, enough bool, err error) {
	r, err = s.store.Request(ctx, id)
	if errors.Is(err, storage.ErrNotFound) || err == nil && !r.pollable(account) {
		err = ErrFinished
	}
	if err != nil {
		return r, false, false, err
	}
	now := now()
	early = s.early(&r, now)
	switch {
	case !r.Lease.free(now, s.process, s.options.Alone): // by what its holder comes to, there may be news
	case r.Phase == Waiting:
		enough = early || r.silent(now)
	case r.Phase == Signed:
		enough = !r.pollCompletes(now)
	}
	if enough && !early {
		s.pace.note(id, now, s.options.Interval)
	}
	return r, early, enough, nil
}

// silent says whether the provider has nothing new to say. A request that is expiring is
// never silent.
func (r *Request) silent(now time.Time) bool {
	return now.Before(r.NextAsk) && now.Before(r.Expires)
}
