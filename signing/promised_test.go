package signing_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/signing"
)

// spec 3.6 and 3.9: the person signs after four minutes, when no timestamp is to be
// had. For 15 minutes more no start of the account clears the request, neither before nor
// after the document is complete; its busy signal is free in the meantime.
func TestSignedRequestIsNotAbandoned(t *testing.T) {
	t.Parallel()
	const signedAt = 4 * time.Minute
	for _, test := range []struct {
		name   string
		back   time.Duration // the timestamp authority; zero: never
		cleans time.Duration // the account's next start, when no completion is running
		want   idp.ErrorCode
		gone   bool
	}{
		{name: "a start while it is completed", back: 16 * time.Minute, cleans: 15*time.Minute + 31*time.Second},
		{name: "a start before it is delivered", back: 16 * time.Minute, cleans: 18*time.Minute + time.Second},
		{name: "a start when its time is over", back: 16 * time.Minute, cleans: 20 * time.Minute, gone: true},
		{name: "a start before the end of its time", cleans: 18*time.Minute + time.Second, want: idp.InternalError},
		{name: "a start when it failed", cleans: 20 * time.Minute, gone: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, began := newPhone(t), time.Now()
				o := newOutage(p.ca)
				s := newService(t, p, signing.Options{Sources: o.sources})
				at := func(after time.Duration) { time.Sleep(time.Until(began.Add(after))) }
				signal, err := s.signals.Create(t.Context(), account)
				if err != nil {
					t.Fatal(err)
				}
				use := func(in *signing.Start) {
					in.Level, in.BusySignal = ades.LT, &signing.BusySignalUse{ID: signal}
				}
				o.cut(errTSADown, nil)
				id := s.mustStart(use)
				at(signedAt)
				s.pending(id, "signed")
				s.background(t)
				go func() {
					if test.back > 0 {
						at(test.back)
						o.cut(nil, nil)
					}
				}()
				at(test.cleans)
				s.mustStart(use) // the signal is held for five minutes, not for as long as that
				at(max(test.cleans, signedAt+16*time.Minute))
				r := s.poll(id)
				if r.Code != test.want || r.Finished != test.gone {
					t.Fatalf("%q, finished %v", r.Code, r.Finished)
				}
				if test.want == "" && !test.gone {
					s.checkSigned(r.Document)
				}
			})
		})
	}
}

// A start clears no request whose person has answered, while the provider cannot say what the answer needs.
func TestAnsweredRequestIsNotAbandoned(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		back   time.Duration // the provider
		cleans time.Duration // the account's next start
		gone   bool
	}{
		{name: "before the end of its time", back: 16 * time.Minute, cleans: 15*time.Minute + time.Second},
		{name: "when its time is over", back: 21 * time.Minute, cleans: 20 * time.Minute, gone: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, began := once(t), time.Now()
				at := func(after time.Duration) { time.Sleep(time.Until(began.Add(after))) }
				further := p.poll
				p.poll = func(s idp.State) (idp.State, idp.Event, error) {
					switch {
					case s.Secret == nil:
						s, _, err := further(s)
						return s, idp.Continue{Answer: true}, err
					case time.Since(began) < test.back:
						return s, nil, errors.New("502")
					}
					return further(s)
				}
				s := newService(t, p, signing.Options{})
				id := s.mustStart()
				at(4*time.Minute + 45*time.Second)
				s.pending(id, "answered")
				at(test.cleans)
				onStore(t, s.db, newPhone(t), signing.Options{}).mustStart() // by another client
				at(test.back)
				r := s.poll(id)
				if r.Code != "" || r.Finished != test.gone {
					t.Fatalf("%q, finished %v", r.Code, r.Finished)
				}
				if !test.gone {
					s.checkSigned(r.Document)
				}
			})
		})
	}
}

// A signal that another has taken meanwhile stays with that one when the document is
// delivered at last.
func TestLateDeliveryLeavesTheBusySignal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPhone(t)
		o := newOutage(p.ca)
		s := newService(t, p, signing.Options{Sources: o.sources})
		signal, err := s.signals.Create(t.Context(), account)
		if err != nil {
			t.Fatal(err)
		}
		use := func(in *signing.Start) { in.Level, in.BusySignal = ades.LT, &signing.BusySignalUse{ID: signal} }
		o.cut(errTSADown, nil)
		id := s.mustStart(use)
		s.pending(id, "TSA down")
		time.Sleep(6 * time.Minute)
		s.mustStart(use)
		o.cut(nil, nil)
		s.checkSigned(s.poll(id).Document)
		var held *busysignal.HeldError
		if _, err := s.start(use); !errors.As(err, &held) {
			t.Errorf("the later request does not hold the signal: %v", err)
		}
	})
}

// Sources that change while a signature is completed change for the next one.
func TestSourcesAreTakenOnce(t *testing.T) {
	t.Parallel()
	p := newPhone(t)
	taken := 0
	s := newService(t, p, signing.Options{
		Sources: func() ades.Sources {
			if taken++; taken <= 2 { // when it is prepared, when it is completed
				return p.ca.Sources(nil)
			}
			return ades.Sources{}
		},
		OnStep: func(_ context.Context, s signing.Step) {
			if s.Err != nil {
				t.Error(s.Err)
			}
		},
	})
	s.checkSigned(s.poll(s.atLevel(ades.LTA)).Document)
}
