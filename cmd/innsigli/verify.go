package main

import (
	"context"
	"crypto/x509"
	"os"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/xades"
)

type verifyCommand struct {
	Files []string  `arg:"" name:"file" help:"PDF or XML files."`
	Trust string    `placeholder:"ROOTS.pem" help:"Root certificates that signers and timestamp authorities have to lead to. Without them nobody is trusted."`
	At    time.Time `placeholder:"TIME" help:"Judge as of this time, such as 2026-06-17T12:00:00Z (default now)."`
	JSON  bool      `help:"Print one JSON object a line for each file: file, passed, signatures and error."`
}

func (verifyCommand) Help() string {
	return "A file passes when it has signatures, each is intact and leads to a trusted root, and the last covers all of the file or only its proof follows: validation data and document timestamps. Missing revocation data alone does not count against a signature; it is reported. The exit status is 0 when every file passes; --json says of each whether it \"passed\", and of each signature whether it is \"extended\" by its proof alone. Signatures of XML stand in the document and not behind it: one of them has to cover all of it, and their \"coveredBytes\" are always 0, and \"extended\" is false.\n\nExample: innsigli verify signed.pdf --trust sandbox-root.pem"
}

func (c verifyCommand) Run(ctx context.Context, s streams) error {
	roots, err := readRoots(c.Trust)
	if err != nil {
		return err
	}
	passed := true
	for _, path := range c.Files {
		result := verifyFile(ctx, path, roots, c.At)
		passed = passed && result.Passed
		if err := result.print(s.out, c.JSON); err != nil {
			return err
		}
	}
	if !passed {
		return errSilent
	}
	return nil
}

// verifyFile judges as of a time, or now if that is zero.
func verifyFile(ctx context.Context, path string, roots *x509.CertPool, at time.Time) fileResult {
	result := fileResult{File: path, Signatures: []signatureResult{}}
	report, err := reportOn(ctx, path, roots, at)
	if err != nil {
		result.Error = err.Error()
		return result
	}
	result.Passed = report.Passed()
	for _, s := range report.Signatures {
		result.Signatures = append(result.Signatures, toResult(s))
	}
	return result
}

func reportOn(ctx context.Context, path string, roots *x509.CertPool, at time.Time) (*ades.Report, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	stat, err := file.Stat()
	if err != nil {
		return nil, err
	}
	kind, err := readFormat(file)
	if err != nil {
		return nil, err
	}
	if kind == formatXML {
		return xades.Verify(ctx, xades.Document{ReaderAt: file, Size: stat.Size()}, xades.VerifyOptions{Time: at, Roots: roots})
	}
	return pades.Verify(ctx, pades.Document{ReaderAt: file, Size: stat.Size()}, pades.VerifyOptions{Time: at, Roots: roots})
}
