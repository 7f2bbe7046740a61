package signing_test

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/idp"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/stamp"
)

// unchangeable is a document whose author allows no changes.
func unchangeable(t *testing.T) []byte {
	t.Helper()
	p, content := newPhone(t), pdftest.Build(pdftest.Options{})
	doc := pades.Document{ReaderAt: bytes.NewReader(content), Size: int64(len(content))}
	revision, err := pades.Sign(t.Context(), doc, p.key, ades.SignerIdentity{Certificate: p.cert}, pades.Options{Certify: pades.NoChanges}, ades.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	return append(content, revision.Bytes...)
}

// spec 3.1: the document is checked first, then the page, then the slot, and all of
// them before the busy signal and the provider. A refused start holds nothing.
func TestRefusedStamps(t *testing.T) {
	t.Parallel()
	s := newService(t, newPhone(t), signing.Options{IgnoreInterval: true})
	empty, signed := pdftest.Build(pdftest.Options{}), s.poll(s.mustStart(stamped)).Document
	for name, test := range map[string]struct {
		content  []byte
		change   func(*signing.StampRequest)
		renderer stamp.Renderer
		want     error
	}{
		"no PDF":       {[]byte("This is no PDF."), func(in *signing.StampRequest) { in.Page = 0 }, nil, ades.ErrUnreadable},
		"certified":    {unchangeable(t), func(in *signing.StampRequest) { in.Page = 0 }, nil, ades.ErrForbidden},
		"page 0":       {empty, func(in *signing.StampRequest) { in.Page = 0 }, nil, stamp.ErrNoPage},
		"page 2 of 1":  {signed, func(in *signing.StampRequest) { in.Page = 2 }, nil, stamp.ErrNoPage},
		"off the page": {empty, func(in *signing.StampRequest) { in.X = 580 }, nil, stamp.ErrOutside},
		"over another": {signed, func(in *signing.StampRequest) { in.X = 100 }, nil, stamp.ErrOverlap},
		"too large":    {empty, func(in *signing.StampRequest) { in.Auto, in.Size.Width = true, 600 }, &blank{}, stamp.ErrNoRoom},
		"no renderer":  {empty, func(in *signing.StampRequest) { in.Auto = true }, nil, stamp.ErrNotDrawn},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPhone(t)
			s := newService(t, p, signing.Options{IgnoreInterval: true, Renderer: test.renderer})
			_, err := s.startWith(test.content, pictured(t), func(in *signing.Start) {
				test.change(in.Stamp)
				in.BusySignal = &signing.BusySignalUse{ID: "there is none"}
			})
			if !errors.Is(err, test.want) {
				t.Errorf("%v, want %v", err, test.want)
			}
			s.wantNothing()
		})
	}
}

func TestStampWhileTheRendererIsNotReady(t *testing.T) {
	t.Parallel()
	s := newService(t, newPhone(t), signing.Options{Renderer: new(unready)})
	_, err := s.start(pictured(t), func(in *signing.Start) { in.Stamp.Auto = true })
	if !errors.Is(err, stamp.ErrNotReady) {
		t.Error(err)
	}
	s.wantNothing()
}

// wantNothing checks that the provider was not asked, and that no document and no request is left.
func (s service) wantNothing() {
	s.t.Helper()
	if n := s.documents(); n != 0 || s.phone.calls != 0 {
		s.t.Errorf("%d documents are left, %d calls", n, s.phone.calls)
	}
	requests, err := s.db.Requests().RequestsBefore(s.t.Context(), time.Now().Add(time.Hour), 10)
	if err != nil || len(requests) > 0 {
		s.t.Errorf("%d requests are left, %v", len(requests), err)
	}
}

// A start that the provider refuses or cannot answer leaves no document and no image, and does not hold the busy signal.
// It is all the same which call of the start that is (spec 3.6).
func TestStartThatComesToNothing(t *testing.T) {
	t.Parallel()
	refusal := idp.Failed{Failure: idp.Failure{Code: idp.UserNotFound, OAuth: "access_denied", Description: "audkenni_404"}}
	for name, test := range map[string]struct {
		event idp.Event
		err   error
	}{"refused": {event: refusal}, "fault": {err: io.ErrUnexpectedEOF}} {
		for call, set := range map[string]func(*phone){
			"begin": func(p *phone) { p.begin = func() (idp.Event, error) { return test.event, test.err } },
			"sign": func(p *phone) {
				p.sign = func(s idp.State) (idp.State, idp.Event, error) { return s, test.event, test.err }
			},
		} {
			t.Run(name+" at "+call, func(t *testing.T) {
				p, db := newPhone(t), &creating{DB: newStore(t)}
				set(p)
				s := onStore(t, db, p, signing.Options{})
				signal, err := s.signals.Create(t.Context(), account)
				if err != nil {
					t.Fatal(err)
				}
				_, err = s.start(pictured(t), func(in *signing.Start) { in.BusySignal = &signing.BusySignalUse{ID: signal} })
				var refused *signing.Refusal
				if test.err != nil && !errors.Is(err, test.err) || test.err == nil && (!errors.As(err, &refused) || refused.Failure != refusal.Failure) {
					t.Error(err)
				}
				if len(db.created) != 2 {
					t.Fatalf("%d documents", len(db.created))
				}
				s.wantThere(db.created, false)
				if err := s.signals.Take(t.Context(), account, signal, busysignal.Holder{ID: "another"}); err != nil {
					t.Errorf("the signal is still held: %v", err)
				}
			})
		}
	}
}

// spec 1.8: who repeats a start gets its answer, and nothing is looked for again.
func TestRepeatedStartWithAStamp(t *testing.T) {
	t.Parallel()
	renderer := &blank{}
	db := &creating{DB: newStore(t)}
	s := onStore(t, db, newPhone(t), signing.Options{IgnoreInterval: true, Renderer: renderer})
	keyed := func(body string) func(*signing.Start) {
		return func(in *signing.Start) {
			in.Stamp.Auto = true
			in.Key = &signing.IdempotencyKey{Client: "client", Key: "key", Fingerprint: body}
		}
	}
	picture := pictured(t)
	id := s.mustStart(picture, keyed("body"))
	asked := renderer.asked
	again, err := s.start(picture, keyed("body"))
	if err != nil || again.ID != id {
		t.Errorf("%+v, %v", again, err)
	}
	if _, err := s.start(picture, keyed("another body")); !errors.Is(err, signing.ErrKeyReused) {
		t.Error(err)
	}
	if asked != 1 || renderer.asked != asked {
		t.Errorf("the page was drawn %d times, then %d", asked, renderer.asked-asked)
	}
	s.wantThere(db.created[:2], true)
	s.wantThere(db.created[2:], false)
	s.checkSigned(s.poll(id).Document)
	s.wantThere(db.created, false)
}

// The request of a key may be there when it is looked for and gone when the start is made: then
// the stamp's place is found after all.
func TestRequestOfAKeyThatIsGone(t *testing.T) {
	t.Parallel()
	p, db := newPhone(t), newStore(t)
	s := wired(t, db, &going{Store: db.Requests()}, db, p, signing.Options{IgnoreInterval: true})
	id := s.mustStart(stamped, func(in *signing.Start) {
		in.Key = &signing.IdempotencyKey{Client: "client", Key: "key", Fingerprint: "body"}
	})
	wantShown(t, s.poll(id).Document, map[string]bool{"A signer": true})
}
