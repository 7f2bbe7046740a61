package xades

import "github.com/innsigli/innsigli/internal/xmldoc"

// hasLoose says whether an Object has something that the signature does not sign. The others leave the
// signature out, so that nobody signs it.
func (s *scope) hasLoose() bool {
	if s.Signature == nil {
		return false
	}
	for _, object := range s.Objects {
		if s.leadsTo(object) {
			continue
		}
		for n := range object.Children() {
			if n != s.qualifying && !isEmpty(n) && !s.leadsTo(n) {
				return true
			}
		}
	}
	return false
}

// leadsTo says whether a node is in what a reference leads to.
func (s *scope) leadsTo(n xmldoc.Node) bool {
	for _, r := range s.references {
		if r.err == nil && r.target.Contains(n) {
			return true
		}
	}
	return false
}
