package main

import (
	"context"
	"fmt"
	"io"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/server/config"
	"github.com/innsigli/innsigli/server/operator"
	"github.com/innsigli/innsigli/storage"
)

type processCommand struct {
	Show   processShow   `cmd:"" help:"Show a process with its participants."`
	Resend processResend `cmd:"" help:"Make the invitations of a process again."`
	Events processEvents `cmd:"" help:"Print what happened in a process, from the evidence log."`
}

func (processCommand) Help() string {
	return worksWhileServing + "\n\nExample: innsigli process show 9d0f8a52-58f3-4e0b-8a53-6c1f3f1d7c55 --store bolt:innsigli.db"
}

type processShow struct {
	storeFlag
	Process string `arg:"" help:"ID of the process."`
}

func (processShow) Help() string {
	return "STATE is Signing while the participant is being asked on the phone, Completed, Declined, None for viewers, or else Waiting. PINNED says that the place is that of a person with a certain kennitala, which is not shown, and neither are links. OPENED is when somebody first logged in. " + worksWhileServing + "\n\nExample: innsigli process show 9d0f8a52-58f3-4e0b-8a53-6c1f3f1d7c55 --store bolt:innsigli.db"
}

func (c processShow) Run(ctx context.Context, s streams) error {
	return c.operate(ctx, func(o operator.Operator) error {
		p, err := o.Process(ctx, c.Process)
		if err != nil {
			return err
		}
		return printProcess(s.stdout, p)
	})
}

type processResend struct {
	storeFlag
	config.MasterKeyFlag
	Process string `arg:"" help:"ID of the process."`
}

func (processResend) Help() string {
	return "Everybody who is still waited for, and viewers who have not looked yet, are invited again, for another seven days; a process that has expired waits again. Of a process that is completed or declined these viewers alone are invited. Who has not logged in gets a new link, and the old one leads nowhere. In production a server sends the invitations by mail; the API has the links in any case. A server that runs on a store of the form bolt:PATH seals them with its own master key; in any other case the first key of --master-key-file seals them.\n\nExample: innsigli process resend 9d0f8a52-58f3-4e0b-8a53-6c1f3f1d7c55 --store postgres://innsigli@db.example/innsigli --master-key-file master.key"
}

func (c processResend) Run(ctx context.Context, s streams) error {
	store, err := config.ParseStore(c.Store)
	if err != nil {
		return err
	}
	return c.operate(ctx, func(o operator.Operator) error {
		n, err := o.ResendProcess(ctx, c.KeyFile(store), c.Process)
		if err == nil {
			_, err = fmt.Fprintf(s.stdout, "invitations made again: %d\n", n)
		}
		return err
	})
}

type processEvents struct {
	storeFlag
	Process string `arg:"" help:"ID of the process."`
}

func (processEvents) Help() string {
	return "One JSON object a line, as \"innsigli evidence export\" has them: what is about the process and about the signing requests that belong to it, in the order in which it was recorded, also when the process was deleted. What is printed names people. " + worksWhileServing + "\n\nExample: innsigli process events 9d0f8a52-58f3-4e0b-8a53-6c1f3f1d7c55 --store bolt:innsigli.db"
}

func (c processEvents) Run(ctx context.Context, s streams) error {
	printed, err := c.printEntries(ctx, s.stdout, func(o operator.Operator, each func(storage.Entry) error) error {
		return o.ProcessEvents(ctx, c.Process, each)
	})
	if err == nil && printed == 0 {
		return fmt.Errorf("the evidence log has nothing about a process %q", c.Process)
	}
	return err
}

func printProcess(w io.Writer, p operator.Process) error {
	status := string(p.Status)
	switch p.Status {
	case portal.Waiting:
		status += ", until " + timeText(p.Until)
	case portal.Expired:
		status += ", since " + timeText(p.Until)
	}
	if _, err := fmt.Fprintf(w, `process   %s
account   %s
origin    %s
status    %s
created   %s
document  %d bytes, %s

`, p.ID, p.Account, p.Origin, status, timeText(p.CreatedAt), p.Size, p.FileName); err != nil {
		return err
	}
	return table(w, "PARTICIPANT\tROLE\tSTATE\tPINNED\tINVITED\tOPENED\tANSWERED\tEMAIL\tNAME", p.Participants, func(one operator.Participant) string {
		pinned := "no"
		if one.Pinned {
			pinned = "yes"
		}
		return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s",
			one.ID, one.Role, one.State, pinned, timeText(one.Invited), timeOrDash(one.Opened), timeOrDash(one.Answered), one.Email, one.Name)
	})
}
