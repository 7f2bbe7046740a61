package xades

import (
	"errors"

	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
)

// addListed follows the references of a Manifest, once for each.
func (s *scope) addListed(r xmldsig.Reference) {
	last := &s.references[len(s.references)-1]
	if last.err != nil || s.lists[last.target] {
		return
	}
	s.lists[last.target] = true
	listed, err := s.Manifest(r)
	last.list = err
	for _, entry := range listed {
		s.add(entry)
		s.references[len(s.references)-1].listed = true
	}
}

// isAbsent reports whether a Manifest lists something that is not in the document: the list is signed, and whoever
// has what it names can compare the digest (xmldsig-core1 5.1).
func (r *signedReference) isAbsent() bool {
	return r.listed && errors.Is(r.err, xmldsig.ErrReference) && !errors.Is(r.err, errAmbiguous)
}

// warnOfAbsent tells the first of what Manifests list and the document lacks.
func (v *verification) warnOfAbsent(r *signedReference) {
	if !v.absent {
		v.absent = true
		v.warn("What the signature lists in a Manifest is not in the document, and not verified: %.100q.", r.URI)
	}
}
