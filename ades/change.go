package ades

import "slices"

// ChangeKind says what a later revision of a document did to what was signed.
type ChangeKind string

const (
	// ChangeValidationData: validation data, or a document timestamp with the field that holds it.
	ChangeValidationData ChangeKind = "VALIDATION_DATA"
	// ChangeSignature: another signature, with its field and what is seen of it.
	ChangeSignature ChangeKind = "SIGNATURE"
	// ChangeForm: the value of a form field, and what is seen of it.
	ChangeForm ChangeKind = "FORM_FILLING"
	// ChangeAnnotation: an annotation that is no form field.
	ChangeAnnotation ChangeKind = "ANNOTATION"
	// ChangeAppearance: what is seen of a field whose value is what it was, or of a signature that was made.
	ChangeAppearance ChangeKind = "APPEARANCE"
	// ChangeFields: fields of the form, other than their values.
	ChangeFields ChangeKind = "FORM_FIELDS"
	// ChangePages: pages that were added, removed or moved.
	ChangePages ChangeKind = "PAGES"
	// ChangeContent: what a page shows.
	ChangeContent ChangeKind = "PAGE_CONTENT"
	// ChangeProducer: the producer and the date of the last writer, in the document information dictionary or the
	// metadata, and nothing else in there.
	ChangeProducer ChangeKind = "PRODUCER"
	// ChangeMetadata: what else the document says of itself, such as its title and author.
	ChangeMetadata ChangeKind = "METADATA"
	// ChangeStructure: the structure for assistive technology.
	ChangeStructure ChangeKind = "STRUCTURE"
	// ChangeCatalog: anything else that the document as a whole has: actions, layers, names, permissions.
	ChangeCatalog ChangeKind = "CATALOG"
	// ChangeHidden: objects that nothing leads to, and which a later revision could bring to light.
	ChangeHidden ChangeKind = "HIDDEN"
	// ChangeUnknown: something that cannot be compared.
	ChangeUnknown ChangeKind = "UNKNOWN"
)

// Change is one object that a later revision made another, or a part of one.
type Change struct {
	Revision int        // that made it; the first of the document is 1
	Kind     ChangeKind // what it is to a reader
	Object   string     // such as "12 0 R"
	Where    string     // the way to it from the catalog, such as "/Pages/Kids/0/Contents"; "" where there is none
	Page     int        // on which it is seen, from 1; 0: on none or many
	Field    string     // fully qualified name of the form field; "" where it is none
	// Permitted: the signature permits it, and so does the certification of the document.
	Permitted bool
}

// Forbidden are the changes that the signature does not permit.
func (s *SignatureReport) Forbidden() []Change {
	return slices.DeleteFunc(slices.Clone(s.Changes), func(c Change) bool { return c.Permitted })
}
