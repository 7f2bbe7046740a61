package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/innsigli/innsigli/account"
)

type clientCommand struct {
	Create clientCreate  `cmd:"" help:"Make an API client; its secret is shown once."`
	List   clientList    `cmd:"" help:"List the API clients of an account."`
	Secret secretCommand `cmd:"" help:"The secrets of an API client: two at once, to replace one."`
	Delete clientDelete  `cmd:"" help:"Remove an API client; its tokens end with it."`
}

func (clientCommand) Help() string {
	return worksWhileServing + "\n\nExample: innsigli client create 0b6c8f0e-6c1e-4f0f-9d3e-0c9a5f7b2d11 archive"
}

type clientCreate struct {
	storeFlag
	Account string   `arg:"" help:"ID of the account."`
	Name    string   `arg:"" help:"Name of the client."`
	Scope   []string `help:"A scope to grant; repeat for more (default all: api/signatures, portal/read, portal/write)."`
	None    bool     `name:"no-scope" xor:"scopes" help:"Grant no scope."`
}

func (clientCreate) Help() string {
	return "Example: innsigli client create 0b6c8f0e-6c1e-4f0f-9d3e-0c9a5f7b2d11 archive --scope api/signatures"
}

func (c clientCreate) Run(ctx context.Context, s streams) error {
	scopes := c.Scope
	if len(scopes) == 0 && !c.None {
		scopes = account.Scopes()
	}
	return withOperator(ctx, c.Store, func(o operator) error {
		made, secret, err := o.CreateClient(ctx, c.Account, c.Name, scopes)
		if err == nil {
			_, err = fmt.Fprintf(s.out, "client id      %s\nclient secret  %s\n", made.ID, secret)
		}
		return err
	})
}

type clientList struct {
	storeFlag
	Account string `arg:"" help:"ID of the account."`
}

func (clientList) Help() string {
	return "SECRETS is how many it has. LAST USED is when it got a token, to ten minutes; a client that calls gets one every hour.\n\nExample: innsigli client list 0b6c8f0e-6c1e-4f0f-9d3e-0c9a5f7b2d11"
}

func (c clientList) Run(ctx context.Context, s streams) error {
	return withOperator(ctx, c.Store, func(o operator) error {
		clients, err := o.Clients(ctx, c.Account)
		if err != nil {
			return err
		}
		return table(s.out, "CLIENT\tSCOPES\tSECRETS\tCREATED\tLAST USED\tNAME", clients, func(c account.Client) string {
			return fmt.Sprintf("%s\t%s\t%d\t%s\t%s\t%s", c.ID, strings.Join(c.Scopes, " "), len(c.Secrets), c.CreatedAt.Format("2006-01-02"), timeOrDash(c.UsedAt), c.Name)
		})
	})
}

type clientDelete struct {
	storeFlag
	Client string `arg:"" help:"ID of the client."`
}

func (clientDelete) Help() string {
	return "Example: innsigli client delete 3f0c4a52-58f3-4e0b-8a53-6c1f3f1d7c55"
}

func (c clientDelete) Run(ctx context.Context) error {
	return withOperator(ctx, c.Store, func(o operator) error { return o.DeleteClient(ctx, c.Client) })
}
