package main

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/xades"
)

// xmlFlags say what a signature of XML has and one in a PDF has not.
type xmlFlags struct {
	Packing string `placeholder:"PACKING" help:"XML: how the signature and the document stand to one another: enveloped, in its root (the default); enveloping, around it; or internally-detached, beside it in a new root."`
	Base64  bool   `name:"base64" env:"INNSIGLI_BASE64" help:"XML: with --packing enveloping, sign the file as it is, in Base64, and not its elements."`
	City    string `help:"XML: city that the signer signs from, stored in the signature."`
	Country string `help:"XML: and the country, such as IS."`
}

// first is the first of the flags that was given; "" for none.
func (f xmlFlags) first() string {
	if given := firstGiven([]flagValue{{"packing", f.Packing}, {"city", f.City}, {"country", f.Country}}); given != "" || !f.Base64 {
		return given
	}
	return "base64"
}

// packing is Enveloped if nothing else is asked for.
func (f xmlFlags) packing() (xades.Packing, error) {
	packing, ok := map[string]xades.Packing{
		"":                    xades.Enveloped,
		"enveloped":           xades.Enveloped,
		"enveloping":          xades.Enveloping,
		"internally-detached": xades.InternallyDetached,
	}[f.Packing]
	switch {
	case !ok:
		return 0, fmt.Errorf("%w: --packing is enveloped, enveloping or internally-detached, not %q", errUsage, f.Packing)
	case f.Base64 && packing != xades.Enveloping:
		return 0, fmt.Errorf("%w: --base64 goes with --packing enveloping", errUsage)
	}
	return packing, nil
}

// sign returns the signed document.
func (f xmlFlags) sign(ctx context.Context, a assignment) (io.Reader, error) {
	document := xmlDocument(a.content)
	revisions, err := f.revisions(ctx, a, document)
	if err != nil {
		return nil, fmt.Errorf("signing %s: %w", a.file, err)
	}
	return withRevisions(document, revisions), nil
}

// revisions make the document signed, and raise it to the level.
func (f xmlFlags) revisions(ctx context.Context, a assignment, document xades.Document) ([]xades.Revision, error) {
	packing, err := f.packing()
	if err != nil {
		return nil, err
	}
	pending, err := xades.Prepare(ctx, document, a.signer, xades.Options{
		Packing: packing, Base64: f.Base64, City: f.City, Country: f.Country, Reason: a.reason, Level: a.level,
	})
	if err != nil {
		return nil, err
	}
	revision, err := pending.Sign(ctx, a.key, a.sources.Time)
	if err != nil || a.level < ades.LT {
		return []xades.Revision{revision}, err
	}
	further, err := xades.Extender{Sources: a.sources}.ExtendLast(ctx, document.With(revision), a.level)
	return append([]xades.Revision{revision}, further...), err
}

func xmlDocument(content []byte) xades.Document {
	return xades.Document{ReaderAt: bytes.NewReader(content), Size: int64(len(content))}
}

// withRevisions reads the document that revisions make of one.
func withRevisions(document xades.Document, revisions []xades.Revision) io.Reader {
	for _, r := range revisions {
		document = document.With(r)
	}
	return io.NewSectionReader(document, 0, document.Size)
}
