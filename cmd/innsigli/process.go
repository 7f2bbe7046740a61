package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/server/config"
	"github.com/innsigli/innsigli/server/operator"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/evidence"
)

type processCommand struct {
	List   processList   `cmd:"" help:"List signing processes."`
	Show   processShow   `cmd:"" help:"Show a signing process with its participants."`
	Delete processDelete `cmd:"" help:"Delete signing processes with their documents."`
	Resend processResend `cmd:"" help:"Send the invitations of a signing process again."`
	Events processEvents `cmd:"" help:"Print the entries of the evidence log about a signing process."`
}

func (processCommand) Help() string {
	return worksWhileServing + "\n\nExample: innsigli process show 9d0f8a52-58f3-4e0b-8a53-6c1f3f1d7c55 --store bolt:innsigli.db"
}

type processList struct {
	storeFlag
	Account       string    `placeholder:"ACCOUNT" help:"Only the processes of the account with this ID."`
	Status        string    `placeholder:"STATUS" enum:",Waiting,Completed,Declined,Expired" default:"" help:"Only processes with this status: Waiting, Completed, Declined or Expired."`
	CreatedAfter  time.Time `placeholder:"TIME" help:"Only processes that were created after this time, such as 2026-03-02T09:15:00Z."`
	CreatedBefore time.Time `placeholder:"TIME" help:"Only processes that were created before this time."`
	Names         bool      `help:"Also print the names of documents, which may have personal data."`
	JSON          bool      `name:"json" help:"Print one JSON object per line."`
}

func (processList) Help() string {
	return "Processes are listed by account, and those of an account in the order of creation. EXPIRES is when a waiting process expires, and ENDED when a process was completed or declined or has expired. SIGNED is how many of the signers have signed. The list names no person; \"innsigli process show\" does. " + worksWhileServing + "\n\nExample: innsigli process list --status Expired --created-before 2026-01-01T00:00:00Z --store bolt:innsigli.db"
}

func (c processList) Run(ctx context.Context, s streams) error {
	filter := operator.ProcessFilter{Account: c.Account, Status: portal.Status(c.Status), CreatedAfter: c.CreatedAfter, CreatedBefore: c.CreatedBefore}
	out := bufio.NewWriter(s.stdout)
	err := c.operate(ctx, func(o operator.Operator) error {
		if !c.JSON {
			c.print(out, "DOCUMENT", "PROCESS", "ACCOUNT", "ORIGIN", "STATUS", "CREATED", "EXPIRES", "ENDED", "SIGNED", "VIEWERS")
		}
		return o.Processes(ctx, filter, func(p operator.ListedProcess) error {
			if c.JSON {
				p.FileName = c.name(p.FileName)
				return json.NewEncoder(out).Encode(p)
			}
			expires := p.ExpiresAt
			if p.Status != portal.Waiting {
				expires = time.Time{}
			}
			return c.print(out, p.FileName, p.ID, p.Account, p.Origin, p.Status, timeText(p.CreatedAt), timeOrDash(expires), timeOrDash(p.EndedAt),
				fmt.Sprintf("%d of %d", p.Signed, p.Signers), strconv.Itoa(p.Viewers))
		})
	})
	return errors.Join(err, out.Flush())
}

// print prints a row. The widths of columns are fixed, since lists may be long.
func (c processList) print(w io.Writer, name string, columns ...any) error {
	row := fmt.Sprintf("%-36s  %-36s  %-6s  %-9s  %-20s  %-20s  %-20s  %-10s  %-7s  ", columns...) + c.name(name)
	_, err := fmt.Fprintln(w, strings.TrimRight(row, " "))
	return err
}

// name returns the name of a document, or an empty text without --names.
func (c processList) name(text string) string {
	if c.Names {
		return text
	}
	return ""
}

type processDelete struct {
	storeFlag
	Processes []string `arg:"" name:"process" help:"IDs of processes."`
}

func (processDelete) Help() string {
	return "Deletes processes of any status, as the API does: the document, the links and unsent mail are deleted for good, and a signature that is under way is dropped. Queued events are still sent. Charges and the evidence log stay. " + worksWhileServing + "\n\nExample: innsigli process delete 9d0f8a52-58f3-4e0b-8a53-6c1f3f1d7c55 --store bolt:innsigli.db"
}

func (c processDelete) Run(ctx context.Context, s streams) error {
	return c.operate(ctx, func(o operator.Operator) error {
		for _, id := range c.Processes {
			p, err := o.DeleteProcess(ctx, id)
			if err != nil {
				return err
			}
			fmt.Fprintf(s.stdout, "deleted process %s of account %s: %s, %d of %d had signed, created %s\n",
				p.ID, p.Account, p.Status, p.Signed, p.Signers, timeText(p.CreatedAt))
		}
		return nil
	})
}

type processShow struct {
	storeFlag
	Process string `arg:"" help:"ID of the process."`
}

func (processShow) Help() string {
	return "STATE is Signing while the participant is being asked on the phone, Completed, Declined, None for viewers, or else Waiting. PINNED is yes if only the person with a certain kennitala can log in. Neither kennitalas nor links are shown. OPENED is when the participant first logged in. " + worksWhileServing + "\n\nExample: innsigli process show 9d0f8a52-58f3-4e0b-8a53-6c1f3f1d7c55 --store bolt:innsigli.db"
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
	return "Signers who have not answered, and viewers who have not opened the document, are invited again, for another seven days; an expired process becomes Waiting again. If the process is completed or declined, only these viewers are invited. A participant who has not logged in yet gets a new link, and the old link becomes invalid. In production a server sends the invitations by mail; the API returns the links in any case. The links are encrypted with the master key of the server if one runs on a store of the form bolt:PATH, and else with the first key of --master-key-file.\n\nExample: innsigli process resend 9d0f8a52-58f3-4e0b-8a53-6c1f3f1d7c55 --store 'postgres://innsigli@db.example/innsigli?sslmode=verify-full' --master-key-file master.key"
}

func (c processResend) Run(ctx context.Context, s streams) error {
	store, err := config.ParseStore(c.Store, c.DatabaseFlag)
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
	return "Prints one JSON object per line, in the form of \"innsigli evidence export\": the entries about the process and about its signing requests, in the order in which they were recorded. A deleted process still has its entries. The output has personal data. " + worksWhileServing + "\n\nExample: innsigli process events 9d0f8a52-58f3-4e0b-8a53-6c1f3f1d7c55 --store bolt:innsigli.db"
}

func (c processEvents) Run(ctx context.Context, s streams) error {
	printed := 0
	err := c.operate(ctx, func(o operator.Operator) error {
		return o.ProcessEvents(ctx, c.Process, func(e storage.Entry) error {
			printed++
			return evidence.WriteEntry(s.stdout, e)
		})
	})
	if err == nil && printed == 0 {
		return fmt.Errorf("the evidence log has no entries about process %q", c.Process)
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
