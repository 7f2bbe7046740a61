package pades

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/internal/pki/cms"
	"github.com/innsigli/innsigli/internal/pki/validation"
)

// Prepare makes a document ready to be signed: it lays out the revision in which
// only the signature value is missing. [ades.ErrUnreadable], [ErrEncrypted],
// [ades.ErrForbidden], [ades.ErrBroken], [ErrField], [ErrPage], [ErrRect], [ErrAppearance],
// [ades.ErrAlgorithm], [ades.ErrOutsideValidity] for a time at which the signer's certificate is not valid.
// Options that contradict themselves are an error of no kind.
func Prepare(ctx context.Context, doc Document, signer ades.Signer, options Options) (*Pending, error) {
	signer, err := signer.Resolve()
	if err != nil {
		return nil, err
	}
	reserved, err := contentsSize(signer)
	if err != nil {
		return nil, err
	}
	if options.Level >= ades.T {
		reserved += tokenSize
	}
	return prepare(ctx, doc, signer, options, reserved)
}

// prepare is what [Prepare] and [PrepareCMS] share. The certificate of a signer who is not
// known yet is nil.
func prepare(ctx context.Context, doc Document, signer ades.Signer, options Options, reserved int) (*Pending, error) {
	if options.Visible != nil && options.Visible.Appearance == nil {
		return nil, errors.New("pades: a visible signature without an appearance")
	}
	if options.Time.IsZero() {
		options.Time = time.Now()
	}
	if signer.Certificate != nil {
		if err := validation.CheckClaimedTime(signer.Certificate, options.Time); err != nil {
			return nil, fmt.Errorf("pades: signing time: %w", err)
		}
	}
	layout, err := layOut(doc, signer, options, reserved)
	if err != nil {
		return nil, err
	}
	p := &Pending{signer: signer, base: doc.Size, before: layout.before, after: layout.after, reserved: reserved, level: options.Level, usageRights: layout.usageRights}
	if err := p.bind(ctx, doc); err != nil {
		return nil, err
	}
	return p, nil
}

// bind hashes the document and the revision around the signature, and fixes the
// attributes to sign.
func (p *Pending) bind(ctx context.Context, doc Document) error {
	sum, err := doc.hashed(ctx, p.signer.Algorithm.Hash)
	if err != nil {
		return err
	}
	if p.baseState, err = save(sum); err != nil {
		return err
	}
	p.baseSum = sum.Sum(nil)
	sum.Write(p.before)
	sum.Write(p.after)
	if p.anonymous() {
		p.attributes = sum.Sum(nil)
		return nil
	}
	p.attributes, err = cms.SignedAttributes(p.signer.Certificate, p.signer.Algorithm, sum.Sum(nil))
	return err
}

// contentsSize is the length in bytes that the CMS of the signer will not exceed:
// that of one with the longest signature value.
func contentsSize(signer ades.Signer) (int, error) {
	attributes, err := cms.SignedAttributes(signer.Certificate, signer.Algorithm, make([]byte, signer.Algorithm.Hash.Size()))
	if err != nil {
		return 0, err
	}
	der, err := cms.Marshal(cms.Parts{
		Certificate:      signer.Certificate,
		Chain:            signer.Chain,
		Algorithm:        signer.Algorithm,
		SignedAttributes: attributes,
		Value:            make([]byte, signer.Algorithm.MaxValueSize(signer.Certificate.PublicKey)),
	})
	return len(der), err
}

// layOut lays out the revision in which only the signature value is missing.
func layOut(doc Document, signer ades.Signer, options Options, reserved int) (l layout, err error) {
	if err := options.check(); err != nil {
		return l, err
	}
	err = pdf.Opened(doc, doc.Size, func(file *pdf.File) (err error) {
		l, err = layOutIn(doc, file, signer, options, reserved)
		return err
	})
	return l, readError(err)
}

// layOutIn lays it out for the document as it was opened.
func layOutIn(doc Document, file *pdf.File, signer ades.Signer, options Options, reserved int) (layout, error) {
	plan, err := newPlan(doc, file, signer, options)
	if err != nil {
		return layout{}, err
	}
	if err := plan.rehearse(doc.Size); err != nil {
		return layout{}, err
	}
	update := file.NewUpdate()
	signature := newSignatureDictionary(subFilter(signer), options, plan.references, reserved)
	ref := update.Add(signature.source)
	if err := plan.carryOut(update, ref); err != nil {
		return layout{}, err
	}
	l, err := signature.cutOut(update, ref, doc.Size)
	l.usageRights = plan.usageRights
	return l, err
}

// newSignatureDictionary writes the dictionary of ISO 32000-2 table 255 as
// EN 319 142-1 5.3 and 6.3 restrict it. references is the source of /Reference, if any.
func newSignatureDictionary(subFilter pdf.Name, o Options, references []byte, reserved int) signatureDictionary {
	var b bytes.Buffer
	d := beginSignature(&b, "/Type /Sig /Filter /Adobe.PPKLite /SubFilter /"+string(subFilter), reserved)
	fmt.Fprintf(&b, " /M %s", pdf.DateString(o.Time))
	for _, entry := range []struct{ key, value string }{
		{"Name", o.Name}, {"Reason", o.Reason}, {"Location", o.Location}, {"ContactInfo", o.ContactInfo},
	} {
		if entry.value != "" {
			fmt.Fprintf(&b, " /%s %s", entry.key, pdf.TextString(entry.value))
		}
	}
	if references != nil {
		fmt.Fprintf(&b, " /Reference %s", references)
	}
	b.WriteString(" >>")
	d.source = b.Bytes()
	return d
}
