package signing_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

// spec 3.6 and 7.2: a request that was not finished is answered for a day, and remembered for as
// long as what has ended.
func TestSweep(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for _, test := range []struct{ keep, ends, forgotten time.Duration }{
		{0, day, day}, {7 * day, day, 7 * day}, {time.Second, time.Hour, time.Hour},
	} {
		t.Run(fmt.Sprint("keep ", test.keep), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPhone(t)
				p.poll = waits
				s := newService(t, p, signing.Options{Keep: test.keep})
				signal, err := s.signals.Create(t.Context(), account)
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				id := s.mustStart(func(in *signing.Start) { in.BusySignal = &signing.BusySignalUse{ID: signal} })
				swept := func(after time.Duration, want int) {
					t.Helper()
					time.Sleep(time.Until(began.Add(after)))
					if n, err := s.Sweep(t.Context()); n != want || err != nil {
						t.Errorf("swept %d, %v, want %d", n, err, want)
					}
				}
				swept(test.ends-time.Minute, 0)
				if r := s.poll(id); r.Code != idp.ExpiredToken {
					t.Errorf("%+v", r)
				}
				swept(test.ends+time.Minute, 1)
				if r := s.poll(id); !r.Finished {
					t.Errorf("%+v", r)
				}
				if n := s.documents(); n != 0 {
					t.Errorf("%d documents left", n)
				}
				if err := s.signals.Take(t.Context(), account, signal, busysignal.Holder{ID: "another"}); err != nil {
					t.Errorf("the signal is still held: %v", err)
				}
				if test.forgotten > test.ends {
					swept(test.forgotten-time.Minute, 0)
					s.remembered(id)
					swept(test.forgotten+time.Minute, 1)
				}
				if _, err := s.db.Requests().Request(t.Context(), id); !errors.Is(err, storage.ErrNotFound) {
					t.Errorf("still there: %v", err)
				}
			})
		})
	}
}

// remembered checks that nothing is left of a request but that it was.
func (s service) remembered(id string) {
	s.t.Helper()
	r, err := s.db.Requests().Request(s.t.Context(), id)
	if err != nil || r.Phase != signing.Ended {
		s.t.Fatalf("%s, %v", r.Phase, err)
	}
	if r.Pending != nil || r.Value != nil || r.State.Public != nil || r.State.Secret != nil {
		s.t.Errorf("%+v", r)
	}
}

// More than a transaction has room for, of which some are remembered much longer.
func TestSweepOfMany(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, newPhone(t), signing.Options{Keep: 48 * time.Hour})
		sweep := func() (all int) {
			t.Helper()
			for {
				n, err := s.Sweep(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if all += n; n == 0 {
					return all
				}
			}
		}
		for range 15 {
			s.checkSigned(s.poll(s.mustStart()).Document) // which has ended
		}
		for range 45 {
			s.mustStart()
		}
		time.Sleep(25 * time.Hour)
		if n := sweep(); n != 45 {
			t.Errorf("ended %d", n)
		}
		time.Sleep(24 * time.Hour)
		if n := sweep(); n != 60 {
			t.Errorf("removed %d", n)
		}
	})
}

// If no server was running when the time for completing a signature was over, the sweep ends its request and drops its
// job. The value is kept for recovery.
func TestSweepDropsTheJob(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPhone(t)
		o := newOutage(p.ca)
		s := newService(t, p, signing.Options{Sources: o.sources, Keep: 48 * time.Hour})
		o.cut(errTSADown, nil)
		id := s.atLevel(ades.LT)
		s.pending(id, "no timestamp")
		if due, err := s.db.Jobs().NextDue(t.Context(), "signing.complete"); err != nil || len(due) != 1 {
			t.Fatalf("due %v, %v", due, err)
		}
		time.Sleep(25 * time.Hour)
		if n, err := s.Sweep(t.Context()); n != 1 || err != nil {
			t.Errorf("swept %d, %v", n, err)
		}
		s.keptForRecovery(id)
		if due, err := s.db.Jobs().NextDue(t.Context(), "signing.complete"); err != nil || len(due) > 0 {
			t.Errorf("there is a job at %v, %v", due, err)
		}
		s.tells(id, "signature.asked", "signature.prepared", "signature.made", "signature.abandoned")
		if diff := cmp.Diff(facts{"phase": "signed"}, s.facts(id)["signature.abandoned"]); diff != "" {
			t.Error(diff)
		}
		o.cut(nil, nil)
		s.checkSigned(s.recovered(id))
	})
}

// tells checks what the evidence log says of a request.
func (s service) tells(id string, want ...string) {
	s.t.Helper()
	if diff := cmp.Diff(want, s.kinds(id)); diff != "" {
		s.t.Errorf("the evidence log (-want +got):\n%s", diff)
	}
}
