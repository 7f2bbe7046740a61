package signing_test

import (
	"context"
	"crypto"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/signing"
)

// slowTSA is a timestamp authority that takes its time.
type slowTSA struct {
	ades.Timestamper
	time.Duration
}

func (s slowTSA) Timestamp(ctx context.Context, h crypto.Hash, sum []byte) ([]byte, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(s.Duration):
		return s.Timestamper.Timestamp(ctx, h, sum)
	}
}

// Large documents are read one after the other. One that has waited for long has its turn at a later
// poll, and the person is asked then.
func TestLargeXMLWaitsForItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPhone(t)
		p.sign = func(s idp.State) (idp.State, idp.Event, error) {
			s.Public = []byte("asked")
			return s, idp.Waiting{}, nil
		}
		p.poll = func(s idp.State) (idp.State, idp.Event, error) {
			if s.Public == nil {
				return s, p.needDigest(), nil
			}
			return s, p.signed(), nil
		}
		sources := p.ca.Sources(nil)
		sources.Time = slowTSA{sources.Time, 20 * time.Second}
		s := newXMLService(t, p, signing.Options{AnyPace: true, Sources: func() ades.Sources { return sources }})
		s.background(t)
		first := s.startLarge()
		s.pending(first, "with an authority that takes its time")
		time.Sleep(time.Second)
		began := time.Now()
		second := s.startLarge()
		if took := time.Since(began); took < 5*time.Second || took > 15*time.Second {
			t.Errorf("the second start took %v", took)
		}
		time.Sleep(30 * time.Second)
		s.checkSigned(s.poll(first).Document)
		for range 20 {
			if r := s.poll(second); r.Document != nil {
				s.checkSigned(r.Document)
				return
			}
			time.Sleep(5 * time.Second)
		}
		t.Error("the second is not signed")
	})
}

// startLarge starts a request for so much XML that there is no room for more of it beside.
func (s service) startLarge() (id string) {
	s.t.Helper()
	document, err := s.Upload(s.t.Context(), strings.NewReader("<a>"+strings.Repeat("a line\n", 26<<20/7)+"</a>"), 30<<20)
	if err != nil {
		s.t.Fatal(err)
	}
	started, err := s.Start(s.t.Context(), signing.Start{
		Account: account, Document: document, Name: "lines.xml", Format: signing.XML, Level: ades.T,
		Person: idp.Person{Method: idp.App, Kennitala: kennitala},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return started.ID
}
