package pades

import (
	"errors"

	"github.com/innsigli/innsigli/internal/pdf"
)

// patchValue changes the value under a key of a dictionary, given as its source and its
// value. A value that is an object of its own is changed there, and the result is nil: the
// dictionary stays as it is.
func patchValue(file *pdf.File, update *pdf.Update, source []byte, dict pdf.Dict, key pdf.Name, patch func(source []byte) ([]byte, error)) ([]byte, error) {
	if ref, ok := lastReference(file, dict[key]); ok {
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

// notMalformed drops an error that says that the file is malformed where something
// was to be read or changed that a signature can do without.
func notMalformed(err error) error {
	if errors.Is(err, pdf.ErrDamaged) || errors.Is(err, pdf.ErrUnsupported) || errors.Is(err, pdf.ErrLimit) {
		return nil
	}
	return err
}
