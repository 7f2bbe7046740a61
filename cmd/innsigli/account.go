package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/pades/inspect"
	"github.com/innsigli/innsigli/server/operator"
)

type accountCommand struct {
	Create        accountCreate        `cmd:"" help:"Create an account."`
	List          accountList          `cmd:"" help:"List the accounts."`
	PaymentMethod accountPaymentMethod `cmd:"" help:"Set whether an account has a payment method."`
	Quota         accountQuota         `cmd:"" help:"Set the storage quota of an account."`
	Admins        accountAdmins        `cmd:"" help:"Show or set the mail addresses that problems are reported to."`
	Set           accountSet           `cmd:"" help:"Show or set what becomes of the documents of an account."`
	Statement     accountStatement     `cmd:"" help:"Print the signatures and the charge of an account for a month."`
	Delete        accountDelete        `cmd:"" help:"Delete an account with all of its data."`
}

func (accountCommand) Help() string {
	return worksWhileServing + "\n\nExample: innsigli account list --store bolt:innsigli-sandbox.db"
}

type accountCreate struct {
	storeFlag
	Name string `arg:"" help:"Name of the account."`
}

func (accountCreate) Help() string { return `Example: innsigli account create "Example Ltd."` }

func (c accountCreate) Run(ctx context.Context, s streams) error {
	return c.operate(ctx, func(o operator.Operator) error {
		a, err := o.CreateAccount(ctx, c.Name)
		if err == nil {
			_, err = fmt.Fprintln(s.stdout, a.ID)
		}
		return err
	})
}

type accountList struct{ storeFlag }

func (accountList) Help() string {
	return "QUOTA is how many bytes the documents of an account's signing processes may take, and STORED how many they take now. How many signatures were made for an account in a month, innsigli account statement says.\n\nExample: innsigli account list --store bolt:innsigli.db"
}

func (c accountList) Run(ctx context.Context, s streams) error {
	return c.operate(ctx, func(o operator.Operator) error {
		accounts, err := o.Accounts(ctx)
		if err != nil {
			return err
		}
		return table(s.stdout, "ACCOUNT\tPAYMENT METHOD\tQUOTA\tSTORED\tCREATED\tNAME", accounts, func(a account.Account) string {
			name := a.Name
			if !a.ClosedAt.IsZero() {
				name += " (closed: run account delete again)"
			}
			return fmt.Sprintf("%s\t%s\t%d\t%d\t%s\t%s", a.ID, onOff(a.PaymentMethod), a.Quota, a.Stored, a.CreatedAt.Format("2006-01-02"), name)
		})
	})
}

type accountPaymentMethod struct {
	storeFlag
	Account string `arg:"" help:"ID of the account."`
	State   string `arg:"" enum:"on,off" help:"on: the account has a payment method; off: it has none."`
}

func (accountPaymentMethod) Help() string {
	return "Example: innsigli account payment-method 0b6c8f0e-6c1e-4f0f-9d3e-0c9a5f7b2d11 off"
}

func (c accountPaymentMethod) Run(ctx context.Context) error {
	return c.operate(ctx, func(o operator.Operator) error { return o.SetPaymentMethod(ctx, c.Account, c.State == "on") })
}

type accountQuota struct {
	storeFlag
	Account string `arg:"" help:"ID of the account."`
	Bytes   int64  `arg:"" help:"Storage quota in bytes: how much the documents of its signing processes may take."`
}

func (accountQuota) Help() string {
	return "Example: innsigli account quota 0b6c8f0e-6c1e-4f0f-9d3e-0c9a5f7b2d11 10737418240"
}

func (c accountQuota) Run(ctx context.Context) error {
	return c.operate(ctx, func(o operator.Operator) error { return o.SetQuota(ctx, c.Account, c.Bytes) })
}

type accountAdmins struct {
	storeFlag
	Account   string   `arg:"" help:"ID of the account."`
	Addresses []string `arg:"" optional:"" name:"address" help:"Mail addresses, which replace those of the account."`
	None      bool     `help:"Remove all addresses of the account."`
}

func (accountAdmins) Help() string {
	return "Without an address the command prints the account's addresses, one per line.\n\nExample: innsigli account admins 0b6c8f0e-6c1e-4f0f-9d3e-0c9a5f7b2d11 admin@example.is"
}

func (c accountAdmins) Run(ctx context.Context, s streams) error {
	if c.None && len(c.Addresses) > 0 {
		return fmt.Errorf("%w: give either --none or addresses, not both", errUsage)
	}
	return c.operate(ctx, func(o operator.Operator) error {
		if c.None || len(c.Addresses) > 0 {
			return o.SetAdmins(ctx, c.Account, c.Addresses)
		}
		a, err := accountOf(ctx, o, c.Account)
		if err != nil {
			return err
		}
		for _, address := range a.Admins {
			fmt.Fprintln(s.stdout, address)
		}
		return nil
	})
}

// accountOf returns the account with an ID.
func accountOf(ctx context.Context, o operator.Operator, id string) (account.Account, error) {
	accounts, err := o.Accounts(ctx)
	if err != nil {
		return account.Account{}, err
	}
	i := slices.IndexFunc(accounts, func(a account.Account) bool { return a.ID == id })
	if i < 0 {
		return account.Account{}, fmt.Errorf("there is no account %q", id)
	}
	return accounts[i], nil
}

type accountSet struct {
	storeFlag
	Account   string         `arg:"" help:"ID of the account."`
	Documents inspect.Policy `placeholder:"POLICY" help:"warn, refuse, or refuse: with kinds of warnings that are separated by commas."`
}

func (accountSet) Help() string {
	return "With --documents refuse, a document that has any warning is refused when a signing process is created or a signature is started; with refuse:JavaScript,XFA one that has a warning of these kinds. An account accepts all documents (warn) until that is changed. The kinds are " + strings.Join(policyKinds(), ", ") + "; docs/explanation/warnings.md explains them. Without a flag the command prints the setting.\n\nExample: innsigli account set 0b6c8f0e-6c1e-4f0f-9d3e-0c9a5f7b2d11 --documents refuse:JavaScript,EmbeddedFiles"
}

// policyKinds returns the kinds that a policy can name.
func policyKinds() (kinds []string) {
	for _, code := range inspect.Codes() {
		if inspect.Policy("refuse:"+code).Check() == nil {
			kinds = append(kinds, string(code))
		}
	}
	return kinds
}

func (c accountSet) Run(ctx context.Context, s streams) error {
	if err := c.Documents.Check(); err != nil {
		return fmt.Errorf("%w: --documents: %w", errUsage, err)
	}
	return c.operate(ctx, func(o operator.Operator) error {
		if c.Documents != "" {
			return o.SetDocuments(ctx, c.Account, c.Documents)
		}
		a, err := accountOf(ctx, o, c.Account)
		if err == nil {
			_, err = fmt.Fprintf(s.stdout, "documents %s\n", cmp.Or(a.Documents, inspect.Warn))
		}
		return err
	})
}

type accountStatement struct {
	storeFlag
	Account string `arg:"" help:"ID of the account."`
	Month   string `arg:"" optional:"" placeholder:"MONTH" help:"Month such as 2026-11 (default: the current month, so far)."`
	Format  string `enum:"text,json,csv" default:"text" help:"text, json or csv (default ${default})."`
}

func (accountStatement) Help() string {
	return "Signatures of both APIs are counted, each in the month (UTC) in which the signed document was stored. All signatures of a month have the same price, which depends on their number: 300 ISK each up to 10, 215 up to 25, 200 up to 50, 180 from 51 on. The first three signatures of an account are free; they are counted too. Amounts exclude value-added tax.\n\nExample: innsigli account statement 0b6c8f0e-6c1e-4f0f-9d3e-0c9a5f7b2d11 2026-11 --format csv"
}

// monthForm is the layout of a month (ISO 8601).
const monthForm = "2006-01"

func (c accountStatement) Run(ctx context.Context, s streams) error {
	month := time.Now().UTC()
	if c.Month != "" {
		var err error
		if month, err = time.Parse(monthForm, c.Month); err != nil {
			return fmt.Errorf("%w: %q is not a month such as 2026-11", errUsage, c.Month)
		}
	}
	return c.operate(ctx, func(o operator.Operator) error {
		statement, err := o.Statement(ctx, c.Account, month)
		if err != nil {
			return err
		}
		switch c.Format {
		case "json":
			return json.NewEncoder(s.stdout).Encode(lineOf(statement))
		case "csv":
			return printCSV(s.stdout, lineOf(statement))
		}
		return printStatement(s.stdout, statement, time.Now())
	})
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
total                   %10d
of which free           %10d
price per signature     %10d ISK
amount, without VAT     %10d ISK
`, title, s.Name, s.Account, s.Signing, s.Portal, s.Signatures(), s.Free, s.Price, s.Amount)
	return err
}

// statementLine is a statement in JSON, and in this order in CSV. Amounts exclude value-added tax.
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

type accountDelete struct {
	storeFlag
	Account string `arg:"" help:"ID of the account."`
	DryRun  bool   `help:"Count what would be deleted, and change nothing."`
	Force   bool   `help:"Also delete signing requests that are under way or can still be completed; their signatures are lost."`
}

func (accountDelete) Help() string {
	return "Deletes the account, its API clients and tokens, signing processes and requests with their documents, jobs, webhook subscriptions with their log, busy signals, sandbox users and the ledger. The command closes the account first, which refuses all calls of its clients. If the command is interrupted, run it again to continue. Unless --force is given, it refuses to delete an account with signing requests that are under way, whose documents were not fetched, or whose signatures \"innsigli signing complete\" can still complete.\n\nWhat stays: the evidence log, for the time that [retention] sets. It has a statement of each month in place of the ledger (\"innsigli evidence export --request ACCOUNT\"). The stored certificates of people and the signing page's records about visitors belong to no account: they are encrypted or hashed, and expire. Earlier backups still have all data. " + worksWhileServing + "\n\nExample: innsigli account delete 0b6c8f0e-6c1e-4f0f-9d3e-0c9a5f7b2d11 --dry-run --store bolt:innsigli.db"
}

func (c accountDelete) Run(ctx context.Context, s streams) error {
	return c.operate(ctx, func(o operator.Operator) error {
		var done operator.AccountContent
		err := o.DeleteAccount(ctx, c.Account, operator.Deletion{DryRun: c.DryRun, Force: c.Force}, func(so operator.AccountContent) error {
			done = so
			return nil
		})
		if err != nil {
			return err
		}
		what := "deleted"
		if c.DryRun {
			what = "would delete"
		}
		_, err = fmt.Fprintf(s.stdout, `%s account %s:
clients                %d
tokens                 %d
idempotency keys       %d
processes              %d
signing requests       %d
  of which under way   %d
webhook subscriptions  %d
delivery attempts      %d
dropped events         %d
jobs                   %d
busy signals           %d
sandbox users          %d
ledger lines           %d
`, what, c.Account, done.Clients, done.Tokens, done.Keys, done.Processes, done.Requests, done.UnderWay, done.Subscriptions,
			done.Attempts, done.Dropped, done.Jobs, done.Signals, done.Users, done.Lines)
		return err
	})
}
