package account

import (
	"context"
	"errors"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// API names what a signature was made with.
type API string

const (
	SigningAPI API = "signing"
	PortalAPI  API = "portal"
)

// FreeSignatures is how many signatures of an account cost nothing: the first it makes, whatever
// they are made with (spec 4.7).
const FreeSignatures = 3

// Line is a signature in the ledger.
type Line struct {
	ID      string // of the signing request
	Account string
	API     API
	At      time.Time // when the signed document was stored
	Free    bool
}

// Terms are what an account may use.
type Terms struct {
	PaymentMethod bool
	Free          int   // signatures that cost nothing, of those that were not yet made
	Quota         int64 // bytes of documents that there is room for; less than 0: there are too many
}

// Signed counts a signature that a request made; one that was counted already is not counted
// again. ordered says that it was made in a signing process, as those of the Portal API are; the others are of
// the Signing API. It joins the transaction of its context. Error: [ErrNotFound].
func (s *Service) Signed(ctx context.Context, account, request string, ordered bool, at time.Time) error {
	api := SigningAPI
	if ordered {
		api = PortalAPI
	}
	err := s.tx.InTx(ctx, func(ctx context.Context) error {
		a, err := s.store.Account(ctx, account) // which stays as it is, so that one at a time counts
		if err != nil {
			return err
		}
		err = s.store.AddLine(ctx, Line{ID: request, Account: account, API: api, At: at, Free: a.free() > 0})
		if errors.Is(err, storage.ErrExists) {
			return nil
		}
		if err != nil {
			return err
		}
		a.Signatures++
		return s.store.UpdateAccount(ctx, a)
	})
	return fault("counting a signature", err)
}

// Stored notes that the documents of an account have grown by so many bytes, or shrunk. It joins
// the transaction of its context. Error: [ErrNotFound].
func (s *Service) Stored(ctx context.Context, account string, bytes int64) error {
	return s.change(ctx, account, func(a *Account) { a.Stored += bytes })
}

// Terms are those of an account. In a transaction they stay as they are until it ends. Errors:
// [ErrNotFound], [ErrClosed].
func (s *Service) Terms(ctx context.Context, account string) (Terms, error) {
	a, err := s.Account(ctx, account)
	if err != nil {
		return Terms{}, err
	}
	if !a.ClosedAt.IsZero() {
		return Terms{}, ErrClosed
	}
	return Terms{PaymentMethod: a.PaymentMethod, Free: a.free(), Quota: a.Quota - a.Stored}, nil
}

// free is how many signatures are left that cost nothing.
func (a *Account) free() int { return int(max(0, FreeSignatures-a.Signatures)) }
