package signing

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/internal/failpoint"
	"github.com/innsigli/innsigli/storage"
)

// newsKind is the kind of the jobs that ask a provider which has news.
const newsKind = "signing.news"

// News is called when the provider says that it has news of a conversation
// ([idp.Notifier]): it is asked soon, without waiting for a poll. [ErrFinished] when there is
// no such conversation, or when the news is not authentic.
func (s *Service) News(ctx context.Context, key string, authentic func(idp.State) bool) error {
	r, err := s.store.Request(ctx, key)
	if errors.Is(err, storage.ErrNotFound) || err == nil && !authentic(r.State) {
		return ErrFinished
	}
	if err != nil || r.Phase != Waiting && r.Phase != Starting {
		return err
	}
	return s.inTx(ctx, func(ctx context.Context) error {
		// A job that is there may have asked already, and not have heard this news.
		return errors.Join(s.jobs.DropUnique(ctx, newsKind, r.ID), s.enqueue(ctx, newsKind, &r, now()))
	})
}

// askDue asks the provider, whatever it said before of when there would be news.
func (s *Service) askDue(ctx context.Context, job storage.Job) (retry time.Time, err error) {
	t, err := s.awaitFor(ctx, job, func(r *Request, now time.Time) error {
		switch {
		case r.Phase == Starting && !s.diedStarting(*r, now): // who has the lease is about to store what the provider said
			return nil
		case r.Phase == Starting && now.Before(s.limit(r)): // or may be about to
			return errNotYet
		case r.Phase != Waiting:
			return ErrFinished
		}
		r.NextAsk = time.Time{}
		return nil
	})
	switch {
	case errors.Is(err, ErrFinished):
		return retry, nil
	case errors.Is(err, errNotYet):
		return now().Add(heldPause), nil
	case err != nil:
		return retry, err
	}
	work, stop := t.hold(context.WithoutCancel(ctx)) // its answer may be given only once
	defer stop()
	failpoint.Here("signing/news")
	err = t.proceed(work, false)
	stop()
	if t.r.Phase == Waiting && t.faulty {
		retry = cmp.Or(t.r.NextAsk, now().Add(retryAfter))
	}
	return retry, errors.Join(err, t.release(ctx))
}
