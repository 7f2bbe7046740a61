package pades

import (
	"fmt"
	"slices"

	"github.com/innsigli/innsigli/internal/pdf"
)

// patchObject changes the source of an object by patch. If patch returns nil, the object does not
// change.
func patchObject(update *pdf.Update, ref pdf.Ref, patch func(source []byte) ([]byte, error)) error {
	source, err := update.Source(ref)
	if err != nil {
		return err
	}
	patched, err := patch(source)
	if err == nil && patched != nil {
		update.Set(ref, patched)
	}
	return err
}

// setEntry sets an entry of a dictionary that is an indirect object.
func setEntry(update *pdf.Update, dict pdf.Ref, key pdf.Name, value []byte) error {
	return patchObject(update, dict, func(source []byte) ([]byte, error) { return pdf.SetKey(source, key, value) })
}

// patchCatalog changes the source of the dictionary under a key of the catalog.
func patchCatalog(file *pdf.File, update *pdf.Update, key pdf.Name, patch func(source []byte) ([]byte, error)) error {
	ref, catalog, err := file.Catalog()
	if err != nil {
		return err
	}
	return patchObject(update, ref, func(source []byte) ([]byte, error) {
		return patchValue(file, update, source, catalog, key, patch)
	})
}

// patchValue changes the value under a key of a dictionary, which is given as its source and as a
// value. It returns the new source of the dictionary. If the value is an indirect object,
// patchValue changes that object and returns nil: the source of the dictionary does not change.
func patchValue(file *pdf.File, update *pdf.Update, source []byte, dict pdf.Dict, key pdf.Name, patch func(source []byte) ([]byte, error)) ([]byte, error) {
	if ref, ok := file.LastReference(dict[key]); ok {
		return nil, patchObject(update, ref, patch)
	}
	value, _, err := pdf.Key(source, key)
	if err != nil {
		return nil, err
	}
	patched, err := patch(value)
	if err != nil || patched == nil {
		return nil, err
	}
	return pdf.SetKey(source, key, patched)
}

// appendReference appends a reference to the array under a key of a dictionary, which is given as
// its source and as a value. Like patchValue it returns the new source of the dictionary, or nil
// when that does not change.
func appendReference(file *pdf.File, update *pdf.Update, source []byte, dict pdf.Dict, key pdf.Name, item pdf.Ref) ([]byte, error) {
	array, err := file.Array(dict[key])
	if err != nil {
		return nil, err
	}
	if array == nil {
		return pdf.SetKey(source, key, fmt.Appendf(nil, "[%s]", item))
	}
	return patchValue(file, update, source, dict, key, func(source []byte) ([]byte, error) {
		return appendOnce(source, item)
	})
}

// appendReferences appends references to an array of a document security store, and returns the new
// source of the store's dictionary, or nil when there are none. An array that is an indirect object is
// replaced by a direct one, because that object may also be the array of a VRI dictionary, which states
// the validation data of another signature. It returns [pdf.ErrLimit] for more entries than this package
// reads.
func appendReferences(file *pdf.File, update *pdf.Update, source []byte, dict pdf.Dict, key pdf.Name, items []pdf.Ref) ([]byte, error) {
	if len(items) == 0 {
		return nil, nil
	}
	array, err := file.Array(dict[key])
	if err != nil {
		return nil, err
	}
	if len(array)+len(items) > maxStoreEntries { // further entries would not be read
		return nil, fmt.Errorf("%w: more than %d entries of /%s", pdf.ErrLimit, maxStoreEntries, key)
	}
	if array == nil {
		return pdf.SetKey(source, key, fmt.Appendf(nil, "%v", items))
	}
	var value []byte
	if ref, ok := file.LastReference(dict[key]); ok {
		value, err = update.Source(ref)
	} else {
		value, _, err = pdf.Key(source, key)
	}
	for _, item := range items {
		if err != nil {
			return nil, err
		}
		value, err = pdf.AppendItem(value, []byte(item.String()))
	}
	if err != nil {
		return nil, err
	}
	return pdf.SetKey(source, key, value)
}

// appendOnce appends a reference to the source of an array. It returns nil when the array has it
// already: one array may be both the annotations of a page and the fields of the form.
func appendOnce(source []byte, item pdf.Ref) ([]byte, error) {
	value, err := pdf.Parse(source)
	if items, ok := value.(pdf.Array); err != nil || ok && slices.Contains(items, pdf.Object(item)) {
		return nil, err
	}
	return pdf.AppendItem(source, []byte(item.String()))
}

// appendToSingle replaces the single object under a key of a dictionary by an array of that object
// and a reference.
func appendToSingle(source []byte, key pdf.Name, item pdf.Ref) ([]byte, error) {
	only, _, err := pdf.Key(source, key)
	if err != nil {
		return nil, err
	}
	return pdf.SetKey(source, key, fmt.Appendf(nil, "[%s %s]", only, item))
}

// etsiLevel is the level of ETSI's developer extension of PDF 1.7 that defines SubFilter
// ETSI.CAdES.detached (EN 319 142-1).
const etsiLevel = 2

// etsiExtension is the developer extensions dictionary of ETSI's extension (ISO 32000-2 table 49).
const etsiExtension = "<< /Type /DeveloperExtensions /BaseVersion /1.7 /ExtensionLevel 2 >>"

// declareExtension declares ETSI's extension in the catalog (ISO 32000-2 7.12), as EN 319 142-1
// recommends. It does so only in a file of PDF 1.7. In a file of an earlier version BaseVersion
// would be later than the version of the file, which table 49 excludes. Raising that version would
// claim more than this package knows about the file, and would end PDF/A-1. PDF 2.0 contains the
// format itself. An Extensions entry that cannot be read stays as it is.
func declareExtension(file *pdf.File, update *pdf.Update) error {
	if major, minor := file.Version(); major != 1 || minor != 7 {
		return nil
	}
	ref, catalog, err := file.Catalog()
	if err != nil {
		return err
	}
	extensions, err := file.Dict(catalog["Extensions"])
	if err != nil {
		return pdf.IgnoreMalformed(err)
	}
	return pdf.IgnoreMalformed(update.Attempt(func(draft *pdf.Update) error {
		if extensions == nil {
			return setEntry(draft, ref, "Extensions", []byte("<< /ESIC "+etsiExtension+" >>"))
		}
		return patchCatalog(file, draft, "Extensions", func(source []byte) ([]byte, error) {
			return patchExtensions(file, draft, source, extensions)
		})
	}))
}

// patchExtensions adds ETSI's extension to the extensions dictionary, or raises its level. It
// leaves an array of extensions, which PDF 2.0 introduced, and a reference, which 7.12.1 excludes:
// their writer follows other rules.
func patchExtensions(file *pdf.File, update *pdf.Update, source []byte, extensions pdf.Dict) ([]byte, error) {
	switch declared := extensions["ESIC"].(type) {
	case nil:
		return pdf.SetKey(source, "ESIC", []byte(etsiExtension))
	case pdf.Dict:
		level, err := file.Int(declared["ExtensionLevel"])
		if err != nil || level >= etsiLevel {
			return nil, err
		}
		return patchValue(file, update, source, extensions, "ESIC", func(source []byte) ([]byte, error) {
			return pdf.SetKey(source, "ExtensionLevel", fmt.Append(nil, etsiLevel))
		})
	}
	return nil, nil
}
