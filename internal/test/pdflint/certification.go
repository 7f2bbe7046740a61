package pdflint

import (
	"reflect"

	"github.com/innsigli/innsigli/internal/pdf"
)

// checkSubFilter: the signature is one of EN 319 142-1, for a handler that every viewer
// has (5.3, 6.3), or a document timestamp, which says nothing of a signer (5.4.3).
func (l *linter) checkSubFilter(signature pdf.Dict) {
	wanted := map[pdf.Name]pdf.Object{"Type": pdf.Name("Sig"), "Filter": pdf.Name("Adobe.PPKLite"), "SubFilter": pdf.Name("ETSI.CAdES.detached")}
	if isTimestamp(signature) {
		wanted["Type"], wanted["SubFilter"] = pdf.Name("DocTimeStamp"), pdf.Name("ETSI.RFC3161")
		for _, key := range []pdf.Name{"Cert", "Reference", "Changes", "M", "Name", "Reason", "Location", "ContactInfo"} {
			wanted[key] = nil
		}
	}
	for key, want := range wanted {
		if signature[key] != want {
			l.fault(SubFilter, "%s is %v", key, signature[key])
		}
	}
}

func isTimestamp(signature pdf.Dict) bool { return signature["Type"] == pdf.Name("DocTimeStamp") }

// checkCertification: the signature that certifies a document is its first one, is named
// by the catalog, and no other is (12.8.2.2, 12.8.6).
func (l *linter) checkCertification(ref pdf.Ref, signature pdf.Dict) {
	was, is := certification(l.old), certification(l.new)
	permission, certifies := l.certifies(signature)
	switch {
	case !certifies && !reflect.DeepEqual(was, is):
		l.fault(Certification, "is %v and was %v, and the signature does not certify", is, was)
	case !certifies:
	case is != ref:
		l.fault(Certification, "the catalog names %v, and %s certifies", is, ref)
	case was != nil || len(l.signatures()) > 0:
		l.fault(Certification, "is not the first signature")
	case permission < 1 || permission > 3:
		l.fault(Certification, "permits %d", permission)
	}
}

// certification is the signature that the catalog names as one (table 263).
func certification(file *pdf.File) pdf.Object {
	_, catalog, err := file.Catalog()
	if err != nil {
		return nil
	}
	permissions, _ := file.Dict(catalog["Perms"])
	return permissions["DocMDP"]
}

// certifies looks for the DocMDP transform of our signature (table 256).
func (l *linter) certifies(signature pdf.Dict) (permission int64, ok bool) {
	references, _ := l.new.Array(signature["Reference"])
	for _, r := range references {
		reference, _ := l.new.Dict(r)
		if method, err := l.new.Name(reference["TransformMethod"]); err == nil && method == "DocMDP" {
			parameters, _ := l.new.Dict(reference["TransformParams"])
			permission, _ = l.new.Int(parameters["P"])
			return permission, true
		}
	}
	return 0, false
}
