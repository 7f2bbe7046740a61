package signing_test

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
)

// fault is something wrong on the network, and what polls say of it.
type fault struct {
	name    string
	happens func(n *network)
	ends    func(n *network) // nil: all answer as they should again

	// What the first poll says at level T, and at LT and LTA, which need more: pending until
	// the fault ends, the document, or a failure for good.
	t, lt idp.ErrorCode

	slow  bool // more than a poll waits for
	large bool // tried at level LTA alone, which takes the steps of the others too
}

const (
	pending   = idp.AuthorizationPending
	delivered = idp.ErrorCode("")
)

// outcome is what the first poll says at a level.
func (f fault) outcome(l ades.Level) idp.ErrorCode {
	if l == ades.T {
		return f.t
	}
	return f.lt
}

// end ends the fault.
func (f fault) end(n *network) {
	if f.ends != nil {
		f.ends(n)
		return
	}
	n.restore()
}

// levels returns the levels at which polls are tried with the fault: T, LT and LTA, as a signature of level B needs no
// evidence. With -short, and for a large fault, that is LTA alone, as its signatures go through the steps of T and LT too.
func (f fault) levels() []ades.Level {
	if f.large || testing.Short() {
		return []ades.Level{ades.LTA}
	}
	return []ades.Level{ades.T, ades.LT, ades.LTA}
}

// testFaults is the table of what polls say, from the network up, for the timestamp
// authorities of an operator.
func testFaults(t *testing.T, faults []fault, begin func(*network) service) {
	for _, f := range faults {
		for _, level := range f.levels() {
			t.Run(f.name+", "+level.String(), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					n := newNetwork(t)
					f.happens(n)
					f.tried(n, begin(n), level)
				})
			})
		}
	}
}

// tried is a fault of which the polls of a service in a bubble tell.
func (f fault) tried(n *network, s service, level ades.Level) {
	s.t.Helper()
	if want := f.outcome(level); want != pending {
		id := s.atLevel(level)
		r := s.poll(id)
		if r.Code != want {
			s.t.Fatalf("got %q, want %q", r.Code, want)
		}
		if want == delivered {
			n.checkLevel(r.Document, level)
		} else if r := s.poll(id); !r.Finished {
			s.t.Errorf("told twice: %+v", r)
		}
		return
	}
	f.persists(n, s, level)
}

// persists follows two requests: the time of one is over before the fault ends, that of the
// other is not (spec 3.9). A person who has signed is not asked again.
func (f fault) persists(n *network, s service, level ades.Level) {
	s.t.Helper()
	lost := s.atLevel(level)
	s.pending(lost, "first poll")
	time.Sleep(5 * time.Minute)
	kept := s.atLevel(level)
	s.pending(kept, "first poll of the later request")
	asked := n.calls
	time.Sleep(9 * time.Minute)
	s.pending(lost, "after 14 minutes")
	time.Sleep(2 * time.Minute)
	s.work(s.t.Context()) // a poll's attempt may be too short to end the request
	if r := s.poll(lost); r.Code != idp.InternalError {
		s.t.Errorf("after 16 minutes: %q", r.Code)
	}
	if r := s.poll(lost); !r.Finished {
		s.t.Errorf("told twice: %+v", r)
	}
	s.pending(kept, "after 11 minutes")
	f.end(n)
	time.Sleep(time.Minute)
	n.checkLevel(s.poll(kept).Document, level)
	if n.calls != asked {
		s.t.Errorf("the phone was asked %d times after it had signed", n.calls-asked)
	}
}

func (s service) pending(id, when string) {
	s.t.Helper()
	if r := s.poll(id); r.Code != idp.AuthorizationPending {
		s.t.Fatalf("%s: %q, %d bytes", when, r.Code, len(r.Document))
	}
}

// checkLevel checks that a document is signed, and has the level that was asked for.
func (n *network) checkLevel(b []byte, level ades.Level) {
	n.t.Helper()
	if b == nil {
		n.t.Fatal("no document")
	}
	report := verified(n.t, b, n.roots)
	if len(report.Signatures) != 1 {
		n.t.Fatalf("%d signatures", len(report.Signatures))
	}
	signature := report.Signatures[0]
	family := "XAdES"
	if bytes.HasPrefix(b, []byte("%PDF-")) {
		family = "PAdES"
	}
	if want := family + "-BASELINE-" + level.String(); signature.Format != want || !report.Passed() || !signature.Certificate.Equal(n.cert) {
		n.t.Errorf("want %s: %+v", want, signature)
	}
}
