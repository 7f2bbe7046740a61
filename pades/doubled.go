package pades

import (
	"errors"

	"github.com/innsigli/innsigli/internal/pdf"
)

var errDoubled = errors.New("an entry stands twice in the signature dictionary, and readers differ in which counts")

// doubled says whether an entry stands twice in the signature dictionary, or in the field that has it: readers
// differ in which counts (ISO 32000-2 7.3.7), so that one would show what another has not verified. What cannot
// be read is found elsewhere.
func (c coverage) doubled(f signatureField) bool {
	source, err := c.file.Source(f.holder)
	if err != nil {
		return false
	}
	if distinct, err := pdf.Distinct(source); err == nil && !distinct {
		return true
	}
	direct, ok, err := pdf.Key(source, "V")
	if err != nil || !ok {
		return false
	}
	distinct, err := pdf.Distinct(direct)
	return err == nil && !distinct
}
