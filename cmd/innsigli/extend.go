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
	Level string `required:"" placeholder:"LEVEL" help:"Level that its signatures get: T, LT or LTA. Those that have it stay as they are."`
	Renew bool   `help:"With LTA: put another timestamp over signatures that have it, before the certificate or the algorithms of the last one lose their force."`
	Trust string `placeholder:"ROOTS.pem" help:"Root certificates of the signers and the timestamp authorities; LT and LTA need them. Addresses in certificates are called only below these."`
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
	document := pades.Document{ReaderAt: bytes.NewReader(content), Size: int64(len(content))}
	revisions, err := c.extend(ctx, document, level, sources)
	if err != nil {
		return fmt.Errorf("extending %s: %w", c.File, err)
	}
	return writeFile(c.Out, append([][]byte{content}, contents(revisions)...)...)
}

func (c extendCommand) extend(ctx context.Context, document pades.Document, level ades.Level, sources ades.Sources) ([]pades.Revision, error) {
	x := pades.Extender{Sources: sources}
	if c.Renew {
		return x.Renew(ctx, document)
	}
	return x.Extend(ctx, document, level)
}

// contents are the bytes of revisions, in their order.
func contents(revisions []pades.Revision) [][]byte {
	var all [][]byte
	for _, r := range revisions {
		all = append(all, r.Bytes)
	}
	return all
}
