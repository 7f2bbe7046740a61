package pades

import (
	"bytes"
	"fmt"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/pades/internal/form"
)

// plan is what is known about a document before a signature is written to it. All of the document
// that is needed is read before the first new object gets its number, because a new object must not
// get a number that the document refers to.
type plan struct {
	file          *pdf.File
	fields        form.Fields
	options       Options
	field         emptyField     // the field to fill in; a new field has only a name here
	page          *pdf.Page      // for a new field
	sharedAnnots  bool           // the new field is visible, and another page uses the annotations of its page
	structure     *structureTree // for the widget of a new field; nil: the widget is not tagged
	addsExtension bool           // the signature is the first, and of the format of ETSI's extension
	references    []byte         // source of /Reference of the signature; nil for none
	usageRights   bool
}

// newPlan reads the document and refuses it when it must not be signed, or not with these options.
func newPlan(doc Document, file *pdf.File, signer ades.SignerIdentity, o Options) (*plan, error) {
	found, err := form.ReadNamed(file, o.Field)
	if err != nil {
		return nil, err
	}
	p := &plan{file: file, fields: found, options: o, addsExtension: !found.Signed() && subFilter(signer) == cadesDetached, usageRights: hasUsageRights(file)}
	if o.Field != "" {
		if p.field, err = selectField(file, o.Field, found.Named); err != nil {
			return nil, err
		}
	}
	if err := checkCertifiable(file, found, o.Certify); err != nil {
		return nil, err
	}
	if err := checkPermitted(doc, file, found, o.Field); err != nil {
		return nil, err
	}
	if p.page, err = o.page(file); err != nil {
		return nil, err
	}
	if p.sharedAnnots, err = o.sharesAnnots(file, p.page); err != nil {
		return nil, err
	}
	if p.structure, err = readStructureTree(file, found.Signed()); err != nil {
		return nil, err
	}
	if o.Field == "" {
		p.field.name = found.FreeName("Signature")
		return p, p.setReferences(form.Lock{})
	}
	l, err := p.applyFieldConstraints(signer)
	if err != nil {
		return nil, err
	}
	return p, p.setReferences(l)
}

// applyFieldConstraints checks the signature against the lock and the seed value of its field, and
// returns the lock.
func (p *plan) applyFieldConstraints(signer ades.SignerIdentity) (form.Lock, error) {
	l, err := form.ReadLock(p.file, p.field.lock)
	if err != nil {
		return l, fmt.Errorf("reading the lock of field %q: %w", p.field.name, err)
	}
	if err := checkLock(l, p.field.name); err != nil {
		return l, err
	}
	if err := checkSeed(p.file, p.field, l, signer, p.options); err != nil {
		return l, err
	}
	if p.options.Appearance != nil {
		err = p.field.readRotations(p.file)
	}
	return l, err
}

// setReferences sets the signature references: one for the permission of a certification, and one
// for the lock of the field (ISO 32000-2 12.8.1).
func (p *plan) setReferences(l form.Lock) error {
	catalog, _, err := p.file.Catalog()
	if err != nil {
		return err
	}
	var references [][]byte
	if p.options.Certify != 0 {
		references = append(references, p.options.Certify.reference())
	}
	if l.Action != "" {
		references = append(references, lockReference(l, catalog))
	}
	if len(references) > 0 {
		p.references = fmt.Appendf(nil, "[%s]", bytes.Join(references, []byte{' '}))
	}
	return nil
}

// dryRun lays out, without keeping it, the validation data and the document timestamp that the
// level adds after the signature. A document that does not take them is thus refused before a
// person is asked to sign.
func (p *plan) dryRun(size int64) error {
	if p.options.Level >= ades.LT {
		s, err := findStore(p.file)
		if err != nil {
			return err
		}
		update := p.file.NewUpdate()
		one := []pdf.Ref{update.Add([]byte("null"))}
		if err := s.write(p.file, update, additions{certificates: one, ocspResponses: one, crls: one}); err != nil {
			return fmt.Errorf("adding to the document security store: %w", err)
		}
	}
	if p.options.Level < ades.LTA {
		return nil
	}
	_, err := buildTimestampRevision(p.file, p.fields, size, tokenSize)
	return err
}

// apply makes the signature the value of its field and, if it is a certification, names it in the
// catalog.
func (p *plan) apply(update *pdf.Update, signature pdf.Ref) error {
	var err error
	if p.options.Field != "" {
		err = fillField(p.file, update, p.field, signature, p.options.Appearance)
	} else {
		err = p.addField(update, signature)
	}
	if err == nil && p.addsExtension {
		err = declareExtension(p.file, update)
	}
	if err != nil || p.options.Certify == 0 {
		return err
	}
	if err := addCertification(p.file, update, signature); err != nil {
		return fmt.Errorf("naming the certification in the catalog: %w", err)
	}
	return nil
}

// addField adds a new field, and the element for its widget to the structure of a tagged document.
func (p *plan) addField(update *pdf.Update, signature pdf.Ref) error {
	f := newField{p.field.name, p.options.title(), signature, true, p.options.Visible, p.sharedAnnots}
	widget, err := addField(p.file, update, p.page, f)
	if err != nil {
		return err
	}
	return p.structure.addWidget(update, p.page, widget, f)
}
