package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/xades"
)

type extendCommand struct {
	File  string `arg:"" help:"Signed PDF or XML."`
	Level string `required:"" placeholder:"LEVEL" help:"Level that its signatures get: T, LT or LTA. Those that have it stay as they are."`
	Renew bool   `help:"With LTA: put another timestamp over signatures that have it, before the certificate or the algorithms of the last one lose their force."`
	Trust string `placeholder:"ROOTS.pem" help:"Root certificates of the signers and the timestamp authorities; LT and LTA need them. Addresses in certificates are called only below these."`
	evidenceFlags
	Out string `short:"o" required:"" placeholder:"OUT" help:"File to write."`
}

func (extendCommand) Help() string {
	return "Signatures stay as they are: what they need to be validated later is appended, in XML to the signature itself.\n\nExample: innsigli extend signed.pdf --level LTA --trust roots.pem --tsa https://tsa.example/ -o archived.pdf"
}

func (c extendCommand) Run(ctx context.Context, _ streams) error {
	level, err := parseLevel(c.Level)
	if err != nil {
		return err
	}
	if level == ades.B {
		return fmt.Errorf("%w: --level is T, LT or LTA: every signature has level B", errUsage)
	}
	if c.Renew && level != ades.LTA {
		return fmt.Errorf("%w: --renew goes with --level LTA: lower levels have no timestamp to renew", errUsage)
	}
	if c.Trust == "" && level >= ades.LT {
		return fmt.Errorf("%w: --trust is missing: whose certificates lead to no root is not extended", errUsage)
	}
	sources, err := c.sources(level, c.Trust, nil)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(c.File)
	if err != nil {
		return err
	}
	extended, err := c.extended(ctx, content, level, sources)
	if err != nil {
		return fmt.Errorf("extending %s: %w", c.File, err)
	}
	return writeAll(c.Out, extended)
}

// extended is the file with what it gets.
func (c extendCommand) extended(ctx context.Context, content []byte, level ades.Level, sources ades.Sources) (io.Reader, error) {
	kind, err := formatOf(content[:min(len(content), headSize)])
	switch {
	case err != nil:
		return nil, fmt.Errorf("it cannot be read: %w", err)
	case kind == formatXML:
		return c.extendXML(ctx, content, level, sources)
	}
	return c.extendPDF(ctx, content, level, sources)
}

func (c extendCommand) extendPDF(ctx context.Context, content []byte, level ades.Level, sources ades.Sources) (io.Reader, error) {
	document := pades.Document{ReaderAt: bytes.NewReader(content), Size: int64(len(content))}
	revisions, err := raised(ctx, pades.Extender{Sources: sources}, document, level, c.Renew)
	if err != nil {
		return nil, err
	}
	return io.MultiReader(bytes.NewReader(content), appended(revisions)), nil
}

func (c extendCommand) extendXML(ctx context.Context, content []byte, level ades.Level, sources ades.Sources) (io.Reader, error) {
	document := xmlDocument(content)
	revisions, err := raised(ctx, xades.Extender{Sources: sources}, document, level, c.Renew)
	if err != nil {
		return nil, err
	}
	return withRevisions(document, revisions), nil
}

// extender is what the Extenders of both formats do.
type extender[Document, Revision any] interface {
	Extend(context.Context, Document, ades.Level) ([]Revision, error)
	Renew(context.Context, Document) ([]Revision, error)
}

func raised[Document, Revision any](ctx context.Context, x extender[Document, Revision], document Document, level ades.Level, renew bool) ([]Revision, error) {
	if renew {
		return x.Renew(ctx, document)
	}
	return x.Extend(ctx, document, level)
}
