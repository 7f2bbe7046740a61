package main

import (
	"bufio"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"time"

	"github.com/innsigli/innsigli/server/operator"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/evidence"
)

type evidenceCommand struct {
	Export evidenceExport `cmd:"" help:"Print the evidence log, one JSON object per line."`
	Verify evidenceVerify `cmd:"" help:"Verify that the evidence log, or an export of it, is as it was recorded."`
	Erase  evidenceErase  `cmd:"" help:"Erase the entries about a signing request or a signing process."`
	Prune  evidencePrune  `cmd:"" help:"Delete old entries."`
}

func (evidenceCommand) Help() string {
	return "Example: innsigli evidence export --store bolt:innsigli.db > evidence.jsonl"
}

type evidenceExport struct {
	storeFlag
	Request string `placeholder:"ID" help:"Only entries about this signing request or signing process."`
}

func (evidenceExport) Help() string {
	return "An object that is an entry has the members seq, subject (ID of the request or process), account, kind, at and facts. Entries come in the order in which they were recorded. An entry that is chained also has the member salt, and its batch comes before it, an object with the member batch: both prove the entry to innsigli evidence verify, and to other programs (docs/reference/evidence.md). " + worksWhileServing + " The output has personal data.\n\nExample: innsigli evidence export --store bolt:innsigli.db --request 9d0f8a52-58f3-4e0b-8a53-6c1f3f1d7c55"
}

func (c evidenceExport) Run(ctx context.Context, s streams) error {
	printed := 0
	out := bufio.NewWriter(s.stdout)
	err := c.operate(ctx, func(o operator.Operator) error {
		return o.Evidence(ctx, c.Request, func(r evidence.Record) error {
			printed++
			return evidence.WriteRecord(out, r)
		})
	})
	if err = errors.Join(err, out.Flush()); err == nil && printed == 0 && c.Request != "" {
		return nothingAbout(c.Request)
	}
	return err
}

func nothingAbout(request string) error {
	return fmt.Errorf("the evidence log has no entries about request %q", request)
}

type evidenceVerify struct {
	storeFlag
	File  string `arg:"" optional:"" help:"Export to verify instead of the log of --store."`
	Head  string `placeholder:"BATCH:HEX" help:"Fail unless the chain has this head, as a server has logged it. Without it, it is not found when entries were cut off the end together with their batches."`
	Trust string `placeholder:"ROOTS.pem" help:"Root certificates of timestamp authorities. Without it, it is not verified whose timestamps the checkpoints are, and a log may have none."`
}

func (evidenceVerify) Help() string {
	return "Prints how many entries are as they were recorded, and the last head; or else the first entry that is not, and how it was changed: changed, removed, added, reordered, or cut. The exit status is 0, or 1 if anything is wrong. A server chains entries every few seconds; newer entries are counted, and not verified. In an export of one request, what was left out cannot be missed. " + worksWhileServing + "\n\nExample: innsigli evidence verify --store bolt:innsigli.db --trust tsa-roots.pem\n\nExample: innsigli evidence verify evidence.jsonl --head 1284:5f0c1a2be1c4c4ed8a3f53a6d8e10a3ae52d3e0f60c62a1d3ff0f4f8d2f5c9b7"
}

func (c evidenceVerify) Run(ctx context.Context, s streams) error {
	var head *evidence.Head
	if c.Head != "" {
		parsed, err := evidence.ParseHead(c.Head)
		if err != nil {
			return fmt.Errorf("%w: --head: %w", errUsage, err)
		}
		head = &parsed
	}
	var roots *x509.CertPool
	if c.Trust != "" {
		var err error
		if roots, err = readRoots(c.Trust); err != nil {
			return err
		}
	}
	result, err := c.verify(ctx, head, roots)
	if err != nil {
		return err
	}
	return printResult(s.stdout, result, c.Trust != "")
}

// verify verifies the file, or the log of the store.
func (c evidenceVerify) verify(ctx context.Context, head *evidence.Head, roots *x509.CertPool) (result evidence.Result, err error) {
	if c.File != "" {
		file, err := os.Open(c.File)
		if err != nil {
			return result, err
		}
		defer file.Close()
		return operator.VerifyEvidence(evidence.ReadRecords(file), head, roots, time.Now())
	}
	err = c.operate(ctx, func(o operator.Operator) error {
		result, err = operator.VerifyEvidence(recordsOf(ctx, o), head, roots, time.Now())
		return err
	})
	return result, err
}

// recordsOf returns the records of the log of a store.
func recordsOf(ctx context.Context, o operator.Operator) iter.Seq2[evidence.Record, error] {
	return func(yield func(evidence.Record, error) bool) {
		err := o.Evidence(ctx, "", func(r evidence.Record) error {
			if !yield(r, nil) {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(evidence.Record{}, err)
		}
	}
}

var errEnough = errors.New("no more records are wanted")

// printResult prints what was verified. Its error is that something is wrong.
func printResult(w io.Writer, r evidence.Result, trusted bool) error {
	if f := r.First; f != nil {
		where := ""
		if f.Seq > 0 {
			where = fmt.Sprintf(" at entry %d", f.Seq)
		}
		return fmt.Errorf("the evidence log is not as it was recorded: %s%s: %s (findings: %d)", f.Fault, where, f.Detail, r.Findings)
	}
	fmt.Fprintf(w, "%d entries in %d batches are as they were recorded\n", r.Entries, r.Batches)
	if r.Last.Batch > 0 {
		fmt.Fprintf(w, "head %v\n", r.Last)
	}
	if r.Erased > 0 {
		fmt.Fprintf(w, "%d entries were erased, as later entries say\n", r.Erased)
	}
	if r.Pruned > 0 {
		fmt.Fprintf(w, "batches up to %d were pruned, as a later entry says\n", r.Pruned)
	}
	if r.Excused > 0 {
		fmt.Fprintf(w, "%d entries are missing that were pruned while the log was read, as a later entry says: verify again, and none may be\n", r.Excused)
	}
	if r.Partial {
		fmt.Fprintln(w, "this is a part of the log: entries that were left out of it cannot be missed")
	}
	if r.Unchained > 0 {
		fmt.Fprintf(w, "%d newer entries are not chained yet\n", r.Unchained)
	}
	switch {
	case r.Checkpoints == 0:
		fmt.Fprintln(w, "no checkpoint has a timestamp")
	case trusted:
		fmt.Fprintf(w, "checkpoints: %d, the first of %s in a log from %s on, the last of %s over batch %d\n", r.Checkpoints, timeText(r.FirstTimestamped), timeText(r.Oldest), timeText(r.Timestamped), r.TimestampedBatch)
	default:
		fmt.Fprintf(w, "checkpoints: %d, the first of %s in a log from %s on, the last of %s over batch %d; without --trust it is not verified whose timestamps they are\n", r.Checkpoints, timeText(r.FirstTimestamped), timeText(r.Oldest), timeText(r.Timestamped), r.TimestampedBatch)
	}
	return nil
}

// evidenceRights is part of the help of commands that delete evidence.
const evidenceRights = "On Postgres, the user of --store has to be a member of the role innsigli_evidence (docs/reference/evidence.md)."

type evidenceErase struct {
	storeFlag
	Request string `required:"" placeholder:"ID" help:"ID of the signing request or signing process."`
}

func (evidenceErase) Help() string {
	return "Deletes the entries about the request or process, for which nothing proves afterwards who was asked to sign what. An entry of the kind evidence.erased names their numbers, kinds and times. A process and its signing requests (innsigli process events) are erased one by one. " + evidenceRights + " " + worksWhileServing + "\n\nExample: innsigli evidence erase --store bolt:innsigli.db --request 9d0f8a52-58f3-4e0b-8a53-6c1f3f1d7c55"
}

func (c evidenceErase) Run(ctx context.Context, s streams) error {
	erased := 0
	err := c.operate(ctx, func(o operator.Operator) (err error) {
		erased, err = o.EraseEvidence(ctx, c.Request)
		return err
	})
	switch {
	case err != nil:
		return notPermitted(err)
	case erased == 0:
		return nothingAbout(c.Request)
	}
	fmt.Fprintf(s.stdout, "erased %d entries\n", erased)
	return nil
}

type evidencePrune struct {
	storeFlag
	Before time.Time `required:"" placeholder:"TIME" help:"Delete entries from before this time, such as 2026-06-17T12:00:00Z."`
}

func (evidencePrune) Help() string {
	return "Deletes the batches of entries that are all from before --before. An entry of the kind evidence.pruned has the number and the head of the last, so that the rest of the log is verified. A server does the same by [retention] evidence, unless its store is a Postgres database and its user may not delete: then it logs once a day that entries are due. " + evidenceRights + " " + worksWhileServing + "\n\nExample: innsigli evidence prune --store 'postgres://evidence@db.example/innsigli?sslmode=verify-full' --before 2026-01-01T00:00:00Z"
}

func (c evidencePrune) Run(ctx context.Context, s streams) error {
	return c.operate(ctx, func(o operator.Operator) error {
		deleted, err := o.PruneEvidence(ctx, c.Before)
		if err != nil {
			return notPermitted(err)
		}
		fmt.Fprintf(s.stdout, "deleted %d entries\n", deleted)
		return nil
	})
}

// notPermitted adds what to do to the error of a user who may not delete evidence.
func notPermitted(err error) error {
	if errors.Is(err, storage.ErrNotPermitted) {
		return fmt.Errorf("%w: run the command with the URL of a role that is a member of innsigli_evidence", err)
	}
	return err
}
