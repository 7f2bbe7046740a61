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

// appendOnce appends a reference to the source of an array. One array may be both the
// annotations and the fields, and then has it already: the result is nil.
func appendOnce(source []byte, item pdf.Ref) ([]byte, error) {
	value, err := pdf.Parse(source)
	if items, ok := value.(pdf.Array); err != nil || ok && slices.Contains(items, pdf.Object(item)) {
		return nil, err
	}
	return pdf.AppendItem(source, []byte(item.String()))
}
