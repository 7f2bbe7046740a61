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

const (
	stateSecret kind = "signing request"
	certificate kind = "kept certificate"
)

// Requests returns a store that seals the secret part of each request's State, and the certificates of signers.
func Requests(store signing.Store, keys *Keys) signing.Store { return requestStore{store, keys} }

type requestStore struct {
	store signing.Store
	keys  *Keys
}

var _ signing.Store = requestStore{}

func (s requestStore) CreateRequest(ctx context.Context, r signing.Request) error {
	return s.store.CreateRequest(ctx, s.seal(r))
}

func (s requestStore) UpdateRequest(ctx context.Context, r signing.Request) error {
	return s.store.UpdateRequest(ctx, s.seal(r))
}

func (s requestStore) Request(ctx context.Context, id string) (signing.Request, error) {
	return s.open(s.store.Request(ctx, id))
}

func (s requestStore) RequestByKey(ctx context.Context, client, key string) (signing.Request, error) {
	return s.open(s.store.RequestByKey(ctx, client, key))
}

func (s requestStore) DeleteRequest(ctx context.Context, id string) error {
	return s.store.DeleteRequest(ctx, id)
}

func (s requestStore) Abandoned(ctx context.Context, account string, before time.Time, limit int) ([]signing.Request, error) {
	list, err := s.store.Abandoned(ctx, account, before, limit)
	return s.openAll(list), err
}

func (s requestStore) RequestsBefore(ctx context.Context, before time.Time, limit int) ([]signing.Request, error) {
	list, err := s.store.RequestsBefore(ctx, before, limit)
	return s.openAll(list), err
}

func (s requestStore) Unfinished(ctx context.Context, before time.Time, limit int) ([]signing.Request, error) {
	list, err := s.store.Unfinished(ctx, before, limit)
	return s.openAll(list), err
}

func (s requestStore) seal(r signing.Request) signing.Request {
	r.State.Secret = s.keys.seal(stateSecret, r.ID, r.State.Secret)
	return r
}

// open opens the secret of a request. A request that has ended does not need it, and is returned even if its key is
// missing.
func (s requestStore) open(r signing.Request, err error) (signing.Request, error) {
	if err != nil {
		return r, err
	}
	r.State.Secret, err = s.keys.open(stateSecret, r.ID, r.State.Secret)
	if err != nil && r.Phase != signing.Ended {
		return signing.Request{}, err
	}
	return r, nil
}

// openAll opens the secrets of requests that are listed to be cleaned up. It drops a secret that does not open, so
// that one request does not prevent the cleanup of the others.
func (s requestStore) openAll(list []signing.Request) []signing.Request {
	for i, r := range list {
		list[i].State.Secret, _ = s.keys.open(stateSecret, r.ID, r.State.Secret)
	}
	return list
}

func (s requestStore) KeepCertificate(ctx context.Context, c signing.KeptCertificate) error {
	c.Certificate = s.keys.seal(certificate, c.Person, c.Certificate)
	return s.store.KeepCertificate(ctx, c)
}

// KeptCertificate returns storage.ErrNotFound also if none of the keys opens the certificate. The person is then
// asked for it again, as at the first use, and can sign although a key is missing.
func (s requestStore) KeptCertificate(ctx context.Context, person string) (signing.KeptCertificate, error) {
	c, err := s.store.KeptCertificate(ctx, person)
	if err != nil {
		return c, err
	}
	if c.Certificate, err = s.keys.open(certificate, c.Person, c.Certificate); err != nil {
		return signing.KeptCertificate{}, storage.ErrNotFound
	}
	return c, nil
}

func (s requestStore) DropCertificates(ctx context.Context, before time.Time, limit int) (int, error) {
	return s.store.DropCertificates(ctx, before, limit)
}

// resealBatch is how many certificates are resealed in one transaction.
const resealBatch = 100

// ResealCertificates seals the certificates in list with the first key, where they are sealed with
// another key, and returns how many it sealed. store is the backend's store, and list has all of its certificates.
// Certificates that none of the keys opens remain unchanged until they are replaced or expire.
//
// Several servers may call it at the same time, and while other servers are running.
func ResealCertificates(ctx context.Context, tx storage.Transactor, store signing.Store, list iter.Seq2[signing.KeptCertificate, error], keys *Keys) (n int, err error) {
	var people []string
	for c, err := range list {
		if err != nil {
			return 0, fmt.Errorf("looking for certificates that were encrypted with another master key: %w", err)
		}
		if !keys.isCurrent(c.Certificate) {
			people = append(people, c.Person)
		}
	}
	for batch := range slices.Chunk(people, resealBatch) {
		more, err := requestStore{store, keys}.resealCertificates(ctx, tx, batch)
		if err != nil {
			return n, fmt.Errorf("encrypting certificates with the first master key: %w", err)
		}
		n += more
	}
	return n, nil
}

func (s requestStore) resealCertificates(ctx context.Context, tx storage.Transactor, people []string) (n int, err error) {
	err = tx.InTx(ctx, func(ctx context.Context) error {
		n = 0
		for _, person := range people {
			c, err := s.KeptCertificate(ctx, person) // again, in the transaction
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
