package pades

import (
	"fmt"

	"github.com/innsigli/innsigli/internal/pdf"
)

// checkPermissions refuses an encrypted document whose author does not permit the
// signature (ISO 32000-2 table 22). A new field takes bits 4 and 6 together: bit 6 is for
// fields, and makes them only if bit 4 is set too. To fill in a field that is there, bit
// 6 is enough, and so is bit 9, even if 6 is clear. Bit 4 alone is not: it is for what
// the others do not control.
func checkPermissions(file *pdf.File, newField bool) error {
	p, encrypted := file.Permissions()
	switch {
	case !encrypted:
		return nil
	case newField && !(p.Modify && p.Annotate):
		return fmt.Errorf("%w: its author permits no new form fields", ErrForbidden)
	case !newField && !p.Annotate && !p.FillIn:
		return fmt.Errorf("%w: its author does not permit to fill in form fields", ErrForbidden)
	}
	return nil
}
