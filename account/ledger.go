package account

import (
	"context"
	"time"

	"github.com/innsigli/innsigli/pades/inspect"
)

// API is the API that a signature was made with.
type API string

const (
	SigningAPI API = "signing"
	PortalAPI  API = "portal"
)

// FreeSignatures is the number of signatures of an account that are free: the first ones it makes, with any
// API (spec 4.7).
const FreeSignatures = 3

// Line is the entry of one signature in the ledger.
type Line struct {
	ID      string // of the signing request
	Account string
	API     API
	At      time.Time // when the signed document was stored
	Free    bool      // set by [LedgerStore].AddSignature
}

// Terms are the limits within which an account may sign and store documents.
type Terms struct {
	PaymentMethod bool
	FreeLeft      int            // free signatures that are not used yet
	StorageLeft   int64          // unused bytes of document storage; negative if more is stored than the quota permits
	Documents     inspect.Policy // what becomes of documents with warnings
}

// AddSignature adds the signature of a request to the ledger, unless it is in the ledger already. If ordered is true, the
// signature was made in a signing process, with [PortalAPI], else with [SigningAPI]. The store decides whether it is free.
// AddSignature joins the transaction of its context. It works on a closed account too, where a signature may have been
// under way. Error: [ErrNotFound].
func (s *Service) AddSignature(ctx context.Context, account, request string, ordered bool, at time.Time) error {
	api := SigningAPI
	if ordered {
		api = PortalAPI
	}
	err := s.tx.InTx(ctx, func(ctx context.Context) error {
		return s.store.AddSignature(ctx, Line{ID: request, Account: account, API: api, At: at})
	})
	return storeError("counting a signature", err)
}

// AddStoredBytes adds delta, which may be negative, to the size in bytes of the account's documents. It joins the transaction
// of its context. It works on a closed account too, whose documents are being deleted. Error: [ErrNotFound].
func (s *Service) AddStoredBytes(ctx context.Context, account string, delta int64) error {
	err := s.tx.InTx(ctx, func(ctx context.Context) error {
		a, err := s.store.Account(ctx, account)
		if err != nil {
			return err
		}
		a.Stored += delta
		return s.store.UpdateAccount(ctx, a)
	})
	return storeError("counting stored bytes", err)
}

// Terms returns the terms of an account. In a transaction they do not change until it ends, because others cannot change
// an account that the transaction has read ([Store]). Errors: [ErrNotFound], [ErrClosed].
func (s *Service) Terms(ctx context.Context, account string) (Terms, error) {
	a, err := s.openAccount(ctx, account)
	if err != nil {
		return Terms{}, storeError("reading the account", err)
	}
	return Terms{PaymentMethod: a.PaymentMethod, FreeLeft: a.freeLeft(), StorageLeft: a.Quota - a.Stored, Documents: a.Documents}, nil
}

// freeLeft returns how many free signatures the account has not used yet.
func (a *Account) freeLeft() int { return int(max(0, FreeSignatures-a.FreeUsed)) }

// Statement is the price of the signatures that an account made in a calendar month with all APIs (spec 4.7).
// Prices are in króna, without value-added tax.
type Statement struct {
	Account string // ID
	Name    string
	Month   time.Time // start of the month
	Signing int       // number of signatures made with the Signing API
	Portal  int       // and with the Portal API
	Free    int       // number of free signatures among them
	Price   int       // of one signature that is not free
	Amount  int       // of all signatures that are not free
}

// Signatures returns the number of signatures in the month.
func (s Statement) Signatures() int { return s.Signing + s.Portal }

// Statement returns the statement of the calendar month that contains the time at. Months are in UTC,
// which is Iceland's time all year. The statement of the current month covers the signatures made so far.
// Error: [ErrNotFound].
func (s *Service) Statement(ctx context.Context, account string, at time.Time) (Statement, error) {
	a, err := s.Account(ctx, account)
	if err != nil {
		return Statement{}, err
	}
	year, month, _ := at.UTC().Date()
	statement := Statement{Account: a.ID, Name: a.Name, Month: time.Date(year, month, 1, 0, 0, 0, 0, time.UTC), Price: unitPrice(0)}
	for line, lineErr := range s.store.Lines(ctx, a.ID, statement.Month, statement.Month.AddDate(0, 1, 0)) {
		if lineErr != nil {
			return Statement{}, storeError("reading the ledger", lineErr)
		}
		statement.Add(line)
	}
	return statement, nil
}

// Add adds a signature, and with it changes the price of all of them. It does not check that the line is of the
// statement's account and month.
func (s *Statement) Add(l Line) {
	if l.API == PortalAPI {
		s.Portal++
	} else {
		s.Signing++
	}
	if l.Free {
		s.Free++
	}
	s.Price = unitPrice(s.Signatures())
	s.Amount = s.Price * (s.Signatures() - s.Free)
}

// unitPrice returns the price of one signature in a month with the given number of signatures, free ones included. All
// signatures of a month have the same price (spec 4.7).
func unitPrice(signatures int) int {
	switch {
	case signatures <= 10:
		return 300
	case signatures <= 25:
		return 215
	case signatures <= 50:
		return 200
	}
	return 180
}
