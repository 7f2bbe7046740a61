package signing_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

func (o *orders) cancel(id string) {
	o.t.Helper()
	o.change(func(ctx context.Context) error { return o.Cancel(ctx, id) })
}

// wantCancelled says that nothing is left of a request but what the evidence log tells.
func (o *orders) wantCancelled(id string, kinds ...string) {
	o.t.Helper()
	if _, err := o.Progress(o.t.Context(), id); !errors.Is(err, signing.ErrFinished) {
		o.t.Error(err)
	}
	o.tells(id, kinds...)
	o.tells(property, "accepted", "ended")
	o.wantNoJobs()
	o.wantSignatures(0)
	o.wantThere([]string{o.document}, true)
}

// Whatever a request is at, it can be removed. What the person answers then goes nowhere, and is
// no error of the service.
func TestCancel(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		after time.Duration
		cut   bool // the timestamp authority
		kinds []string
		phase string
	}{
		"before the person answered":         {time.Second, false, []string{"signature.asked", "signature.prepared"}, "waiting"},
		"while a timestamp is not to be had": {time.Minute, true, []string{"signature.asked", "signature.prepared", "signature.made"}, "signed"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPhone(t)
				out := newOutage(p.ca)
				o := newOrders(t, p, signing.Options{Sources: out.sources})
				if row.cut {
					out.cut(errTSADown, nil)
				}
				o.background(t)
				id := o.mustOrder()
				time.Sleep(row.after)
				o.cancel(id)
				o.cancel(id)
				o.wantCancelled(id, append(row.kinds, "signature.abandoned")...)
				if diff := cmp.Diff(facts{"phase": row.phase}, o.facts(id)["signature.abandoned"]); diff != "" {
					t.Error(diff)
				}
				out.cut(nil, nil)
				time.Sleep(time.Hour)
				o.wantCancelled(id, append(row.kinds, "signature.abandoned")...)
			})
		})
	}
}

// A call holds the request when it is removed.
func TestCancelWhileItIsDriven(t *testing.T) {
	t.Parallel()
	completing := []string{"signature.asked", "signature.prepared", "signature.made", "signature.abandoned"}
	for name, row := range map[string]struct {
		by    string // the kind of the job that drives; empty: a call
		when  func(o *orders, m *meddling, cancel func())
		kinds []string
	}{
		"the provider is asked":                {"signing.drive", atPoll, []string{"signature.asked", "signature.prepared", "signature.abandoned"}},
		"the provider is asked in a call":      {"", atPoll, []string{"signature.asked", "signature.prepared", "signature.abandoned"}},
		"the signature is completed":           {"signing.drive", atCompletion, completing},
		"the signature is completed in a call": {"", atCompletion, completing},
		"the signature is completed later":     {"signing.complete.order", atCompletion, completing},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o, meanwhile := meddled(t, newPhone(t))
				id := o.mustOrder()
				if row.by == "signing.complete.order" {
					o.owner.objects = func() error { return io.ErrUnexpectedEOF }
					if _, err := o.Drive(t.Context(), id); !errors.Is(err, io.ErrUnexpectedEOF) {
						t.Error(err)
					}
				}
				row.when(o, meanwhile, func() { o.cancel(id) })
				if row.by == "" {
					if _, err := o.Drive(t.Context(), id); !errors.Is(err, signing.ErrFinished) {
						t.Error(err)
					}
				} else {
					time.Sleep(6 * time.Second)
					o.work(t.Context()) // fails the test if the job does
				}
				o.wantCancelled(id, row.kinds...)
			})
		})
	}
}

func atPoll(o *orders, _ *meddling, cancel func()) {
	answer := o.phone.poll
	o.phone.poll = func(s idp.State) (idp.State, idp.Event, error) {
		cancel()
		return answer(s)
	}
}

func atCompletion(_ *orders, m *meddling, cancel func()) { m.happens = cancel }

// An order that is removed while it starts was never started.
func TestCancelWhileItStarts(t *testing.T) {
	t.Parallel()
	for name, event := range map[string]func(*phone) idp.Event{
		"and goes on": func(p *phone) idp.Event { return p.needDigest() },
		"and fails":   func(*phone) idp.Event { return idp.Failed{Failure: idp.Failure{Code: idp.UserNotFound}} },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPhone(t)
			o := newOrders(t, p, signing.Options{})
			var id string
			p.begin = func() (idp.Event, error) {
				id = o.lives()
				o.cancel(id)
				return event(p), nil
			}
			if _, err := o.order(); !errors.Is(err, signing.ErrFinished) {
				t.Error(err)
			}
			o.wantCancelled(id, "signature.asked", "signature.abandoned")
		})
	}
}

// Cancel joins its transaction: what comes to nothing there has cancelled nothing.
func TestCancelThatIsTakenBack(t *testing.T) {
	t.Parallel()
	o := newOrders(t, newPhone(t), signing.Options{IgnoreInterval: true})
	id := o.mustOrder()
	err := o.db.InTx(t.Context(), func(ctx context.Context) error { return errors.Join(o.Cancel(ctx, id), storage.ErrExists) })
	if !errors.Is(err, storage.ErrExists) {
		t.Error(err)
	}
	if got := o.drive(id); !got.Done || got.Failure != nil {
		t.Errorf("%+v", got)
	}
	o.wantSignatures(1)
}
