package xades

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/innsigli/innsigli/internal/xmldoc"
)

// wrapping is a document that something is put around. It is read as what is made of it, and not for
// itself, so that there is one of it in memory.
type wrapping struct {
	layout
	next *source
	kept []Piece     // where the document is in next: its opening, and the rest
	at   xmldoc.Node // the element in next that the rest is the content of
}

// wrap reads a document as what is made of it, and writes the document itself to base.
func wrap(ctx context.Context, doc Document, o Options, base io.Writer) (*wrapping, error) {
	if doc.Size < 0 || doc.Size > maxSize {
		return nil, errSize(doc.Size)
	}
	begin, err := readOpening(doc)
	if err != nil {
		return nil, err
	}
	w := &wrapping{layout: newLayout(begin.encoding)}
	if o.Packing == Enveloping {
		w.envelop(begin.end, doc.Size)
	} else {
		w.detach(begin.end, doc.Size)
	}
	made := w.bare(doc.Size)
	if err := checkSize(made); err != nil {
		return nil, err
	}
	b, err := readBytes(ctx, doc.With(made), io.Discard)
	if err != nil {
		return nil, err
	}
	w.kept = keptIn(made)
	for _, p := range w.kept {
		if _, err := (contextWriter{ctx, base}).Write(b[p.From:p.To]); err != nil {
			return nil, err
		}
	}
	if w.next, err = parseSource(b); err != nil {
		return nil, err
	}
	return w, w.check()
}

// keptIn is where a document is in what a revision makes of it.
func keptIn(made Revision) (all []Piece) {
	at := int64(0)
	for _, p := range made.Pieces {
		if p.Bytes == nil {
			all = append(all, Piece{From: at, To: at + p.size()})
		}
		at += p.size()
	}
	return all
}

// content is the document but for its opening.
func (w *wrapping) content() Piece { return w.kept[len(w.kept)-1] }

// check makes sure that what was put around a document did not make one of something that is none: that its
// bytes are all of the content, with one element and nothing but white space beside it (XML 1.0,
// productions 1 and 27).
func (w *wrapping) check() (err error) {
	if w.at, err = w.wrapped(); err != nil {
		return err
	}
	start, end, ok := w.at.Inside()
	if content := w.content(); !ok || start != content.From || end != content.To {
		return fmt.Errorf("%w: it ends elements that it does not begin", ErrUnreadable)
	}
	elements := 0
	for n := range w.at.Children() {
		from, to := n.Span()
		switch n.Kind() {
		case xmldoc.Element:
			elements++
		case xmldoc.Text:
			if !w.encoding.isSpace(w.next.bytes[from:to]) {
				return fmt.Errorf("%w: there is text beside the root", ErrUnreadable)
			}
		}
	}
	if elements != 1 {
		return fmt.Errorf("%w: it has %d roots", ErrUnreadable, elements)
	}
	return nil
}

// wrapped is the element around the document.
func (w *wrapping) wrapped() (xmldoc.Node, error) {
	n, ok := w.next.doc.ByID(w.ids.document())
	if !ok {
		return n, fmt.Errorf("%w: the identifier of what is signed is not there once", ErrUnreadable)
	}
	return n, nil
}

// holdsContainer says whether the document is a container that further signatures go into. Beside it there
// is nothing that they would not sign.
func (w *wrapping) holdsContainer() bool {
	found := false
	for n := range w.at.Children() {
		switch n.Kind() {
		case xmldoc.Instruction:
			return false
		case xmldoc.Element:
			_, found = containedDocument(n)
		}
	}
	return found
}

// original is the document by itself.
func (w *wrapping) original() (*source, error) {
	var b []byte
	for _, p := range w.kept {
		b = append(b, w.next.bytes[p.From:p.To]...)
	}
	return parseSource(b)
}

// lay makes sure that the signatures of the document are right, and stay so, and writes what is to be
// signed.
func (w *wrapping) lay(ctx context.Context, signed io.Writer) error {
	if w.dependent() {
		src, err := w.original()
		if err != nil {
			return err
		}
		before, err := readEarlier(ctx, src.doc, "")
		if err != nil {
			return err
		}
		if err := unharmed(ctx, before, w.next.doc, w.ids); err != nil {
			return err
		}
	}
	return readError(w.next.doc.Canonicalize(contextWriter{ctx, signed}, exclusive, xmldoc.Subset{Apex: w.at}))
}

// dependent says whether it matters to the document what is around it: to its signatures, and where it has
// a prefix that is bound there, so that it has to bind it by itself.
func (w *wrapping) dependent() bool {
	content := w.next.bytes[w.content().From:w.content().To]
	for _, before := range []string{"<", " ", "\t", "\r", "\n"} { // of names in start tags
		if bytes.Contains(content, w.encoding.encode(before+"ds:")) {
			return true
		}
	}
	return len(signatureElements(w.next.doc, w.ids)) > 0
}
