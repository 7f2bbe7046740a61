package pades

import "errors"

var errDoubled = errors.New("an entry stands twice in the signature dictionary, and readers differ in which counts")

// doubled says whether an entry stands twice in the signature dictionary, or in the field that has it: readers
// differ in which counts (ISO 32000-2 7.3.7), so that one would show what another has not verified. What cannot
// be read is found elsewhere.
func (c coverage) doubled(f signatureField) bool {
	distinct, err := c.file.Distinct(f.holder)
	return err == nil && !distinct
}
