package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/innsigli/innsigli/ades/report"
)

type verifyCommand struct {
	Files        []string        `arg:"" optional:"" name:"file" help:"PDF or XML files."`
	Trust        string          `placeholder:"ROOTS.pem" help:"Root certificates that signers and timestamp authorities have to lead to. Without them nobody is trusted."`
	At           time.Time       `placeholder:"TIME" help:"Judge as of this time, such as 2026-06-17T12:00:00Z (default now)."`
	Online       bool            `help:"Ask for revocation data and certificates that a file lacks, at addresses in certificates that lead to --trust; without it nobody is asked."`
	AllowPrivate bool            `name:"insecure-allow-private-addresses" help:"With --online: call addresses in certificates that are not public, for local trials."`
	Language     report.Language `default:"en" enum:"en,is" placeholder:"LANGUAGE" help:"Language of the report: en or is (default ${default})."`
	JSON         bool            `help:"Print one JSON object a line for each file, which --schema describes."`
	Schema       bool            `help:"Print the JSON Schema of what --json prints, and nothing else."`
	Revisions    string          `placeholder:"DIR" help:"Draw each page of each PDF as it was signed, to DIR/FILE-signatureN-pageM.png; 200 pages at most."`
	rendererFlag
}

func (verifyCommand) Help() string {
	return "A file passes when it has signatures, each is intact and leads to a trusted root, nothing was changed afterwards that it does not permit, and the last covers all of the file or only its proof follows: validation data and document timestamps. Missing revocation data alone does not count against a signature; it is reported. The exit status is 0 when every file passes; --json says of each whether it \"passed\", and of each signature whether it is \"extended\" by its proof alone, and the \"changes\" that followed. Signatures of XML stand in the document and not behind it: one of them has to cover all of it, and their \"coveredBytes\" are always 0, and \"extended\" is false.\n\nNobody is asked anything unless --online says so, and then below --trust alone.\n\nA picture of --revisions shows what the signer's revision shows, however the file looks by now. Nothing is drawn for a signature that is not intact or leaves out a part of its revision: what it signed is not known.\n\nExample: innsigli verify signed.pdf --trust sandbox-root.pem\n\nExample: innsigli verify contract.pdf --trust roots.pem --online --language is --revisions pictures"
}

func (c verifyCommand) Run(ctx context.Context, s streams) (err error) {
	if c.Schema {
		_, err := s.out.Write(report.Schema())
		return err
	}
	if len(c.Files) == 0 {
		return fmt.Errorf("%w: name at least one file to verify", errUsage)
	}
	v, err := c.verifier(s)
	if err != nil {
		return err
	}
	defer func() { err = v.close(err) }()
	passed := true
	for i, path := range c.Files {
		d, err := v.verify(ctx, path)
		if err != nil {
			return err
		}
		passed = passed && d.Passed
		if i > 0 && !c.JSON {
			fmt.Fprintln(s.out)
		}
		if err := printReport(s.out, d, c.JSON, c.Language); err != nil {
			return err
		}
	}
	if !passed {
		return errSilent
	}
	return nil
}

func printReport(w io.Writer, d report.Document, asJSON bool, l report.Language) error {
	if asJSON {
		return json.NewEncoder(w).Encode(d)
	}
	return d.Text(w, l)
}
