package signing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

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

// duePatience is how long one try may take. What it has come to is kept.
const duePatience = time.Minute

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
		newsKind: s.askDue, DriveKind: s.driveDue,
	}
}

// MaxAttempts is how many attempts of a job of a kind of [Service.Handlers] may fail before it is parked. A request
// has an end of its own, which comes first, so that a signature that a person gave is not given up while it could be
// completed: a completion ends with the time that it has, and all others with the request. Until then they are tried
// about so often; a job that goes on failing cannot even store that it has ended.
func MaxAttempts(kind string) int {
	const more = 100 // the first tries follow sooner
	switch kind {
	case completeKind, completeXMLKind:
		return int(completeFor/retrySeldom) + more
	case DriveKind:
		return int(orderPatience/(2*time.Second)) + more // the interval of polls
	}
	return int(orderPatience/retrySeldom) + more
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
	return s.enqueue(ctx, r.completionKind(), r, r.SignedAt.Add(pollPatience))
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
func (s *Service) awaitFor(ctx context.Context, job storage.Job, admit func(r *Request, now time.Time) error) (*turn, error) {
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
	t, err := s.awaitFor(ctx, job, func(r *Request, now time.Time) error {
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
		return t.r.NextTry, nil
	case errors.Is(err, errHeld):
		return now().Add(heldPause), nil
	case err != nil:
		return retry, err
	}
	return t.completeDue(ctx)
}

var errPayload = errors.New("not readable by this version")

func (t *turn) completeDue(ctx context.Context) (retry time.Time, err error) {
	work, stop := t.hold(ctx)
	defer stop()
	failpoint.Here("signing/due")
	err = t.complete(work, duePatience)
	stop()
	if t.cancelled(ctx, t.id, err) {
		return retry, nil
	}
	if ctx.Err() != nil { // the server stops; the next one goes on
		err = nil
	}
	if t.r.Phase == Signed {
		retry = t.r.NextTry
	}
	return retry, errors.Join(err, t.release(ctx))
}
