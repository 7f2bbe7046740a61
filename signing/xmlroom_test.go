package signing_test

import (
	"context"
	"crypto"
	"crypto/x509"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/signing"
)

// slowness is what a timestamp authority or a responder takes before it answers.
type slowness struct{ atomic.Int64 }

func (s *slowness) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Duration(s.Load())): // time: in bubbles alone
		return nil
	}
}

type slowTSA struct {
	ades.Timestamper
	*slowness
}

func (s slowTSA) Timestamp(ctx context.Context, h crypto.Hash, sum []byte) ([]byte, error) {
	if err := s.wait(ctx); err != nil {
		return nil, err
	}
	return s.Timestamper.Timestamp(ctx, h, sum)
}

type slowResponder struct {
	of ades.Revocation
	*slowness
}

func (s slowResponder) Revocation(ctx context.Context, cert, issuer *x509.Certificate, notBefore time.Time) (ades.RevocationData, error) {
	if err := s.wait(ctx); err != nil {
		return ades.RevocationData{}, err
	}
	return s.of.Revocation(ctx, cert, issuer, notBefore)
}

// slowXML is a service whose people are asked at the start or, if that comes to nothing, at a poll; with an
// authority and a responder whose slowness a test chooses.
func slowXML(t *testing.T) (s service, tsa, responder *slowness) {
	p := newPhone(t)
	asked := make(map[string][]ades.Digest)
	p.sign = func(s idp.State) (idp.State, idp.Event, error) {
		asked[s.Key] = p.digests
		return s, idp.Waiting{}, nil
	}
	p.poll = func(s idp.State) (idp.State, idp.Event, error) {
		if asked[s.Key] == nil {
			return s, p.needDigest(), nil
		}
		p.digests = asked[s.Key]
		return s, p.signed(), nil
	}
	tsa, responder = new(slowness), new(slowness)
	sources := p.ca.Sources(nil)
	sources.Time, sources.Revocation = slowTSA{sources.Time, tsa}, slowResponder{sources.Revocation, responder}
	s = newXMLService(t, p, signing.Options{IgnoreInterval: true, Sources: func() ades.Sources { return sources }})
	if err := s.LeaveRoomForLargeXML(5 << 20); err != nil {
		t.Fatal(err)
	}
	s.background(t)
	return s, tsa, responder
}

// startLarge starts a request for XML that is large. There is room for two such documents.
func (s service) startLarge(level ades.Level) (id string) {
	s.t.Helper()
	document, err := s.Upload(s.t.Context(), strings.NewReader("<a>"+strings.Repeat("a line\n", 2<<20/7)+"</a>"), 30<<20)
	if err != nil {
		s.t.Fatal(err)
	}
	started, err := s.Start(s.t.Context(), signing.Start{
		Account: account, Document: document, Name: "lines.xml", Format: signing.XML, Level: level,
		Person: idp.Person{Method: idp.App, Kennitala: kennitala},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return started.ID
}

// given is a large request whose person has signed, and whose evidence is being asked for.
func (s service) given(level ades.Level) (id string) {
	s.t.Helper()
	id = s.startLarge(level)
	s.pending(id, "before there is evidence")
	return id
}

// signsInTheEnd polls until there is a signed document.
func (s service) signsInTheEnd(ids ...string) {
	s.t.Helper()
	for _, id := range ids {
		var r result
		for n := 0; r.Document == nil && n < 40; n++ {
			time.Sleep(5 * time.Second)
			r = s.poll(id)
		}
		if r.Document == nil {
			s.t.Fatalf("not signed: %+v", r)
		}
		s.checkSigned(r.Document)
	}
}

// timeOf says how long something takes.
func timeOf(do func()) time.Duration {
	began := time.Now()
	do()
	return time.Since(began)
}

// Large documents that are in work leave no room for another one, which waits until it is its turn; the
// person is asked then. Small ones are signed as if there were no others (spec 3.9).
func TestSmallXMLWaitsForNoLargeXML(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _, responder := slowXML(t)
		responder.Store(int64(50 * time.Second))
		first, second := s.given(ades.LT), s.given(ades.LT)
		time.Sleep(2 * time.Second) // the jobs are at it
		responder.Store(0)
		var third string
		queued := make(chan time.Duration, 1)
		go func() { queued <- timeOf(func() { third = s.startLarge(ades.T) }) }()
		synctest.Wait()
		for _, level := range []ades.Level{ades.B, ades.LTA} {
			if d := timeOf(func() { s.checkSigned(s.poll(s.atLevel(level)).Document) }); d > time.Second {
				t.Errorf("a small document took %v at level %v", d, level)
			}
		}
		if d := <-queued; d < 5*time.Second || d > 15*time.Second {
			t.Errorf("the third large document started after %v", d)
		}
		s.signsInTheEnd(first, second, third)
	})
}

// While the timestamp of a signature is asked for, no document is in work.
func TestLargeXMLWaitsForNoTimestamp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, tsa, _ := slowXML(t)
		tsa.Store(int64(20 * time.Second))
		ids := []string{s.given(ades.T), s.given(ades.T)}
		time.Sleep(time.Second)
		if d := timeOf(func() { ids = append(ids, s.startLarge(ades.T)) }); d > time.Second {
			t.Errorf("the third started after %v", d)
		}
		s.signsInTheEnd(ids...)
	})
}

// A signature has its one timestamp also when its document has to wait for room after that.
func TestTimestampIsKeptWithoutRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _, responder := slowXML(t)
		third := s.startLarge(ades.T)
		responder.Store(int64(50 * time.Second))
		first, second := s.given(ades.LT), s.given(ades.LT)
		time.Sleep(2 * time.Second)
		responder.Store(0)
		s.pending(third, "while there is no room")
		r, err := s.db.Requests().Request(t.Context(), third)
		if err != nil || !strings.Contains(string(r.Draft), "pieces") {
			t.Errorf("%v, kept %.100q", err, r.Draft)
		}
		s.signsInTheEnd(first, second, third)
	})
}
