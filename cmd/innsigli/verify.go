package main

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"io"
	"iter"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/ades/online"
	"github.com/innsigli/innsigli/ades/report"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/stamp/pdfium"
	"github.com/innsigli/innsigli/xades"
)

type verifyCommand struct {
	Files          []string        `arg:"" optional:"" name:"file" help:"PDF or XML files."`
	Trust          string          `placeholder:"ROOTS.pem" help:"Root certificates of the signers and timestamp authorities. Without it no certificate is trusted."`
	TimestampTrust string          `placeholder:"ROOTS.pem" help:"Root certificates of timestamp authorities (default: those of --trust). With it, --trust is only for signers."`
	At             time.Time       `placeholder:"TIME" help:"Verify as of this time, such as 2026-06-17T12:00:00Z (default: now)."`
	Online         bool            `help:"Fetch revocation data and certificates that a file lacks, from URLs in certificates that lead to --trust. Without this flag nothing is fetched."`
	AllowPrivate   bool            `name:"insecure-allow-private-addresses" help:"With --online: also call URLs in certificates that lead to private addresses, for local trials."`
	Language       report.Language `default:"en" enum:"en,is" placeholder:"LANGUAGE" help:"Language of the report: en or is (default ${default})."`
	JSON           bool            `help:"Print one JSON object per line for each file; --schema prints its schema."`
	Schema         bool            `help:"Print only the JSON Schema of the output of --json."`
	Revisions      string          `placeholder:"DIR" help:"Draw each page of each PDF as each signer signed it, to DIR/FILE-signatureN-pageM.png; at most 200 pages."`
	rendererFlag
}

func (verifyCommand) Help() string {
	return "A file passes if it has signatures; if each is intact and its certificate leads to a trusted root; if all later changes are permitted; and if the last signature covers the whole file, or only validation data and document timestamps follow it. Without revocation data in the file (levels B and T) and without --online it is unknown whether a certificate was revoked: the file still passes, and the report says so.\n\nThe exit status is 0 if every file passes, and else 1. In the output of --json, \"passed\" is the result of a file. For each signature, \"extended\" is true if only validation data follows it, and \"changes\" lists the changes that followed. One signature in an XML file must cover all of it; \"coveredBytes\" is always 0 there, and \"extended\" false.\n\nFiles are verified on all cores, and at once only those that fit into 1 GiB of memory, for which an XML file counts six times its size.\n\nNothing is fetched without --online, and with it only from URLs in certificates that lead to --trust: for each file the status of the certificates that lack it, and issuers. Files that need the same answer share it. No answer is older than the start of the command.\n\nThe pictures of --revisions show the pages as they were when the signer signed them. No picture is drawn for a signature that is not intact or does not cover its whole revision, since it is unknown what it signed.\n\nExample: innsigli verify signed.pdf --trust sandbox-root.pem\n\nExample: innsigli verify contract.pdf --trust roots.pem --online --language is --revisions pictures"
}

func (c verifyCommand) Run(ctx context.Context, s streams) (err error) {
	if c.Schema {
		_, err := s.stdout.Write(report.Schema())
		return err
	}
	if len(c.Files) == 0 {
		return fmt.Errorf("%w: FILE is missing", errUsage)
	}
	v, err := c.verifier(s)
	if err != nil {
		return err
	}
	defer func() { err = v.close(err) }()
	passed, i := true, 0
	for d, err := range v.verifyAll(ctx, c.Files) {
		if err != nil {
			return err
		}
		passed = passed && d.Passed
		if i > 0 && !c.JSON {
			fmt.Fprintln(s.stdout)
		}
		if err := printReport(s.stdout, d, c.JSON, c.Language); err != nil {
			return err
		}
		i++
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

// verifier verifies files, and draws their revisions.
type verifier struct {
	roots      *x509.CertPool
	timestamps *x509.CertPool // roots of timestamp authorities; nil: roots
	at         time.Time      // zero: now
	revocation ades.Revocation
	issuers    ades.Issuers
	chains     ades.Chains       // of all files
	pictures   *revisionPictures // nil: no pictures are drawn
}

func (c verifyCommand) verifier(s streams) (*verifier, error) {
	roots, err := readRoots(c.Trust)
	if err != nil {
		return nil, err
	}
	timestamps, err := readRoots(c.TimestampTrust)
	if err != nil {
		return nil, err
	}
	v := &verifier{roots: roots, timestamps: timestamps, at: c.At}
	if c.Online && roots == nil {
		s.say("--online has no effect without --trust: only URLs in certificates that lead to it are called")
	} else if c.Online {
		client := addressClient(c.AllowPrivate)
		v.revocation, v.issuers = &online.Revocation{Client: client, Chains: &v.chains, Batch: true}, &online.Issuers{Client: client}
	}
	if c.Revisions != "" {
		v.pictures, err = newRevisionPictures(c.Revisions, c.renderer(), s)
	}
	return v, err
}

func (v *verifier) close(err error) error {
	if v.pictures == nil {
		return err
	}
	return errors.Join(err, v.pictures.close())
}

// maxWaiting bounds the files that are verified, or being verified, before the report on an earlier one is printed.
const maxWaiting = 64

// Memory of the files that are verified at once, in bytes.
const (
	maxVerifiedAtOnce = 1 << 30
	xmlMemory         = 6 // for each byte of an XML file
)

// memoryOf returns how many bytes of maxVerifiedAtOnce the verification of a file may take. A PDF is read in parts, and
// has at most its size in memory.
func memoryOf(kind format, size int64) int64 {
	size = min(size, maxVerifiedAtOnce)
	if kind == formatXML {
		size = min(size*xmlMemory, maxVerifiedAtOnce)
	}
	return size
}

// verifyAll verifies files on all cores within the memory of maxVerifiedAtOnce, and returns the reports on them in the order of the paths. A file that cannot be
// read has a report too. The error is one of writing a picture, or that of ctx, and is the last result.
func (v *verifier) verifyAll(ctx context.Context, paths []string) iter.Seq2[report.Document, error] {
	return func(yield func(report.Document, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var all sync.WaitGroup
		waiting := make(chan chan verifiedFile, maxWaiting)
		all.Go(func() {
			defer close(waiting)
			cores, memory := make(chan struct{}, runtime.GOMAXPROCS(0)), semaphore.NewWeighted(maxVerifiedAtOnce)
			for _, path := range paths {
				if ctx.Err() != nil {
					return
				}
				verified := make(chan verifiedFile, 1)
				select {
				case waiting <- verified:
				case <-ctx.Done():
					return
				}
				cores <- struct{}{}
				all.Go(func() {
					verified <- v.verify(ctx, path, memory)
					<-cores
				})
			}
		})
		defer func() {
			cancel()
			for verified := range waiting {
				(<-verified).close()
			}
			all.Wait()
		}()
		for verified := range waiting {
			f := <-verified
			d, err := v.reported(ctx, f)
			f.close()
			if !yield(d, err) || err != nil {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(report.Document{}, err)
		}
	}
}

// verifiedFile is a file with the result of its verification.
type verifiedFile struct {
	path   string
	file   *os.File // open for the pictures; nil if it could not be opened, or if no pictures are drawn
	kind   format
	report *ades.Report
	err    error // why the file could not be verified
}

func (f verifiedFile) close() {
	if f.file != nil {
		f.file.Close()
	}
}

// verify verifies a file when there is memory for it. The caller closes the result.
func (v *verifier) verify(ctx context.Context, path string, memory *semaphore.Weighted) verifiedFile {
	f := verifiedFile{path: path}
	if f.file, f.err = openDocument(path); f.err != nil {
		return f
	}
	f.kind, f.report, f.err = v.report(ctx, f.file, memory)
	if v.pictures == nil {
		f.close()
		f.file = nil
	}
	return f
}

// reported returns the report on a file after its pictures are drawn.
func (v *verifier) reported(ctx context.Context, f verifiedFile) (report.Document, error) {
	switch {
	case ctx.Err() != nil:
		return report.Document{}, ctx.Err()
	case f.err != nil:
		return report.Unreadable(f.path, f.err), nil
	}
	var err error
	if v.pictures != nil {
		err = v.pictures.draw(ctx, f.file, f.kind, f.report)
	}
	return report.New(f.path, f.report), err
}

var errNotRegular = errors.New("not a regular file")

// openDocument opens a regular file. It does not open other files, since opening a named pipe waits for a writer.
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

// report verifies the signatures of a file when there is memory for it.
func (v *verifier) report(ctx context.Context, file *os.File, memory *semaphore.Weighted) (format, *ades.Report, error) {
	stat, err := file.Stat()
	if err != nil {
		return 0, nil, err
	}
	kind, err := readFormat(file)
	if err != nil {
		return 0, nil, err
	}
	taken := memoryOf(kind, stat.Size())
	if err := memory.Acquire(ctx, taken); err != nil {
		return 0, nil, err
	}
	defer memory.Release(taken)
	options := ades.VerifyOptions{Time: v.at, Roots: v.roots, TimestampRoots: v.timestamps, Revocation: v.revocation, Issuers: v.issuers, Chains: &v.chains}
	if kind == formatXML {
		verified, err := xades.Verify(ctx, xades.Document{ReaderAt: file, Size: stat.Size()}, options)
		return kind, verified, err
	}
	verified, err := pades.Verify(ctx, pades.Document{ReaderAt: file, Size: stat.Size()}, options)
	return kind, verified, err
}

// Limits of the pictures of --revisions.
const (
	maxPictures    = 200  // of all files together
	pictureSide    = 1200 // pixels of the longer side
	pictureTimeout = 10 * time.Second
)

// revisionPictures draws the revision of a document that each signature covers.
type revisionPictures struct {
	folder   string
	renderer *pdfium.Renderer
	warm     bool
	streams  streams
	shown    *progress
	names    map[string]int // number of files with each name
	most     int
	drawn    int // pages that were drawn or failed
	omitted  int // pages beyond most
}

func newRevisionPictures(folder string, renderer *pdfium.Renderer, s streams) (*revisionPictures, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	return &revisionPictures{
		folder: folder, renderer: renderer, streams: s, shown: newProgress(s.stderr, "pages drawn"), names: make(map[string]int),
		most: maxPictures,
	}, nil
}

func (p *revisionPictures) close() error {
	if p.omitted > 0 {
		p.streams.say(fmt.Sprintf("pages that were not drawn: %d (--revisions draws at most %d)", p.omitted, p.most))
	}
	return p.renderer.Close()
}

// draw draws the revision that each signature of a file covers. It prints what cannot be drawn, and returns an error if
// a picture cannot be written.
func (p *revisionPictures) draw(ctx context.Context, file *os.File, kind format, verified *ades.Report) error {
	if kind == formatXML {
		p.streams.say(file.Name() + " is XML, which has no pages to draw")
		return nil
	}
	defer p.shown.end()
	name := p.name(file.Name())
	for i := range verified.Signatures {
		prefix := fmt.Sprintf("%s-signature%d", name, i+1)
		s := &verified.Signatures[i]
		if !s.Intact || s.Coverage == ades.Partial || s.CoveredBytes == 0 {
			p.say(file.Name(), i+1, "is not drawn: the signature is not intact, or does not cover its whole revision")
			continue
		}
		if err := p.revision(ctx, io.NewSectionReader(file, 0, s.CoveredBytes), prefix, func(text string) { p.say(file.Name(), i+1, text) }); err != nil {
			return err
		}
	}
	return nil
}

func (p *revisionPictures) say(file string, signature int, text string) {
	p.shown.end()
	p.streams.say(fmt.Sprintf("%s: signature %d %s", file, signature, text))
}

// name returns the name of a file without its extension, with a number if another file had it.
func (p *revisionPictures) name(path string) string {
	base := filepath.Base(path)
	base = strings.TrimSuffix(base, filepath.Ext(base))
	p.names[base]++
	if n := p.names[base]; n > 1 {
		return fmt.Sprintf("%s-%d", base, n)
	}
	return base
}

func (p *revisionPictures) revision(ctx context.Context, document *io.SectionReader, prefix string, say func(string)) error {
	sizes, pages, err := stamp.Sizes(document, document.Size(), p.most-p.drawn)
	if err != nil {
		say("cannot be drawn: " + err.Error())
		return nil
	}
	p.omitted += pages - len(sizes)
	for i, size := range sizes {
		p.drawn++
		picture, err := p.page(ctx, document, i+1, size)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			say(fmt.Sprintf("covers page %d, which could not be drawn: %v", i+1, err))
			continue
		}
		path := filepath.Join(p.folder, fmt.Sprintf("%s-page%d.png", prefix, i+1))
		if err := writeAs(path, 0o600, bytes.NewReader(picture)); err != nil {
			return err
		}
		p.shown.show(int64(p.drawn))
	}
	return nil
}

// page returns the picture of a page, as PNG.
func (p *revisionPictures) page(ctx context.Context, document *io.SectionReader, number int, size stamp.Size) ([]byte, error) {
	if !p.warm {
		if err := p.renderer.WarmNotify(ctx, p.streams.say); err != nil {
			return nil, err
		}
		p.warm = true
	}
	width, height := pictureSides(size)
	drawn, err := p.renderer.Within(pictureTimeout).Render(ctx, document, document.Size(), number, width, height)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = png.Encode(&out, drawn)
	return out.Bytes(), err
}

// pictureSides returns the size of a page's picture in pixels; 0 for a page of unknown size, which is not drawn.
func pictureSides(size stamp.Size) (width, height int) {
	long := max(size.Width, size.Height)
	if !(long > 0) || math.IsInf(long, 0) {
		return 0, 0
	}
	side := func(points float64) int { return max(1, int(math.Round(points/long*pictureSide))) }
	return side(size.Width), side(size.Height)
}
