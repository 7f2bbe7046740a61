package signing_test

import (
	"context"
	"crypto"
	"crypto/x509"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

// steps counts the steps of an attempt to complete a signature: a document is opened or read, or a source is asked. At step
// number at it calls do.
type steps struct {
	n, at int
	do    func() error
}

func (s *steps) next() error {
	if s.n++; s.n == s.at {
		return s.do()
	}
	return nil
}

// steppedStore is a store whose documents are opened and read in steps.
type steppedStore struct {
	backend
	*steps
}

func (s steppedStore) Documents() storage.Documents {
	return steppedDocuments{s.backend.Documents(), s.steps}
}

type steppedDocuments struct {
	storage.Documents
	*steps
}

func (d steppedDocuments) Open(ctx context.Context, id string) (storage.Blob, error) {
	blob, err := d.Documents.Open(ctx, id)
	if err == nil {
		if err = d.next(); err != nil {
			blob.Close()
		}
	}
	return steppedBlob{blob, d.steps}, err
}

type steppedBlob struct {
	storage.Blob
	*steps
}

func (b steppedBlob) ReadAt(p []byte, at int64) (int, error) {
	if err := b.next(); err != nil {
		return 0, err
	}
	return b.Blob.ReadAt(p, at)
}

// steppedSources are sources of validation data that are asked in steps.
type steppedSources struct {
	ades.Sources
	*steps
}

func (s steppedSources) sources() ades.Sources {
	_ = s.next()
	stepped := s.Sources
	stepped.Time, stepped.Revocation = s, s
	return stepped
}

func (s steppedSources) Timestamp(ctx context.Context, h crypto.Hash, sum []byte) ([]byte, error) {
	defer s.next()
	return s.Time.Timestamp(ctx, h, sum)
}

func (s steppedSources) Revocation(ctx context.Context, cert, issuer *x509.Certificate, notBefore time.Time) (ades.RevocationData, error) {
	defer s.next()
	return s.Sources.Revocation.Revocation(ctx, cert, issuer, notBefore)
}

// TestValueOutlivesFaults checks spec 3.9 for an attempt that is cut short, or in which a read of the document fails, at each
// of its steps, with and without the draft of an earlier attempt: the value stays, and a later attempt completes the signature.
func TestValueOutlivesFaults(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		format          signing.Format
		draft, cutShort bool
	}{
		"PDF, cut short":             {signing.PDF, false, true},
		"PDF, cut short, with draft": {signing.PDF, true, true},
		"PDF, not read":              {signing.PDF, false, false},
		"PDF, not read, with draft":  {signing.PDF, true, false},
		"XML, not read":              {signing.XML, false, false},
		"XML, cut short":             {signing.XML, false, true},
		"XML, cut short, with draft": {signing.XML, true, true},
		"XML, not read, with draft":  {signing.XML, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p, count := newPhone(t), new(steps)
				count.do = func() error {
					if !test.cutShort {
						return fmt.Errorf("%w: connection lost", storage.ErrUnavailable)
					}
					time.Sleep(6 * time.Second) // a poll has 5 s
					return nil
				}
				s, authority := newSteppedService(t, p, count)
				s.format = test.format
				for at := 1; ; at++ {
					id := s.atLevel(ades.LT)
					if test.draft {
						authority.cut(nil, errResponderDown)
						s.poll(id)
						authority.cut(nil, nil)
					}
					count.n, count.at = 0, at
					s.checkSigned(s.pollInsistently(id))
					if count.n < at {
						if at < 8 {
							t.Errorf("a request took %d steps: the test sees too few of them", at-1)
						}
						return
					}
					count.at = 0
				}
			})
		})
	}
}

// newSteppedService returns a service whose documents are read, and whose sources are asked, in steps.
func newSteppedService(t *testing.T, p *phone, count *steps) (service, *outage) {
	authority := newOutage(p.ca)
	s := onStore(t, steppedStore{newStore(t), count}, p, signing.Options{
		Sources: steppedSources{authority.sources(), count}.sources, SingleProcess: true,
	})
	return s, authority
}

// TestOnlyFullAttemptsGiveUp checks that after the time for completing a poll's attempt that is cut short does not end the
// request, and a job's attempt that had all of its time does.
func TestOnlyFullAttemptsGiveUp(t *testing.T) {
	t.Parallel()
	for name, slow := range map[string]bool{"the source answers in 6 s": false, "the source never answers": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, count := newPhone(t), new(steps)
				s, authority := newSteppedService(t, p, count)
				id := s.atLevel(ades.LT)
				authority.cut(errTSADown, nil)
				s.poll(id)
				authority.cut(nil, nil)
				time.Sleep(16 * time.Minute) // the server is away
				count.at, count.do = 1, func() error { time.Sleep(6 * time.Second); return nil }
				count.n = 0
				if r := s.poll(id); r.Code != idp.AuthorizationPending {
					t.Fatalf("a poll's attempt: %+v", r)
				}
				if slow {
					count.n, count.do = 0, func() error { time.Sleep(61 * time.Second); return nil }
				}
				s.work(t.Context())
				if r := s.poll(id); slow != (r.Code == idp.InternalError) || slow != (r.Document == nil) {
					t.Errorf("after a job's attempt: %+v", r)
				}
			})
		})
	}
}
