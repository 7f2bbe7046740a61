package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/stamp"
)

// pdfFlags say what a signature in a PDF has and one in XML has not.
type pdfFlags struct {
	Location string `help:"PDF: where the signer signs from, stored in the signature."`
	Field    string `placeholder:"NAME" help:"PDF: fully qualified name of the empty signature field to sign (default a new one, invisible)."`
	Stamp    string `placeholder:"CORNER[:X,Y][@PAGE]" help:"PDF: draw a stamp, with the name and kennitala of the certificate, the time and the reason: BottomRight finds the first free spot from that corner, BottomRight:36,36@2 is so many points from that corner of page 2. Corners are TopLeft, TopRight, BottomLeft and BottomRight."`
	rendererFlag
	Certify string `placeholder:"PERMISSION" help:"PDF: certify the document, as its first signature, and permit later: no-changes, form-filling or annotations."`
}

// first is the first of the flags that was given; "" for none.
func (f pdfFlags) first() string {
	return firstGiven([]flagValue{{"location", f.Location}, {"field", f.Field}, {"stamp", f.Stamp}, {"certify", f.Certify}})
}

// flagValue is a flag with what was given for it.
type flagValue struct{ name, value string }

func firstGiven(flags []flagValue) string {
	for _, f := range flags {
		if f.value != "" {
			return f.name
		}
	}
	return ""
}

// sign returns the signed document.
func (f pdfFlags) sign(ctx context.Context, s streams, a assignment) (io.Reader, error) {
	document := pades.Document{ReaderAt: bytes.NewReader(a.content), Size: int64(len(a.content))}
	options, err := f.options(ctx, s, a, document)
	if err != nil {
		return nil, err
	}
	pending, err := pades.Prepare(ctx, document, a.signer, options)
	if err != nil {
		return nil, fmt.Errorf("signing %s: %w", a.file, err)
	}
	revisions, err := complete(ctx, pending, a, document)
	if err != nil {
		return nil, fmt.Errorf("signing %s: %w", a.file, err)
	}
	if pending.UsageRights() {
		fmt.Fprintf(s.talk, "%s was enabled for features of Adobe Reader. The signature ends that, and Acrobat will say so.\n", a.file)
	}
	return io.MultiReader(bytes.NewReader(a.content), appended(revisions)), nil
}

// options draw the stamp as well, if one is asked for.
func (f pdfFlags) options(ctx context.Context, s streams, a assignment, document pades.Document) (pades.Options, error) {
	options := pades.Options{
		Name:     a.signer.Certificate.Subject.CommonName,
		Reason:   a.reason,
		Location: f.Location,
		Time:     time.Now(),
		Field:    f.Field,
		Level:    a.level,
	}
	var err error
	if options.Certify, err = parsePermission(f.Certify); err != nil {
		return options, err
	}
	place, err := f.placement()
	if err != nil || place == nil {
		return options, err
	}
	if err := pades.Check(ctx, document, options); err != nil { // before pages are drawn
		return options, fmt.Errorf("signing %s: %w", a.file, err)
	}
	text := stamp.Text{Name: options.Name, Kennitala: idp.ShownKennitala(a.signer.Certificate), Time: options.Time, Reason: a.reason}
	if options.Visible, err = f.visible(ctx, s, *place, document, text); err != nil {
		return options, fmt.Errorf("the stamp on %s: %w", a.file, err)
	}
	return options, nil
}

// complete signs what is prepared and raises it to its level.
func complete(ctx context.Context, pending *pades.Pending, a assignment, document pades.Document) ([]pades.Revision, error) {
	revision, err := pending.Sign(ctx, a.key, a.sources.Time)
	if err != nil || a.level < ades.T {
		return []pades.Revision{revision}, err
	}
	// A timestamp that was too long for the signature comes behind it.
	further, err := pades.Extender{Sources: a.sources}.ExtendLast(ctx, document.With(revision), a.level)
	return append([]pades.Revision{revision}, further...), err
}

// appended is what revisions append, in their order.
func appended(revisions []pades.Revision) io.Reader {
	var all []io.Reader
	for _, r := range revisions {
		all = append(all, bytes.NewReader(r.Bytes))
	}
	return io.MultiReader(all...)
}

// parsePermission reads what a certification permits; "" is none.
func parsePermission(name string) (pades.Permission, error) {
	switch name {
	case "":
		return 0, nil
	case "no-changes":
		return pades.NoChanges, nil
	case "form-filling":
		return pades.FormFilling, nil
	case "annotations":
		return pades.Annotations, nil
	}
	return 0, fmt.Errorf("%w: --certify is no-changes, form-filling or annotations, not %q", errUsage, name)
}
