package main

import (
	"bytes"
	"context"
	"fmt"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/stamp"
)

// Bounds of what --revisions draws.
const (
	mostPictures     = 200 // of all files together
	pictureSide      = 1200
	pictureTakesMost = 10 * time.Second
)

// revisionPictures draws documents as their signers had them: up to the end of what is covered.
type revisionPictures struct {
	folder   string
	renderer pageRenderer
	warm     bool
	streams  streams
	shown    *progress
	names    map[string]int // how many files of a name there were
	most     int
	drawn    int // pages, or tried to
	left     int // that were too many
}

func newRevisionPictures(folder, cache string, s streams) (*revisionPictures, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	return &revisionPictures{
		folder: folder, renderer: newRenderer(cache), streams: s, shown: newProgress(s.talk, "pages drawn"), names: make(map[string]int),
		most: mostPictures,
	}, nil
}

func (p *revisionPictures) close() error {
	if p.left > 0 {
		p.streams.say(fmt.Sprintf("%d pages are not drawn: %d are the most that --revisions draws", p.left, p.most))
	}
	return p.renderer.Close()
}

// draw draws what each signature of a file covers. What cannot be drawn is said; the error is of writing.
func (p *revisionPictures) draw(ctx context.Context, file *os.File, kind format, judged *ades.Report) error {
	if kind == formatXML {
		p.streams.say(file.Name() + " is XML, which has no pages to draw")
		return nil
	}
	defer p.shown.end()
	name := p.name(file.Name())
	for i := range judged.Signatures {
		prefix := fmt.Sprintf("%s-signature%d", name, i+1)
		s := &judged.Signatures[i]
		if !s.Intact || s.Coverage == ades.Partial || s.CoveredBytes == 0 {
			p.say(file.Name(), i+1, "covers nothing that could be drawn: it is not intact, or leaves out a part of its revision")
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

// name is that of a file without its extension, and another for each file.
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
		say("covers what cannot be drawn: " + err.Error())
		return nil
	}
	p.left += pages - len(sizes)
	for i, size := range sizes {
		p.drawn++
		picture, err := p.page(ctx, document, i+1, size)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			say(fmt.Sprintf("covers page %d, which cannot be drawn: %v", i+1, err))
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

// page is the picture of a page, as PNG.
func (p *revisionPictures) page(ctx context.Context, document *io.SectionReader, number int, size stamp.Size) ([]byte, error) {
	if !p.warm {
		if err := p.renderer.warm(ctx, p.streams.say); err != nil {
			return nil, err
		}
		p.warm = true
	}
	width, height := pictureSides(size)
	drawn, err := p.renderer.Within(pictureTakesMost).Render(ctx, document, document.Size(), number, width, height)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = png.Encode(&out, drawn)
	return out.Bytes(), err
}

// pictureSides are those of a page's picture; 0 of a page whose size is not known, which nobody draws.
func pictureSides(size stamp.Size) (width, height int) {
	long := max(size.Width, size.Height)
	if !(long > 0) || math.IsInf(long, 0) {
		return 0, 0
	}
	side := func(points float64) int { return max(1, int(math.Round(points/long*pictureSide))) }
	return side(size.Width), side(size.Height)
}
