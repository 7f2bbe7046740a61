package xades

import (
	"slices"
	"strings"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
)

// maxPrefixes bounds the list of prefixes in a reference.
const maxPrefixes = 50

// ofSignatures are prefixes that signatures bind for themselves, and the one that is bound everywhere.
var ofSignatures = []string{"xml", "ds", "xades", "xades141", "dsig-filter2", "ec"}

// wholeForm is how a document is canonicalized of which the root is signed: exclusively, but for the prefixes
// that it declares. Values such as that of xsi:type have them too, and whoever bound them to something else there
// would change what is said (Exclusive XML Canonicalization 1.0, 1.3). A part that is signed by its identifier has
// no such list: it would take the declarations around it for its own, and could not be put anywhere else.
func wholeForm(d *xmldoc.Document) xmldoc.Canonicalization {
	prefixes := slices.DeleteFunc(d.Prefixes(), func(p string) bool { return slices.Contains(ofSignatures, p) })
	c := exclusive
	c.Prefixes = prefixes[:min(len(prefixes), maxPrefixes)]
	return c
}

// canonicalized is the transform for it.
func canonicalized(c xmldoc.Canonicalization) string {
	method := xmldsig.CanonicalizationMethod(c)
	if len(c.Prefixes) == 0 {
		return transform(method)
	}
	list := slices.Clone(c.Prefixes)
	if i := slices.Index(list, ""); i >= 0 {
		list[i] = "#default"
	}
	return transform(method, element("ec:InclusiveNamespaces", attributes{"xmlns:ec", method, "PrefixList", strings.Join(list, " ")}))
}
