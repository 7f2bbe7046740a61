package dsig

import xmldoc "github.com/innsigli/innsigli/internal/xml/doc"

// namespaces are what prefixes are bound to in the references of a document. An element is looked through
// once for a prefix, and charged for: hundreds of elements around a signature may have ten thousand attributes
// each, and each of its transforms an expression with a prefix.
type namespaces struct {
	*work
	known map[binding]string
}

type binding struct {
	element xmldoc.Node
	prefix  string
}

// of is what a prefix is bound to where an element stands; "" when it is to nothing. [ErrLimit], and the
// error of the context.
func (s *namespaces) of(n xmldoc.Node, prefix string) (uri string, err error) {
	at := binding{n, prefix}
	uri, known := s.known[at]
	if known || n == (xmldoc.Node{}) {
		return uri, nil
	}
	if err := s.charge(int64(n.Width())); err != nil {
		return "", err
	}
	uri, declared := n.Declares(prefix)
	if !declared {
		if uri, err = s.of(n.Parent(), prefix); err != nil {
			return "", err
		}
	}
	s.known[at] = uri
	return uri, nil
}
