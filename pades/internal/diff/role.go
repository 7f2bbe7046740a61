package diff

import (
	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/pades/internal/form"
)

// role is what readers use an object for. An object has one role for each use.
type role uint8

// The roles, in the order in which objects are compared: the changes of the form explain changes of
// the pages. The roles up to annotation are the frame of the document. Other objects point at
// objects of the frame without containing them, as a destination points at a page.
const (
	catalog role = iota
	interactiveForm
	formFields // an array of fields
	field      // a field, or a widget below one
	pageNode   // a node of the page tree
	pageKids
	page
	pageAnnotations // an array of annotations
	annotation      // an annotation that is not a widget of the form
	validationData  // the document security store and all that it refers to
	extensions
	permissions
	metadata
	documentInformation
	encryption
	formResources // resources of the form, which all of its fields share
	resourceType  // the dictionary of one resource type, such as XObject (ISO 32000-2 7.8.3)
	fieldValue
	fieldAppearance
	fieldPart // any other entry of a field or of the form
	signatureValue
	annotationPart
	pageContent
	logicalStructure
	optionalContent
	ancestor // a Parent that is not the node above in the tree: entries are inherited from it too
	otherRole

	// notFollowed is the role of an object that the graph does not follow from here: the page of an
	// annotation or field, the parent of a page or field, the kids of an ancestor, and the Data of
	// a signature reference.
	notFollowed role = 255
)

// effect is what a change means to a reader, and the least permission that allows it.
type effect struct {
	kind  ades.ChangeKind
	needs form.Permission
}

// unknown is the effect of a change that cannot be compared, or that readers may understand in
// different ways.
var unknown = effect{ades.ChangeUnknown, form.Never}

// effectOf is the effect of a change to an object of a role, if no other rule applies.
var effectOf = map[role]effect{
	catalog:             {ades.ChangeCatalog, form.Never},
	interactiveForm:     {ades.ChangeFields, form.Never},
	formFields:          {ades.ChangeFields, form.Never},
	field:               {ades.ChangeFields, form.Never},
	pageNode:            {ades.ChangePages, form.Never},
	pageKids:            {ades.ChangePages, form.Never},
	page:                {ades.ChangeContent, form.Never},
	pageAnnotations:     {ades.ChangeAnnotation, form.Annotations},
	annotation:          {ades.ChangeAnnotation, form.Annotations},
	validationData:      {ades.ChangeValidationData, form.NoChanges},
	extensions:          {ades.ChangeValidationData, form.NoChanges},
	permissions:         {ades.ChangeCatalog, form.Never},
	metadata:            {ades.ChangeMetadata, form.FormFilling},
	documentInformation: {ades.ChangeMetadata, form.FormFilling},
	encryption:          {ades.ChangeCatalog, form.Never},
	formResources:       {ades.ChangeAppearance, form.Never},
	resourceType:        {ades.ChangeAppearance, form.Never},
	fieldValue:          {ades.ChangeForm, form.FormFilling},
	fieldAppearance:     {ades.ChangeAppearance, form.Never},
	fieldPart:           {ades.ChangeFields, form.Never},
	signatureValue:      {ades.ChangeFields, form.Never},
	annotationPart:      {ades.ChangeAnnotation, form.Annotations},
	pageContent:         {ades.ChangeContent, form.Never},
	logicalStructure:    {ades.ChangeStructure, form.Never},
	optionalContent:     {ades.ChangeCatalog, form.Never},
	ancestor:            unknown,
	otherRole:           {ades.ChangeCatalog, form.Never},
}

// entries are the roles of the entries of a dictionary: by key, and of all other keys.
type entries struct {
	keys   map[pdf.Name]role
	others role
}

var entriesOf = map[role]entries{
	catalog: {map[pdf.Name]role{
		"Pages": pageNode, "AcroForm": interactiveForm, "DSS": validationData, "Metadata": metadata, "Extensions": extensions,
		"Perms": permissions, "StructTreeRoot": logicalStructure, "OCProperties": optionalContent, "MarkInfo": logicalStructure, "Lang": logicalStructure,
	}, otherRole},
	interactiveForm: {map[pdf.Name]role{"Fields": formFields, "DR": formResources}, fieldPart},
	field: {map[pdf.Name]role{
		"Kids": formFields, "V": fieldValue, "RV": fieldValue, "AP": fieldAppearance, "Parent": notFollowed, "P": notFollowed,
	}, fieldPart},
	pageNode: {map[pdf.Name]role{"Kids": pageKids, "Parent": notFollowed}, pageContent},
	// Actions, article beads and page-piece dictionaries are not drawn.
	page: {map[pdf.Name]role{
		"Annots": pageAnnotations, "Parent": notFollowed, "AA": otherRole, "B": otherRole, "PieceInfo": otherRole,
	}, pageContent},
	annotation:     {map[pdf.Name]role{"P": notFollowed}, annotationPart},
	ancestor:       {map[pdf.Name]role{"Parent": ancestor, "Kids": notFollowed}, pageContent},
	signatureValue: {map[pdf.Name]role{"Data": notFollowed}, signatureValue},
	formResources:  {nil, resourceType},
	resourceType:   {nil, fieldAppearance},
	permissions:    {map[pdf.Name]role{"DocMDP": signatureValue}, permissions},
}

// trailerEntries are the entries of the trailer that lead to objects. The other entries describe
// the cross-reference.
var trailerEntries = []struct {
	key  pdf.Name
	role role
}{{"Root", catalog}, {"Info", documentInformation}, {"Encrypt", encryption}}

// inFrame reports whether a role is one of the frame. Everything that an object of another role
// leads to has the same role, unless it is in the frame.
func (r role) inFrame() bool { return r <= annotation }

// isDrawn reports whether objects of a role are drawn.
func (r role) isDrawn() bool {
	return r == pageContent || r == fieldAppearance || r == formResources || r == resourceType || r == optionalContent || r == ancestor
}

// ofField reports whether objects of a role are fields or belong to fields.
func (r role) ofField() bool {
	return r == field || r == fieldValue || r == fieldAppearance || r == fieldPart || r == signatureValue
}

// inherits reports whether readers take entries that an object lacks from its Parent (ISO 32000-2
// 7.7.3.4, 12.7.4.1).
func (r role) inherits() bool { return r == field || r == pageNode || r == page }

// under returns the role of what is under a key of a dictionary that has role r.
func (r role) under(key pdf.Name) role {
	e, ok := entriesOf[r]
	if !ok {
		return r
	}
	if as, ok := e.keys[key]; ok {
		return as
	}
	return e.others
}
