package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/innsigli/innsigli/account"
)

type accountStatement struct {
	storeFlag
	Account string `arg:"" help:"ID of the account."`
	Month   string `arg:"" optional:"" placeholder:"MONTH" help:"Month such as 2026-11 (default: the present one, so far)."`
	Format  string `enum:"text,json,csv" default:"text" help:"text, json or csv (default ${default})."`
}

func (accountStatement) Help() string {
	return "Signatures of both APIs count, in the month in UTC in which the signed document was stored. All of a month cost the same each, by how many there are: 300 ISK up to 10, 215 up to 25, 200 up to 50, 180 from 51 on. The first three of an account are free, and count. Amounts are without value-added tax.\n\nExample: innsigli account statement 0b6c8f0e-6c1e-4f0f-9d3e-0c9a5f7b2d11 2026-11 --format csv"
}

// monthForm is how a month is written (ISO 8601).
const monthForm = "2006-01"

func (c accountStatement) Run(ctx context.Context, s streams) error {
	month := time.Now().UTC()
	if c.Month != "" {
		var err error
		if month, err = time.Parse(monthForm, c.Month); err != nil {
			return fmt.Errorf("%w: %q is no month such as 2026-11", errUsage, c.Month)
		}
	}
	return withOperator(ctx, c.Store, func(o operator) error {
		found, err := o.Statement(ctx, c.Account, month)
		if err != nil {
			return err
		}
		switch c.Format {
		case "json":
			return json.NewEncoder(s.out).Encode(lineOf(found))
		case "csv":
			return printCSV(s.out, lineOf(found))
		}
		return printStatement(s.out, found, time.Now())
	})
}

// Statement implements [operator].
func (d direct) Statement(ctx context.Context, id string, month time.Time) (account.Statement, error) {
	found, err := d.Service.Statement(ctx, id, month)
	if errors.Is(err, account.ErrNotFound) {
		err = noAccount(id)
	}
	return found, err
}

func printStatement(w io.Writer, s account.Statement, now time.Time) error {
	title := s.Month.Format("January 2006")
	if now.Before(s.Month.AddDate(0, 1, 0)) {
		title += ", so far"
	}
	_, err := fmt.Fprintf(w, `%s
%s
account %s

signatures, Signing API %10d
signatures, Portal API  %10d
together                %10d
of these free           %10d
price of a signature    %10d ISK
amount, without VAT     %10d ISK
`, title, s.Name, s.Account, s.Signing, s.Portal, s.Signatures(), s.Free, s.Price, s.Amount)
	return err
}

// statementLine is a statement in JSON, and in CSV in this order. Amounts are without value-added tax.
type statementLine struct {
	Account    string `json:"account"`
	Name       string `json:"name"`
	Month      string `json:"month"`
	Signing    int    `json:"signingApi"`
	Portal     int    `json:"portalApi"`
	Signatures int    `json:"signatures"`
	Free       int    `json:"free"`
	Price      int    `json:"price"`
	Amount     int    `json:"amount"`
	Currency   string `json:"currency"`
}

func lineOf(s account.Statement) statementLine {
	return statementLine{s.Account, s.Name, s.Month.Format(monthForm), s.Signing, s.Portal, s.Signatures(), s.Free, s.Price, s.Amount, "ISK"}
}

func printCSV(w io.Writer, s statementLine) error {
	number := strconv.Itoa
	return csv.NewWriter(w).WriteAll([][]string{
		{"account", "name", "month", "signingApi", "portalApi", "signatures", "free", "price", "amount", "currency"},
		{s.Account, s.Name, s.Month, number(s.Signing), number(s.Portal), number(s.Signatures), number(s.Free), number(s.Price), number(s.Amount), s.Currency},
	})
}
