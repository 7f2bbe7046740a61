package signing_test

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
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

// wantNothing checks that no person was asked, and that there is no document.
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

// What is refused after the place was found leaves no image behind.
func TestRefusedAfterThePlaceWasFound(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		signal string
		begin  func() (idp.Event, error)
	}{
		"busy signal that does not exist": {signal: "there is none"},
		"fault of the provider":           {begin: func() (idp.Event, error) { return nil, io.ErrUnexpectedEOF }},
		"refused by the provider":         {begin: func() (idp.Event, error) { return idp.Failed{Failure: idp.Failure{Code: idp.UserNotFound}}, nil }},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPhone(t)
			if test.begin != nil {
				p.begin = test.begin
			}
			db := &creating{DB: newStore(t)}
			s := onStore(t, db, p, signing.Options{})
			_, err := s.start(pictured(t), func(in *signing.Start) {
				if test.signal != "" {
					in.BusySignal = &signing.BusySignalUse{ID: test.signal}
				}
			})
			if err == nil || len(db.created) != 2 {
				t.Fatalf("%v after %d documents", err, len(db.created))
			}
			s.wantThere(db.created, false)
		})
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

// Two servers at once find a place each, and one of them makes the request.
func TestStampsOnTwoServers(t *testing.T) {
	t.Parallel()
	p, db := newPhone(t), &creating{DB: newStore(t)}
	key := func(in *signing.Start) {
		in.Key = &signing.IdempotencyKey{Client: "client", Key: "key", Fingerprint: "body"}
	}
	first := onStore(t, db, p, signing.Options{IgnoreInterval: true})
	id := first.mustStart(pictured(t), key)
	second := wired(t, db, &racing{Store: db.Requests()}, db, p, signing.Options{IgnoreInterval: true})
	if again, err := second.start(pictured(t), key); err != nil || again.ID != id {
		t.Errorf("%+v, %v", again, err)
	}
	if len(db.created) != 4 {
		t.Fatalf("%d documents", len(db.created))
	}
	first.wantThere(db.created[:2], true)
	first.wantThere(db.created[2:], false)
}
