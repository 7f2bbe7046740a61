package signing

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/internal/failpoint"
	"github.com/innsigli/innsigli/storage"
)

// completeKind is the kind of the jobs that complete signatures, completeOrderKind of those that do so
// for orders, and completeXMLKind for XML: a server of a version that knows neither is to leave them
// alone.
const (
	completeKind      = "signing.complete"
	completeOrderKind = "signing.complete.order"
	completeXMLKind   = "signing.complete.xml"
)

// completionKind is the kind of the job that completes the request.
func (r *Request) completionKind() string {
	switch {
	case r.ordered():
		return completeOrderKind
	case r.Format == XML:
		return completeXMLKind
	}
	return completeKind
}

// jobCompletionTimeout is how long one try may take. What it has come to is kept.
const jobCompletionTimeout = time.Minute

// heldPause is when a job comes back that has waited for somebody else to complete the
// signature.
const heldPause = 5 * time.Second

// Handlers are what a runner of jobs calls for the kinds of this package. Some complete the
// signatures whose value is stored but whose document is not, because a source of evidence
// was down or a process died (spec 3.9): a signature does not depend on its client's
// polls then, nor on how long they wait. Others ask a provider that said it has news, or drive
// what was ordered, which nobody polls. They answer when the job is to be done again; zero
// means that it is done.
func (s *Service) Handlers() map[string]func(ctx context.Context, job storage.Job) (retry time.Time, err error) {
	return map[string]func(context.Context, storage.Job) (time.Time, error){
		completeKind: s.completeDue, completeOrderKind: s.completeDue, completeXMLKind: s.completeDue,
		notifiedKind: s.askDue, DriveKind: s.driveDue,
	}
}

// payload is what the jobs of this package carry.
type payload struct {
	Version int    `json:"version"`
	Request string `json:"request"`
}

// enqueue leaves something to a job, of which a request has one at most.
func (s *Service) enqueue(ctx context.Context, kind string, r *Request, due time.Time) error {
	encoded, err := json.Marshal(payload{Version: 1, Request: r.ID})
	if err != nil {
		return err
	}
	return s.jobs.Enqueue(ctx, storage.Job{Kind: kind, Group: r.Account, Unique: r.ID, Due: due, Payload: encoded})
}

// enqueueCompletion leaves the completion of a signature to a job. It comes when the poll that
// brought the value has had its time to complete it, and one that did drops it.
func (s *Service) enqueueCompletion(ctx context.Context, r *Request) error {
	return s.enqueue(ctx, r.completionKind(), r, r.SignedAt.Add(pollCompletionTimeout))
}

// requestOf is the ID of a job's request.
func requestOf(job storage.Job) (string, error) {
	var p payload
	if err := json.Unmarshal(job.Payload, &p); err != nil || p.Version != 1 {
		return "", fmt.Errorf("signing: payload of job %s, version %d: %w", job.ID, p.Version, errors.Join(err, errPayload))
	}
	return p.Request, nil
}

// awaitFor waits for the lease of a job's request.
func (s *Service) awaitFor(ctx context.Context, job storage.Job, admit func(r *Request, now time.Time) error) (*session, error) {
	id, err := requestOf(job)
	if err != nil {
		return nil, err
	}
	return s.await(ctx, id, admit)
}

// errNotYet: the request is to be completed, or to be asked about, though later.
var errNotYet = errors.New("signing: not yet")

// completeDue completes a request, unless a poll is at it.
func (s *Service) completeDue(ctx context.Context, job storage.Job) (retry time.Time, err error) {
	sess, err := s.awaitFor(ctx, job, func(r *Request, now time.Time) error {
		switch {
		case r.Phase != Signed:
			return ErrFinished
		case now.Before(r.NextTry):
			return errNotYet
		}
		return nil
	})
	switch {
	case errors.Is(err, ErrFinished):
		return retry, nil
	case errors.Is(err, errNotYet):
		return sess.r.NextTry, nil
	case errors.Is(err, errHeld):
		return now().Add(heldPause), nil
	case err != nil:
		return retry, err
	}
	return sess.completeDue(ctx)
}

var errPayload = errors.New("not readable by this version")

func (sess *session) completeDue(ctx context.Context) (retry time.Time, err error) {
	work, stop := sess.hold(ctx)
	defer stop()
	failpoint.Here("signing/due")
	err = sess.complete(work, jobCompletionTimeout)
	stop()
	if sess.cancelled(ctx, sess.id, err) {
		return retry, nil
	}
	if ctx.Err() != nil { // the server stops; the next one goes on
		err = nil
	}
	if sess.r.Phase == Signed {
		retry = sess.r.NextTry
	}
	return retry, errors.Join(err, sess.release(ctx))
}

// notifiedKind is the kind of the jobs that ask a provider which has news.
const notifiedKind = "signing.news"

// Notified is called when the provider says that it has news of a conversation
// ([idp.Notifier]): it is asked soon, without waiting for a poll. [ErrFinished] when there is
// no such conversation, or when the news is not authentic.
func (s *Service) Notified(ctx context.Context, key string, authentic func(idp.State) bool) error {
	r, err := s.store.Request(ctx, key)
	if errors.Is(err, storage.ErrNotFound) || err == nil && !authentic(r.State) {
		return ErrFinished
	}
	if err != nil || r.Phase != Waiting && r.Phase != Starting {
		return err
	}
	return s.inTx(ctx, func(ctx context.Context) error {
		// A job that is there may have asked already, and not have heard this news.
		return errors.Join(s.jobs.DropUnique(ctx, notifiedKind, r.ID), s.enqueue(ctx, notifiedKind, &r, now()))
	})
}

// askDue asks the provider, whatever it said before of when there would be news.
func (s *Service) askDue(ctx context.Context, job storage.Job) (retry time.Time, err error) {
	sess, err := s.awaitFor(ctx, job, func(r *Request, now time.Time) error {
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
	work, stop := sess.hold(context.WithoutCancel(ctx)) // its answer may be given only once
	defer stop()
	failpoint.Here("signing/news")
	err = sess.proceed(work, false)
	stop()
	if sess.r.Phase == Waiting && sess.faulty {
		retry = cmp.Or(sess.r.NextAsk, now().Add(retryAfter))
	}
	return retry, errors.Join(err, sess.release(ctx))
}
