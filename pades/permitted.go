package pades

import (
	"fmt"

	"github.com/innsigli/innsigli/internal/pdf"
)

// checkPermitted refuses a document whose author certified it against any change
// (DocMDP with P 1, ISO 32000-2 table 257).
func checkPermitted(file *pdf.File) error {
	_, catalog, err := file.Catalog()
	if err != nil {
		return err
	}
	permissions, err := file.Dict(catalog["Perms"])
	if err != nil {
		return err
	}
	certification, err := file.Dict(permissions["DocMDP"])
	if err != nil {
		return err
	}
	references, err := file.Array(certification["Reference"])
	if err != nil {
		return err
	}
	for _, r := range references {
		reference, err := file.Dict(r)
		if err != nil {
			return err
		}
		if method, err := file.Name(reference["TransformMethod"]); err != nil || method != "DocMDP" {
			continue
		}
		parameters, err := file.Dict(reference["TransformParams"])
		if err != nil {
			return err
		}
		if p, err := file.Int(parameters["P"]); err == nil && parameters["P"] != nil && p == 1 {
			return fmt.Errorf("%w: it is certified, and no changes are permitted", ErrForbidden)
		}
	}
	return nil
}
