package pades

import (
	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
)

// role is what an object is to a document. An object has as many as there are ways to it that
// readers take for different ends.
type role uint8

// Roles, those of the document's frame first, in the order in which they are compared: what
// became of the form explains what became of the pages.
const (
	theCatalog role = iota
	theForm
	formFields // an array of fields
	aField     // or a widget below one
	thePages   // a node of the page tree
	pageKids
	aPage
	pageAnnotations // an array of annotations
	anAnnotation    // that is no widget of the form
	theStore        // of validation data, and what is in it
	theExtensions
	thePermissions
	theMetadata
	theDocumentInformation
	theEncryption
	formResources // of the form, for all of its fields
	resourceKind  // one kind of these
	fieldValue
	fieldAppearance
	fieldPart // anything else that a field or the form has
	aSignature
	annotationPart
	contentOfPage
	theStructure
	theLayers
	anAncestor // of a page or field that does not have it below it: what it inherits from all the same
	anythingElse
)

// generic says whether all that an object of a role leads to has the same role, unless it is of
// the frame: there a reference, such as a destination, only points.
func (r role) generic() bool { return r > anAnnotation }

// drawn says whether an object of a role is seen.
func (r role) drawn() bool {
	return r == contentOfPage || r == fieldAppearance || r == formResources || r == resourceKind || r == theLayers || r == anAncestor
}

// ofField says whether an object of a role is a field, or belongs to some.
func (r role) ofField() bool {
	return r == aField || r == fieldValue || r == fieldAppearance || r == fieldPart || r == aSignature
}

// judged is what it is to change an object of a role that nothing more is known of.
var judged = map[role]judgement{
	theCatalog: {ades.ChangeCatalog, never}, theForm: {ades.ChangeFields, never}, formFields: {ades.ChangeFields, never},
	aField: {ades.ChangeFields, never}, thePages: {ades.ChangePages, never}, pageKids: {ades.ChangePages, never},
	aPage: {ades.ChangeContent, never}, pageAnnotations: {ades.ChangeAnnotation, Annotations},
	anAnnotation: {ades.ChangeAnnotation, Annotations}, theStore: {ades.ChangeValidationData, NoChanges},
	theExtensions: {ades.ChangeValidationData, NoChanges}, thePermissions: {ades.ChangeCatalog, never},
	theMetadata: {ades.ChangeMetadata, FormFilling}, theDocumentInformation: {ades.ChangeMetadata, FormFilling},
	theEncryption: {ades.ChangeCatalog, never}, formResources: {ades.ChangeAppearance, never},
	resourceKind: {ades.ChangeAppearance, never}, fieldValue: {ades.ChangeForm, FormFilling},
	fieldAppearance: {ades.ChangeAppearance, never}, fieldPart: {ades.ChangeFields, never},
	aSignature: {ades.ChangeFields, never}, annotationPart: {ades.ChangeAnnotation, Annotations},
	contentOfPage: {ades.ChangeContent, never}, theStructure: {ades.ChangeStructure, never},
	theLayers: {ades.ChangeCatalog, never}, anAncestor: {ades.ChangeUnknown, never}, anythingElse: {ades.ChangeCatalog, never},
}

// entries are the roles of what a dictionary of a role has under its keys. Under others it has
// what the last says; what is not there is only pointed at.
type entries struct {
	keys   map[pdf.Name]role
	others role
}

// pointer is the role of what is not followed: the page of an annotation, and the parent of a page or
// a field, unless it is another one than what leads there.
const pointer role = 255

var entriesOf = map[role]entries{
	theCatalog: {map[pdf.Name]role{
		"Pages": thePages, "AcroForm": theForm, "DSS": theStore, "Metadata": theMetadata, "Extensions": theExtensions,
		"Perms": thePermissions, "StructTreeRoot": theStructure, "OCProperties": theLayers, "MarkInfo": theStructure, "Lang": theStructure,
	}, anythingElse},
	theForm: {map[pdf.Name]role{"Fields": formFields, "DR": formResources}, fieldPart},
	aField: {map[pdf.Name]role{
		"Kids": formFields, "V": fieldValue, "RV": fieldValue, "AP": fieldAppearance, "Parent": pointer, "P": pointer,
	}, fieldPart},
	thePages:      {map[pdf.Name]role{"Kids": pageKids, "Parent": pointer}, contentOfPage},
	aPage:         {map[pdf.Name]role{"Annots": pageAnnotations, "Parent": pointer, "AA": anythingElse, "B": anythingElse, "PieceInfo": anythingElse}, contentOfPage},
	anAnnotation:  {map[pdf.Name]role{"P": pointer}, annotationPart},
	anAncestor:    {map[pdf.Name]role{"Parent": anAncestor, "Kids": pointer}, contentOfPage},
	aSignature:    {map[pdf.Name]role{"Data": pointer}, aSignature},
	formResources: {nil, resourceKind},
	resourceKind:  {nil, fieldAppearance},
	thePermissions: {map[pdf.Name]role{
		"DocMDP": aSignature,
	}, thePermissions},
}

// of is the role of what is under a key of a dictionary of a role.
func (r role) of(key pdf.Name) role {
	e, ok := entriesOf[r]
	if !ok {
		return r
	}
	if as, ok := e.keys[key]; ok {
		return as
	}
	return e.others
}
