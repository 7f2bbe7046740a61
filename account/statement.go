package account

import (
	"context"
	"time"
)

// Statement is what the signatures of an account cost that were made in a calendar month, whichever
// API they were made with (spec 4.7).
type Statement struct {
	Account string // ID
	Name    string
	Month   time.Time // its first moment
	Signing int       // signatures made with the Signing API
	Portal  int       // and with the Portal API
	Free    int       // those that cost nothing, which count for the price of the others
	Price   int       // of each of the others, in króna and without value-added tax
	Amount  int       // of all of them, in króna and without value-added tax
}

// Signatures is how many there are.
func (s Statement) Signatures() int { return s.Signing + s.Portal }

// Statement is that of the month in which the time is. Months are those of UTC, which is the time
// of Iceland all year. Of a month that is not over it is what there is so far. Error:
// [ErrNotFound].
func (s *Service) Statement(ctx context.Context, account string, month time.Time) (Statement, error) {
	a, err := s.Account(ctx, account)
	if err != nil {
		return Statement{}, err
	}
	year, number, _ := month.UTC().Date()
	made := Statement{Account: a.ID, Name: a.Name, Month: time.Date(year, number, 1, 0, 0, 0, 0, time.UTC)}
	for line, err := range s.store.Lines(ctx, a.ID, made.Month, made.Month.AddDate(0, 1, 0)) {
		if err != nil {
			return Statement{}, fault("reading the ledger", err)
		}
		made.add(line)
	}
	made.Price = price(made.Signatures())
	made.Amount = made.Price * (made.Signatures() - made.Free)
	return made, nil
}

func (s *Statement) add(l Line) {
	if l.API == PortalAPI {
		s.Portal++
	} else {
		s.Signing++
	}
	if l.Free {
		s.Free++
	}
}

// price is what each of so many signatures of a month costs, in króna and without value-added
// tax. All of them cost the same (spec 4.7).
func price(signatures int) int {
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
