package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/innsigli/innsigli/server/operator"
	"github.com/innsigli/innsigli/storage"
)

type jobCommand struct {
	List  jobList  `cmd:"" help:"List the jobs."`
	Show  jobShow  `cmd:"" help:"Show a job with its last error."`
	Retry jobRetry `cmd:"" help:"Retry jobs now."`
	Drop  jobDrop  `cmd:"" help:"Delete jobs."`
}

func (jobCommand) Help() string {
	return "Jobs are work that servers do in the background: they complete signatures, and send webhooks and mail. A job is parked when as many attempts have failed as its kind permits: it stays in the store, and runs again only after \"innsigli job retry\". " + worksWhileServing + "\n\nExample: innsigli job list --state parked --store bolt:innsigli.db"
}

type jobList struct {
	storeFlag
	Kind  string `placeholder:"KIND" help:"Only jobs of this kind, such as webhook.delivery."`
	State string `placeholder:"STATE" enum:",waiting,working,parked" default:"" help:"Only jobs in this state: waiting, working or parked."`
	JSON  bool   `help:"Print one JSON object per line."`
}

func (jobList) Help() string {
	return "STATE is waiting (until DUE), working (a server runs it) or parked. GROUP is the ID of an account, a webhook subscription or a signing process. ATTEMPTS is the number of attempts that have begun, and FAILURES the number of those that failed, since the job was stored or retried. DUE is when the next attempt begins; for a parked job, when it was parked. " + worksWhileServing + "\n\nExample: innsigli job list --state parked --json --store bolt:innsigli.db"
}

func (c jobList) Run(ctx context.Context, s streams) error {
	return c.operate(ctx, func(o operator.Operator) error {
		for after := ""; ; {
			list, err := o.Jobs(ctx, operator.JobFilter{Kind: c.Kind, State: storage.JobState(c.State)}, after)
			if err != nil || len(list) == 0 && after != "" {
				return err
			}
			if c.JSON {
				err = printJobs(s.stdout, list)
			} else {
				err = printJobTable(s.stdout, list, after == "")
			}
			if err != nil || len(list) == 0 {
				return err
			}
			after = list[len(list)-1].ID
		}
	})
}

// jobColumns is the format of a row. The widths are fixed, since jobs are read and printed in pages.
const jobColumns = "%-36s  %-7s  %-22s  %-36s  %8v  %8v  %-20s  %s\n"

func printJobTable(w io.Writer, list []operator.Job, first bool) error {
	if first {
		fmt.Fprintf(w, jobColumns, "JOB", "STATE", "KIND", "GROUP", "ATTEMPTS", "FAILURES", "DUE", "LAST ERROR")
	}
	for _, j := range list {
		_, err := fmt.Fprintf(w, jobColumns, j.ID, j.State, j.Kind, textOrDash(j.Group), j.Attempts, j.Failures, timeText(j.Due), textOrDash(j.LastError))
		if err != nil {
			return err
		}
	}
	return nil
}

func textOrDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// jobLine is a job in JSON. A missing value is null.
type jobLine struct {
	ID           string           `json:"id"`
	Kind         string           `json:"kind"`
	Group        string           `json:"group"`
	State        storage.JobState `json:"state"`
	Attempts     int              `json:"attempts"`
	Failures     int              `json:"failures"`
	Due          time.Time        `json:"due"`
	LeasedUntil  *time.Time       `json:"leasedUntil"`
	LastError    *string          `json:"lastError"`
	FailedAt     *time.Time       `json:"failedAt"`
	PayloadBytes int              `json:"payloadBytes"`
	IDs          []string         `json:"ids"`
}

func printJobs(w io.Writer, list []operator.Job) error {
	lines := json.NewEncoder(w)
	for _, j := range list {
		line := jobLine{
			j.ID, j.Kind, j.Group, j.State, j.Attempts, j.Failures, j.Due.UTC(), utcOrNull(j.LeasedUntil), orNull(j.LastError), utcOrNull(j.FailedAt),
			j.PayloadBytes, append([]string{}, j.IDs...),
		}
		if err := lines.Encode(line); err != nil {
			return err
		}
	}
	return nil
}

func utcOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

type jobShow struct {
	storeFlag
	Job string `arg:"" help:"ID of the job."`
}

func (jobShow) Help() string {
	return "The payload of a job is not shown, since it may have personal data: only its size and the IDs in it. " + worksWhileServing + "\n\nExample: innsigli job show 9d0f8a52-58f3-4e0b-8a53-6c1f3f1d7c55 --store bolt:innsigli.db"
}

func (c jobShow) Run(ctx context.Context, s streams) error {
	return c.operate(ctx, func(o operator.Operator) error {
		j, err := o.Job(ctx, c.Job)
		if err != nil {
			return err
		}
		leased := ""
		if j.State == storage.JobInWork {
			leased = ", leased until " + timeText(j.LeasedUntil)
		}
		_, err = fmt.Fprintf(s.stdout, `job         %s
kind        %s
group       %s
state       %s%s
attempts    %d
failures    %d
due         %s
last error  %s
failed at   %s
payload     %d bytes
IDs in it   %s
`, j.ID, j.Kind, textOrDash(j.Group), j.State, leased, j.Attempts, j.Failures, timeText(j.Due), textOrDash(j.LastError), timeOrDash(j.FailedAt),
			j.PayloadBytes, textOrDash(strings.Join(j.IDs, " ")))
		return err
	})
}

type jobRetry struct {
	storeFlag
	Jobs []string `arg:"" name:"job" help:"IDs of jobs."`
}

func (jobRetry) Help() string {
	return "Makes parked and waiting jobs due at once, with as many attempts as a new job has. A server runs them within seconds. " + worksWhileServing + "\n\nExample: innsigli job retry 9d0f8a52-58f3-4e0b-8a53-6c1f3f1d7c55 --store bolt:innsigli.db"
}

func (c jobRetry) Run(ctx context.Context, s streams) error {
	return c.eachJob(ctx, s, c.Jobs, "jobs retried", operator.Operator.RetryJob)
}

type jobDrop struct {
	storeFlag
	Jobs []string `arg:"" name:"job" help:"IDs of jobs."`
}

func (jobDrop) Help() string {
	return "The work of a deleted job is not done: a message is not sent, an event is not delivered, and a signature is completed only when its client polls. " + worksWhileServing + "\n\nExample: innsigli job drop 9d0f8a52-58f3-4e0b-8a53-6c1f3f1d7c55 --store bolt:innsigli.db"
}

func (c jobDrop) Run(ctx context.Context, s streams) error {
	return c.eachJob(ctx, s, c.Jobs, "jobs dropped", operator.Operator.DropJob)
}

// eachJob calls do for each job until one fails, and prints how many succeeded.
func (c storeFlag) eachJob(ctx context.Context, s streams, jobs []string, what string, do func(operator.Operator, context.Context, string) error) error {
	return c.operate(ctx, func(o operator.Operator) error {
		for done, id := range jobs {
			if err := do(o, ctx, id); err != nil {
				fmt.Fprintf(s.stdout, "%s: %d\n", what, done)
				return err
			}
		}
		_, err := fmt.Fprintf(s.stdout, "%s: %d\n", what, len(jobs))
		return err
	})
}
