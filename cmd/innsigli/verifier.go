package main

import (
	"context"
	"crypto/x509"
	"errors"
	"os"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/ades/online"
	"github.com/innsigli/innsigli/ades/report"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/xades"
)

// verifier judges files, and has their revisions drawn.
type verifier struct {
	roots      *x509.CertPool
	at         time.Time // zero: now
	revocation ades.Revocation
	issuers    ades.Issuers
	pictures   *revisionPictures // nil: none
}

func (c verifyCommand) verifier(s streams) (*verifier, error) {
	roots, err := readRoots(c.Trust)
	if err != nil {
		return nil, err
	}
	v := &verifier{roots: roots, at: c.At}
	if c.Online && roots == nil {
		s.say("--online asks nobody without --trust: addresses are called in certificates that lead to it")
	} else if c.Online {
		client := addressClient(c.AllowPrivate)
		v.revocation, v.issuers = &online.Revocation{Client: client}, &online.Issuers{Client: client}
	}
	if c.Revisions != "" {
		v.pictures, err = newRevisionPictures(c.Revisions, c.cache(), s)
	}
	return v, err
}

func (v *verifier) close(err error) error {
	if v.pictures == nil {
		return err
	}
	return errors.Join(err, v.pictures.close())
}

// verify is the report on a file, also on one that cannot be read. The error is that of drawing it, or the
// end of ctx.
func (v *verifier) verify(ctx context.Context, path string) (report.Document, error) {
	file, err := openDocument(path)
	if err != nil {
		return report.Unread(path, err), nil
	}
	defer file.Close()
	kind, judged, err := v.judge(ctx, file)
	if ctx.Err() != nil {
		return report.Document{}, ctx.Err()
	}
	if err != nil {
		return report.Unread(path, err), nil
	}
	if v.pictures != nil {
		err = v.pictures.draw(ctx, file, kind, judged)
	}
	return report.Of(path, judged), err
}

var errNotRegular = errors.New("not a regular file")

// openDocument refuses what is no regular file before it is opened: opening a named pipe waits for who writes to it.
func openDocument(path string) (*os.File, error) {
	stat, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !stat.Mode().IsRegular() {
		return nil, errNotRegular
	}
	return os.Open(path)
}

func (v *verifier) judge(ctx context.Context, file *os.File) (format, *ades.Report, error) {
	stat, err := file.Stat()
	if err != nil {
		return 0, nil, err
	}
	kind, err := readFormat(file)
	if err != nil {
		return 0, nil, err
	}
	var judged *ades.Report
	if kind == formatXML {
		judged, err = xades.Verify(ctx, xades.Document{ReaderAt: file, Size: stat.Size()},
			xades.VerifyOptions{Time: v.at, Roots: v.roots, Revocation: v.revocation, Issuers: v.issuers})
	} else {
		judged, err = pades.Verify(ctx, pades.Document{ReaderAt: file, Size: stat.Size()},
			pades.VerifyOptions{Time: v.at, Roots: v.roots, Revocation: v.revocation, Issuers: v.issuers})
	}
	return kind, judged, err
}
