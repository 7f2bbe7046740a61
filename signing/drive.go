package signing

import (
	"context"
	"errors"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/internal/failpoint"
	"github.com/innsigli/innsigli/storage"
)

// DriveKind is the kind of the jobs that drive what was ordered. Each takes a step, which is short.
const DriveKind = "signing.drive"

// Progress is how far the request of an order is.
type Progress struct {
	Order   string       // its ID
	Done    bool         // it has ended
	Failure *idp.Failure // why without a signature
	Code    string       // verification code, empty when not known
	Given   bool         // the person has answered, and the signature is on its way into the document
	Expires time.Time    // when the person is not waited for any longer
}

// Progress says how far the request of an order is; [ErrFinished] when it is not known any more.
func (s *Service) Progress(ctx context.Context, request string) (Progress, error) {
	r, err := s.store.Request(ctx, request)
	if errors.Is(err, storage.ErrNotFound) {
		return Progress{}, ErrFinished
	}
	return Progress{Order: r.Order, Done: r.Phase == Ended, Failure: r.Failure, Code: r.Code, Given: r.Phase == Signed, Expires: r.Expires}, err
}

// Drive drives the request of an order to its end, as its job does, and waits for that. What ends
// it before, the context or an error, leaves the request to the job.
func (s *Service) Drive(ctx context.Context, request string) (Progress, error) {
	for pause := firstPause; ; pause = min(2*pause, s.options.Interval) {
		t, err := s.await(ctx, request, undriven)
		if err == nil {
			err = t.drive(context.WithoutCancel(ctx))
		}
		switch {
		case errors.Is(err, ErrFinished), s.cancelled(ctx, request, err), err == nil && t.r.Phase == Ended:
			return s.Progress(ctx, request)
		case err != nil && !errors.Is(err, errCompleting):
			return Progress{}, err
		}
		select {
		case <-ctx.Done():
			return Progress{}, ctx.Err()
		case <-time.After(time.Until(later(t.next(), now().Add(pause)))):
		}
	}
}

// undriven admits a request that has an end to be driven to.
func undriven(r *Request, _ time.Time) error {
	if r.Phase == Ended {
		return ErrFinished
	}
	return nil
}

// unsigned admits one whose signature was not given. The rest has a job of its own.
func unsigned(r *Request, now time.Time) error {
	if r.Phase == Signed {
		return ErrFinished
	}
	return undriven(r, now)
}

// drive takes a request as far as it goes now, and gives its lease back.
func (t *turn) drive(ctx context.Context) error {
	work, stop := t.hold(ctx)
	defer stop()
	err := t.advance(work)
	stop()
	return errors.Join(err, t.release(ctx))
}

// advance is proceed, but that a start which died before the provider had answered comes to nothing:
// who waits for their turn is not to wait until the request would have expired. A server of a version
// that knows no orders leaves a failed one without its end.
func (t *turn) advance(ctx context.Context) error {
	switch t.r.Phase {
	case Starting:
		return t.fail(ctx, unanswered)
	case Failed:
		return t.store(ctx, t.end)
	}
	return t.proceed(ctx, false)
}

var unanswered = idp.Failure{Code: idp.InternalError, Description: "The server stopped before the identity provider had answered."}

// next is when there is something to be driven again, for all that is known.
func (t *turn) next() time.Time {
	if t.r.Phase == Signed {
		return t.r.NextTry
	}
	return t.r.NextAsk
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// driveDue does a job, as often as the request is waiting for the person.
func (s *Service) driveDue(ctx context.Context, job storage.Job) (retry time.Time, err error) {
	id, err := requestOf(job)
	if err != nil {
		return retry, err
	}
	t, err := s.lease(ctx, id, unsigned)
	switch {
	case errors.Is(err, ErrFinished):
		return retry, nil
	case errors.Is(err, errHeld):
		return now().Add(s.options.Interval), nil
	case err != nil: // the request lives for less than a runner may wait after many tries
		return now().Add(s.options.Interval), err
	}
	failpoint.Here("signing/driven")
	err = t.drive(context.WithoutCancel(ctx)) // the provider's answer may be given only once
	if s.cancelled(ctx, id, err) {
		return retry, nil
	}
	if t.r.Phase == Waiting || err != nil {
		retry = later(t.r.NextAsk, now().Add(s.options.Interval))
	}
	return retry, err
}
