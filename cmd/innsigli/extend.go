package main

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/pades"
)

type extendCommand struct {
	File  string `arg:"" help:"Signed PDF."`
	Level string `required:"" help:"Level that its signatures get: T, LT or LTA. LTA again renews it."`
	evidenceFlags
	Out string `short:"o" required:"" placeholder:"OUT" help:"File to write."`
}

func (extendCommand) Help() string {
	return "Signatures stay as they are: what they need to be validated later is appended.\n\nExample: innsigli extend signed.pdf --level LTA --trust roots.pem --tsa https://tsa.example/ -o archived.pdf"
}

func (c extendCommand) Run(ctx context.Context, _ streams) error {
	level, err := parseLevel(c.Level)
	if err != nil {
		return err
	}
	if level == ades.B {
		return fmt.Errorf("%w: --level is T, LT or LTA: every signature has level B", errUsage)
	}
	if c.Trust == "" && level >= ades.LT {
		return fmt.Errorf("%w: --trust is missing: whose certificates lead to no root is not extended", errUsage)
	}
	sources, err := c.sources(level, nil)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(c.File)
	if err != nil {
		return err
	}
	document := pades.Document{ReaderAt: bytes.NewReader(content), Size: int64(len(content))}
	added, err := extend(ctx, pades.Extend, document, level, sources)
	if err != nil {
		return fmt.Errorf("extending %s: %w", c.File, err)
	}
	return writeFile(c.Out, append([][]byte{content}, added...)...)
}

// extension is one of the ways to extend: [pades.Extend] or [pades.ExtendLast].
type extension func(context.Context, pades.Document, ades.Level, ades.Sources) ([]pades.Revision, error)

// extend returns what is appended to a document, in order.
func extend(ctx context.Context, by extension, document pades.Document, level ades.Level, sources ades.Sources) ([][]byte, error) {
	revisions, err := by(ctx, document, level, sources)
	var added [][]byte
	for _, r := range revisions {
		added = append(added, r.Bytes)
	}
	return added, err
}
