package pades

import (
	"fmt"
	"slices"

	"github.com/innsigli/innsigli/internal/pdf"
)

// patchObject changes the source of an object; nil leaves it as it is.
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

// setEntry sets an entry of a dictionary that is an object of its own.
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

// patchValue changes the value under a key of a dictionary, given as its source and its
// value. A value that is an object of its own is changed there, and the result is nil: the
// dictionary stays as it is.
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

// appendReference appends a reference to the array under a key of a dictionary, given as
// its source and its value. An array that is an object of its own is changed there, and
// the result is nil: the dictionary stays as it is.
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

// appendReferences appends to the array under a key of a dictionary, given as its source
// and its value; nil when that dictionary's own source stays as it is.
func appendReferences(file *pdf.File, update *pdf.Update, source []byte, dict pdf.Dict, key pdf.Name, items []pdf.Ref) ([]byte, error) {
	if len(items) == 0 {
		return nil, nil
	}
	array, err := file.Array(dict[key])
	if err != nil {
		return nil, err
	}
	if len(array)+len(items) > maxStoreEntries { // what comes after is not read
		return nil, fmt.Errorf("%w: more than %d entries of /%s", pdf.ErrLimit, maxStoreEntries, key)
	}
	if array == nil {
		return pdf.SetKey(source, key, fmt.Appendf(nil, "%v", items))
	}
	return patchValue(file, update, source, dict, key, func(source []byte) (_ []byte, err error) {
		for _, item := range items {
			if source, err = pdf.AppendItem(source, []byte(item.String())); err != nil {
				return nil, err
			}
		}
		return source, nil
	})
}

// appendOnce appends a reference to the source of an array. One array may be both the
// annotations and the fields, and then has it already: the result is nil.
func appendOnce(source []byte, item pdf.Ref) ([]byte, error) {
	value, err := pdf.Parse(source)
	if items, ok := value.(pdf.Array); err != nil || ok && slices.Contains(items, pdf.Object(item)) {
		return nil, err
	}
	return pdf.AppendItem(source, []byte(item.String()))
}

// appendToOne makes an array of the one object under a key and a reference.
func appendToSingle(source []byte, key pdf.Name, item pdf.Ref) ([]byte, error) {
	only, _, err := pdf.Key(source, key)
	if err != nil {
		return nil, err
	}
	return pdf.SetKey(source, key, fmt.Appendf(nil, "[%s %s]", only, item))
}

// etsiLevel is the level of ETSI's extension of PDF 1.7 that SubFilter
// ETSI.CAdES.detached is of (EN 319 142-1).
const etsiLevel = 2

// etsiExtension is its developer extensions dictionary (ISO 32000-2 table 49).
const etsiExtension = "<< /Type /DeveloperExtensions /BaseVersion /1.7 /ExtensionLevel 2 >>"

// declareExtension says in the catalog that the document uses ETSI's extension
// (ISO 32000-2 7.12; EN 319 142-1 recommends it). Only a file of PDF 1.7 can say so: in one
// of an earlier version BaseVersion would be later than the file's, which table 49 excludes,
// and to raise that would claim more than a signature knows, and end PDF/A-1; PDF 2.0 has
// the format itself. An Extensions entry that cannot be read stays as it is.
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

// patchExtensions adds ETSI's extension, or raises its level. An array of extensions, which
// PDF 2.0 introduced, stays as it is, as does a reference, which 7.12.1 excludes: who wrote
// that goes by other rules.
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
