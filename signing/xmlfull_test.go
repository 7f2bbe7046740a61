package signing_test

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

// narrow has no room for documents, nor for longer records, when a test wants that.
type narrow struct {
	creating
	documents, records bool // are full
}

func (n *narrow) Documents() storage.Documents { return narrowDocuments{n.creating.Documents(), n} }

func (n *narrow) Requests() signing.Store { return narrowRequests{n.creating.Requests(), n} }

type narrowDocuments struct {
	storage.Documents
	of *narrow
}

func (d narrowDocuments) Create(ctx context.Context, r io.Reader, limit int64, hashes ...crypto.Hash) (storage.Ref, error) {
	if d.of.documents {
		return storage.Ref{}, fmt.Errorf("%w: test", storage.ErrFull)
	}
	return d.Documents.Create(ctx, r, limit, hashes...)
}

type narrowRequests struct {
	signing.Store
	of *narrow
}

func (s narrowRequests) UpdateRequest(ctx context.Context, r signing.Request) error {
	if s.of.records && r.Draft != nil {
		return fmt.Errorf("%w: test", storage.ErrFull)
	}
	return s.Store.UpdateRequest(ctx, r)
}

// tallied counts timestamps.
type tallied struct {
	ades.Timestamper
	n *int
}

func (c tallied) Timestamp(ctx context.Context, h crypto.Hash, sum []byte) ([]byte, error) {
	*c.n++
	return c.Timestamper.Timestamp(ctx, h, sum)
}

// A store without room for the signed document is not pressed, and delivers it once there is room. No
// timestamp is asked for again, unless there was no room for that either. What was sent is gone when the
// signed document is there, and that when it was delivered.
func TestXMLWithoutRoom(t *testing.T) {
	t.Parallel()
	for name, records := range map[string]bool{"for documents": false, "for anything": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { xmlWithoutRoom(t, records) })
		})
	}
}

func xmlWithoutRoom(t *testing.T, records bool) {
	p := newPhone(t)
	db := &narrow{creating: creating{DB: newStore(t)}}
	o, stamps := newOutage(p.ca), 0
	s := onStore(t, db, p, signing.Options{IgnoreInterval: true, Sources: func() ades.Sources {
		sources := o.sources()
		sources.Time = tallied{sources.Time, &stamps}
		return sources
	}})
	s.format = signing.XML
	id := s.atLevel(ades.LTA)
	db.documents, db.records = true, records
	poll := func() error { return s.Poll(t.Context(), account, id, func(signing.Answer) error { return nil }) }
	if err := poll(); !errors.Is(err, storage.ErrFull) {
		t.Errorf("without room: %v", err)
	}
	asked := o.asked.Load()
	for range 10 {
		time.Sleep(time.Second)
		if err := poll(); err != nil {
			t.Errorf("while there is no room: %v", err)
		}
	}
	if more := o.asked.Load() - asked; more != 0 {
		t.Errorf("the sources were asked %d times more", more)
	}
	db.documents, db.records = false, false
	time.Sleep(time.Minute)
	broken := errors.New("connection broken")
	if err := s.Poll(t.Context(), account, id, func(signing.Answer) error { return broken }); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	if len(db.created) != 2 {
		t.Fatalf("%d documents were created", len(db.created))
	}
	s.wantThere(db.created[:1], false)
	s.wantThere(db.created[1:], true)
	signed := s.poll(id).Document
	s.checkSigned(signed)
	if got := verified(t, signed, p.ca.Roots()).Signatures[0].Format; got != "XAdES-BASELINE-LTA" {
		t.Error(got)
	}
	s.wantThere(db.created, false)
	want := 2 // one over the signature, one over all
	if records {
		want *= 2
	}
	if stamps != want {
		t.Errorf("%d timestamps, want %d", stamps, want)
	}
}
