package sealed

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

func (s requests) KeepCertificate(ctx context.Context, c signing.KeptCertificate) error {
	c.Certificate = s.keys.seal(certificate, c.Person, c.Certificate)
	return s.store.KeepCertificate(ctx, c)
}

// KeptCertificate answers storage.ErrNotFound also where none of the keys opens the
// certificate: the person is then asked as on first use, and nobody is refused because a
// key is gone.
func (s requests) KeptCertificate(ctx context.Context, person string) (signing.KeptCertificate, error) {
	c, err := s.store.KeptCertificate(ctx, person)
	if err != nil {
		return c, err
	}
	if c.Certificate, err = s.keys.open(certificate, c.Person, c.Certificate); err != nil {
		return signing.KeptCertificate{}, storage.ErrNotFound
	}
	return c, nil
}

func (s requests) DropCertificates(ctx context.Context, before time.Time, limit int) (int, error) {
	return s.store.DropCertificates(ctx, before, limit)
}

// resealBatch is how many certificates one transaction seals anew.
const resealBatch = 100

// ResealCertificates seals with the first key the certificates of a list that are sealed
// with another, or not at all, and says how many there were. store is the backend's own, and
// the list has all of its certificates. Those that none of the keys opens stay as they are,
// until another takes their place or they expire.
//
// Several servers may do it at once, and while others serve.
func ResealCertificates(ctx context.Context, tx storage.Transactor, store signing.Store, list iter.Seq2[signing.KeptCertificate, error], keys *Keys) (n int, err error) {
	var people []string
	for c, err := range list {
		if err != nil {
			return 0, fmt.Errorf("looking for certificates that another master key sealed: %w", err)
		}
		if !keys.current(c.Certificate) {
			people = append(people, c.Person)
		}
	}
	for some := range slices.Chunk(people, resealBatch) {
		more, err := requests{store, keys}.resealCertificates(ctx, tx, some)
		if err != nil {
			return n, fmt.Errorf("sealing certificates with the first master key: %w", err)
		}
		n += more
	}
	return n, nil
}

func (s requests) resealCertificates(ctx context.Context, tx storage.Transactor, people []string) (n int, err error) {
	err = tx.InTx(ctx, func(ctx context.Context) error {
		n = 0
		for _, person := range people {
			c, err := s.KeptCertificate(ctx, person) // as it is now
			if errors.Is(err, storage.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			if err := s.KeepCertificate(ctx, c); err != nil {
				return err
			}
			n++
		}
		return nil
	})
	return n, err
}
