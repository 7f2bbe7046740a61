package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/server/operator"
)

type clientCommand struct {
	Create clientCreate  `cmd:"" help:"Create an API client; its secret is shown once."`
	List   clientList    `cmd:"" help:"List the API clients of an account."`
	Secret secretCommand `cmd:"" help:"Manage the secrets of an API client, which may have two."`
	Delete clientDelete  `cmd:"" help:"Delete an API client; its tokens become invalid."`
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
	return c.operate(ctx, func(o operator.Operator) error {
		made, secret, err := o.CreateClient(ctx, c.Account, c.Name, scopes)
		if err == nil {
			_, err = fmt.Fprintf(s.stdout, "client id      %s\nclient secret  %s\n", made.ID, secret)
		}
		return err
	})
}

type clientList struct {
	storeFlag
	Account string `arg:"" help:"ID of the account."`
}

func (clientList) Help() string {
	return "SECRETS is the number of the client's secrets. LAST USED is when the client last got an access token, accurate to ten minutes; a token is valid for an hour.\n\nExample: innsigli client list 0b6c8f0e-6c1e-4f0f-9d3e-0c9a5f7b2d11"
}

func (c clientList) Run(ctx context.Context, s streams) error {
	return c.operate(ctx, func(o operator.Operator) error {
		clients, err := o.Clients(ctx, c.Account)
		if err != nil {
			return err
		}
		return table(s.stdout, "CLIENT\tSCOPES\tSECRETS\tCREATED\tLAST USED\tNAME", clients, func(c account.Client) string {
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
	return c.operate(ctx, func(o operator.Operator) error { return o.DeleteClient(ctx, c.Client) })
}

type secretCommand struct {
	Add    secretAdd    `cmd:"" help:"Add a second secret to a client. It is shown once; the first one stays valid."`
	List   secretList   `cmd:"" help:"List the secrets of a client, and when they were last used."`
	Remove secretRemove `cmd:"" help:"Remove a secret from a client; the tokens that were issued for it become invalid at once."`
}

func (secretCommand) Help() string {
	return "To replace a secret: add one, configure the client program with it, wait until \"innsigli client secret list\" shows that the old one is not used any more, and remove the old one. If a secret has leaked, remove it without waiting. " + worksWhileServing + "\n\nExample: innsigli client secret add 3f0c4a52-58f3-4e0b-8a53-6c1f3f1d7c55"
}

type secretAdd struct {
	storeFlag
	Client string `arg:"" help:"ID of the client."`
}

func (secretAdd) Help() string {
	return "During an upgrade, servers of the previous version that run on the same database accept only the first secret.\n\nExample: innsigli client secret add 3f0c4a52-58f3-4e0b-8a53-6c1f3f1d7c55"
}

func (c secretAdd) Run(ctx context.Context, s streams) error {
	return c.operate(ctx, func(o operator.Operator) error {
		added, secret, err := o.AddSecret(ctx, c.Client)
		if err == nil {
			_, err = fmt.Fprintf(s.stdout, "secret id      %s\nclient secret  %s\n", added.ID, secret)
		}
		return err
	})
}

type secretList struct {
	storeFlag
	Client string `arg:"" help:"ID of the client."`
}

func (secretList) Help() string {
	return "LAST USED is when a token was last issued for the secret, accurate to ten minutes. A token is valid for an hour.\n\nExample: innsigli client secret list 3f0c4a52-58f3-4e0b-8a53-6c1f3f1d7c55"
}

func (c secretList) Run(ctx context.Context, s streams) error {
	return c.operate(ctx, func(o operator.Operator) error {
		secrets, err := o.Secrets(ctx, c.Client)
		if err != nil {
			return err
		}
		return table(s.stdout, "SECRET\tCREATED\tLAST USED", secrets, func(s account.Secret) string {
			return fmt.Sprintf("%s\t%s\t%s", s.ID, timeText(s.CreatedAt), timeOrDash(s.UsedAt))
		})
	})
}

type secretRemove struct {
	storeFlag
	Client string `arg:"" help:"ID of the client."`
	Secret string `arg:"" help:"ID of the secret, as list shows it."`
}

func (secretRemove) Help() string {
	return "The last secret of a client cannot be removed. To block a client, delete it.\n\nExample: innsigli client secret remove 3f0c4a52-58f3-4e0b-8a53-6c1f3f1d7c55 first"
}

func (c secretRemove) Run(ctx context.Context) error {
	return c.operate(ctx, func(o operator.Operator) error { return o.RemoveSecret(ctx, c.Client, c.Secret) })
}
