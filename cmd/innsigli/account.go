package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/innsigli/innsigli/account"
)

// storeFlag is where a server keeps everything.
type storeFlag struct {
	Store string `default:"bolt:innsigli-sandbox.db" placeholder:"STORE" help:"Where everything is kept: bolt:PATH, bolt:PATH?documents=FOLDER or postgres://HOST/DATABASE (default ${default})."`
}

// worksWhileServing is for commands that go through the server's socket when there is one.
const worksWhileServing = "This works while a server runs on the same store, too."

// storeHelp is for the commands that open a store to serve.
const storeHelp = "A store of the form bolt:PATH is a file, for one server; with ?documents=FOLDER its documents are files in that folder. One of the form postgres://USER@HOST/DATABASE is a database, for any number of servers; its tables are made at the start. A URL with a password is better given in INNSIGLI_STORE, where other users of the machine do not see it."

type accountCommand struct {
	Create        accountCreate        `cmd:"" help:"Make an account."`
	List          accountList          `cmd:"" help:"List the accounts."`
	PaymentMethod accountPaymentMethod `cmd:"" help:"Say whether an account has a payment method."`
	Quota         accountQuota         `cmd:"" help:"Set the document storage of an account."`
	Admins        accountAdmins        `cmd:"" help:"Show, or set, who gets mail when there is trouble."`
	Statement     accountStatement     `cmd:"" help:"What an account owes for a month."`
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
	return withOperator(ctx, c.Store, func(o operator) error {
		a, err := o.CreateAccount(ctx, c.Name)
		if err == nil {
			_, err = fmt.Fprintln(s.out, a.ID)
		}
		return err
	})
}

type accountList struct{ storeFlag }

func (accountList) Help() string {
	return "STORED is what of the QUOTA the documents of signing processes take up, both in bytes. SIGNATURES are all that were ever made.\n\nExample: innsigli account list --store bolt:innsigli.db"
}

func (c accountList) Run(ctx context.Context, s streams) error {
	return withOperator(ctx, c.Store, func(o operator) error {
		accounts, err := o.Accounts(ctx)
		if err != nil {
			return err
		}
		return table(s.out, "ACCOUNT\tPAYMENT METHOD\tQUOTA\tSTORED\tSIGNATURES\tCREATED\tNAME", accounts, func(a account.Account) string {
			return fmt.Sprintf("%s\t%s\t%d\t%d\t%d\t%s\t%s", a.ID, onOff(a.PaymentMethod), a.Quota, a.Stored, a.Signatures, a.CreatedAt.Format("2006-01-02"), a.Name)
		})
	})
}

type accountPaymentMethod struct {
	storeFlag
	Account string `arg:"" help:"ID of the account."`
	State   string `arg:"" enum:"on,off" help:"on or off."`
}

func (accountPaymentMethod) Help() string {
	return "Example: innsigli account payment-method 0b6c8f0e-6c1e-4f0f-9d3e-0c9a5f7b2d11 off"
}

func (c accountPaymentMethod) Run(ctx context.Context) error {
	return withOperator(ctx, c.Store, func(o operator) error { return o.SetPaymentMethod(ctx, c.Account, c.State == "on") })
}

type accountQuota struct {
	storeFlag
	Account string `arg:"" help:"ID of the account."`
	Bytes   int64  `arg:"" help:"Bytes that the documents of its signing processes may come to."`
}

func (accountQuota) Help() string {
	return "Example: innsigli account quota 0b6c8f0e-6c1e-4f0f-9d3e-0c9a5f7b2d11 10737418240"
}

func (c accountQuota) Run(ctx context.Context) error {
	return withOperator(ctx, c.Store, func(o operator) error { return o.SetQuota(ctx, c.Account, c.Bytes) })
}

// table prints rows in columns.
func table[T any](w io.Writer, header string, rows []T, line func(T) string) error {
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(columns, header)
	for _, r := range rows {
		fmt.Fprintln(columns, line(r))
	}
	return columns.Flush()
}

func onOff(b bool) string {
	if b {
		return "on"
	}
	return "off"
}
