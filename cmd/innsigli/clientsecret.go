package main

import (
	"context"
	"fmt"

	"github.com/innsigli/innsigli/account"
)

type secretCommand struct {
	Add    secretAdd    `cmd:"" help:"Give a client a second secret, which is shown once; the other one goes on working."`
	List   secretList   `cmd:"" help:"List the secrets of a client, and when they were used."`
	Remove secretRemove `cmd:"" help:"Take a secret from a client; the tokens that were got with it end at once."`
}

func (secretCommand) Help() string {
	return "To replace a secret, add one, give it to the program, wait until the one of before is not used any more, which list shows, and remove that. Of a secret that others have got to know, do not wait. " + worksWhileServing + "\n\nExample: innsigli client secret add 3f0c4a52-58f3-4e0b-8a53-6c1f3f1d7c55"
}

type secretAdd struct {
	storeFlag
	Client string `arg:"" help:"ID of the client."`
}

func (secretAdd) Help() string {
	return "While servers of the version before run on the same database, they know the first secret alone.\n\nExample: innsigli client secret add 3f0c4a52-58f3-4e0b-8a53-6c1f3f1d7c55"
}

func (c secretAdd) Run(ctx context.Context, s streams) error {
	return withOperator(ctx, c.Store, func(o operator) error {
		added, secret, err := o.AddSecret(ctx, c.Client)
		if err == nil {
			_, err = fmt.Fprintf(s.out, "secret id      %s\nclient secret  %s\n", added.ID, secret)
		}
		return err
	})
}

type secretList struct {
	storeFlag
	Client string `arg:"" help:"ID of the client."`
}

func (secretList) Help() string {
	return "LAST USED is when a token was got with the secret, to ten minutes. Such a token is good for an hour.\n\nExample: innsigli client secret list 3f0c4a52-58f3-4e0b-8a53-6c1f3f1d7c55"
}

func (c secretList) Run(ctx context.Context, s streams) error {
	return withOperator(ctx, c.Store, func(o operator) error {
		secrets, err := o.Secrets(ctx, c.Client)
		if err != nil {
			return err
		}
		return table(s.out, "SECRET\tCREATED\tLAST USED", secrets, func(s account.Secret) string {
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
	return "A client keeps one secret at least. To shut it out, delete it.\n\nExample: innsigli client secret remove 3f0c4a52-58f3-4e0b-8a53-6c1f3f1d7c55 first"
}

func (c secretRemove) Run(ctx context.Context) error {
	return withOperator(ctx, c.Store, func(o operator) error { return o.RemoveSecret(ctx, c.Client, c.Secret) })
}
