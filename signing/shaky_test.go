package signing_test

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

// outing is when a store goes away: at a transaction, counted from 1, and for how long. The
// one at which it goes may have been committed, of which its caller does not hear.
type outing struct {
	at        int
	committed bool
	lasts     time.Duration
	err       error
}

// shaky are the transactions of a store that goes away once.
type shaky struct {
	storage.Transactor
	outing
	mu    sync.Mutex
	n     int // transactions begun
	until time.Time
}

// joins marks a context that carries a transaction.
type joins struct{}

func (s *shaky) InTx(ctx context.Context, fn func(context.Context) error) error {
	if ctx.Value(joins{}) != nil {
		return s.Transactor.InTx(ctx, fn)
	}
	ctx = context.WithValue(ctx, joins{}, true)
	away, committed := s.next()
	return errors.Join(s.Transactor.InTx(ctx, func(ctx context.Context) error {
		if err := fn(ctx); err != nil || !away || committed {
			return err
		}
		return s.err
	}), s.unheard(committed))
}

func (s *shaky) unheard(committed bool) error {
	if committed {
		return s.err
	}
	return nil
}

// next begins a transaction, and says whether the store is away, and whether it commits.
func (s *shaky) next() (away, committed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.n++; s.n == s.at {
		s.until = time.Now().Add(s.lasts)
		return true, s.committed
	}
	return time.Now().Before(s.until), false
}

// went says whether the store has been away.
func (s *shaky) went() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n >= s.at
}

// again says whether a client makes a call again after the error.
func again(err error) bool {
	return errors.Is(err, storage.ErrUnavailable) || errors.Is(err, storage.ErrFull) || errors.Is(err, signing.ErrKeyInUse)
}

// insistent is a client that makes a call again until it is answered, as it may: its starts
// have an idempotency key.
func (s service) insistent(call func() error) error {
	for range 60 {
		if err := call(); !again(err) {
			return err
		}
		time.Sleep(time.Second)
	}
	return errors.New("no answer in a minute")
}

// startInsistently starts a request for a document, a PDF with a stamp that has a picture.
func (s service) startInsistently(signal string) (id string) {
	s.t.Helper()
	picture := func(*signing.Start) {}
	if s.format == signing.PDF {
		picture = pictured(s.t)
	}
	err := s.insistent(func() error {
		started, err := s.start(picture, func(in *signing.Start) {
			in.Key = &signing.IdempotencyKey{Client: "client", Key: "key", Fingerprint: "body"}
			in.BusySignal = &signing.BusySignalUse{ID: signal}
		})
		id = started.ID
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return id
}

// pollInsistently polls until there is a document, which it reads as httpapi writes it.
func (s service) pollInsistently(id string) (signed []byte) {
	s.t.Helper()
	for range 60 {
		err := s.insistent(func() error {
			return s.Poll(s.t.Context(), account, id, func(a signing.Answer) (err error) {
				if a.Document == nil {
					return nil
				}
				if signed, err = io.ReadAll(io.NewSectionReader(a.Document, 0, a.Document.Size())); err != nil {
					return err
				}
				return a.ReleaseSignal()
			})
		})
		if err != nil {
			s.t.Fatal(err)
		}
		if signed != nil {
			return signed
		}
		time.Sleep(2 * time.Second)
	}
	s.t.Fatal("no document in two minutes")
	return nil
}
