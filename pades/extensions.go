package pades

import (
	"fmt"

	"github.com/innsigli/innsigli/internal/pdf"
)

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
