package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/innsigli/innsigli/storage"
)

type evidenceCommand struct {
	Export evidenceExport `cmd:"" help:"Print the evidence log, one JSON object a line."`
}

func (evidenceCommand) Help() string {
	return "Example: innsigli evidence export --store bolt:innsigli.db > evidence.jsonl"
}

type evidenceExport struct {
	storeFlag
	Request string `placeholder:"ID" help:"Only what is about this request, or this process."`
}

func (evidenceExport) Help() string {
	return "An object has the members seq, subject (the request or the process), account, kind, at and facts, in the order in which they were recorded. " + worksWhileServing + " What is exported names people.\n\nExample: innsigli evidence export --store bolt:innsigli.db --request 9d0f8a52-58f3-4e0b-8a53-6c1f3f1d7c55"
}

func (c evidenceExport) Run(ctx context.Context, s streams) error {
	printed, err := printEntries(s.out, func(each func(storage.Entry) error) error {
		return withOperator(ctx, c.Store, func(o operator) error { return o.Evidence(ctx, c.Request, each) })
	})
	if err == nil && printed == 0 && c.Request != "" {
		return fmt.Errorf("the evidence log has nothing about a request %q", c.Request)
	}
	return err
}

// printEntries prints entries of the evidence log, and says how many.
func printEntries(w io.Writer, entries func(each func(storage.Entry) error) error) (printed int, err error) {
	lines := json.NewEncoder(w)
	err = entries(func(e storage.Entry) error {
		printed++
		return lines.Encode(evidenceLine(e))
	})
	return printed, err
}

// evidenceLine is an entry of the log as it is exported.
type evidenceLine struct {
	Seq     int64           `json:"seq"`
	Subject string          `json:"subject"`
	Account string          `json:"account"`
	Kind    string          `json:"kind"`
	At      time.Time       `json:"at"`
	Facts   json.RawMessage `json:"facts"`
}

// evidencePage is how many entries are in memory at once.
const evidencePage = 500

// Evidence implements [operator].
func (d direct) Evidence(ctx context.Context, request string, each func(storage.Entry) error) error {
	log := d.db.EvidenceLog()
	if request != "" {
		entries, err := log.Entries(ctx, request)
		if err != nil {
			return err
		}
		return eachOf(entries, each)
	}
	for seq := int64(0); ; {
		entries, err := log.EntriesAfter(ctx, seq, evidencePage)
		if err != nil || len(entries) == 0 {
			return err
		}
		if err := eachOf(entries, each); err != nil {
			return err
		}
		seq = entries[len(entries)-1].Seq
	}
}

func eachOf(entries []storage.Entry, each func(storage.Entry) error) error {
	for _, e := range entries {
		if err := each(e); err != nil {
			return err
		}
	}
	return nil
}

// Evidence implements [operator].
func (c socketClient) Evidence(ctx context.Context, request string, each func(storage.Entry) error) error {
	return c.entries(ctx, "evidence", request, each)
}

// entries makes a call that answers with entries. An answer that breaks off is an error.
func (c socketClient) entries(ctx context.Context, name, argument string, each func(storage.Entry) error) error {
	response, err := c.post(ctx, name, argument)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	for lines := json.NewDecoder(response.Body); ; {
		var line evidenceLine
		if err := lines.Decode(&line); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := each(storage.Entry(line)); err != nil {
			return err
		}
	}
}
