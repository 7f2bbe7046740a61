package dsig

import (
	"fmt"
	"strings"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// The expressions that are known, with a prefix of XML Signature where the space is. They are compared and
// never evaluated: what one can leave out of a document is known before.
var (
	// Of XPath (xmldsig-core1 6.6.3): what stays.
	expressions = map[string]TransformKind{"not(ancestor-or-self:: :Signature)": WithoutSignatures}
	// Of XPath Filter 2.0: what is subtracted. EU DSS has written the first and the last; the second is the short form
	// of the first.
	filters = map[string]TransformKind{
		"/descendant:: :Signature": WithoutSignatures,
		"// :Signature":            WithoutSignatures,
		"/*/ :Signature":           WithoutRootSignatures,
	}
)

func (s *namespaces) readXPath(transform xmldoc.Node) (Transform, error) {
	in := sequenceOf(transform)
	expression := in.one("XPath")
	if err := in.end(); err != nil {
		return Transform{}, err
	}
	return s.readExpression(expression, expressions)
}

// readFilter2 reads a filter alone: several would be applied to one another's results.
func (s *namespaces) readFilter2(transform xmldoc.Node) (Transform, error) {
	in := sequenceOf(transform)
	expression := in.maybe(transformFilter2, "XPath")
	if err := in.end(); err != nil {
		return Transform{}, err
	}
	if expression == (xmldoc.Node{}) {
		return Transform{}, fmt.Errorf("%w: no XPath in a filter", ErrFormat)
	}
	if filter, _ := expression.Attr("", "Filter"); filter != "subtract" {
		return Transform{}, fmt.Errorf("%w: a filter that does not subtract", ErrTransform)
	}
	return s.readExpression(expression, filters)
}

func (s *namespaces) readExpression(n xmldoc.Node, known map[string]TransformKind) (Transform, error) {
	text, err := textOf(n)
	if err != nil {
		return Transform{}, err
	}
	text = strings.Trim(text, space)
	for expression, kind := range known {
		before, after, _ := strings.Cut(expression, " ")
		rest, begins := strings.CutPrefix(text, before)
		prefix, ends := strings.CutSuffix(rest, after)
		if begins && ends && prefix != "" {
			return Transform{Kind: kind}, s.checkPrefix(n, prefix)
		}
	}
	return Transform{}, fmt.Errorf("%w: an XPath expression that is not known", ErrTransform)
}

// checkPrefix: an expression says what it does only with the namespace that its prefix is bound to where it
// stands. There is no default namespace in XPath 1.0.
func (s *namespaces) checkPrefix(n xmldoc.Node, prefix string) error {
	uri, err := s.of(n, prefix)
	if err == nil && uri != Namespace {
		err = fmt.Errorf("%w: an XPath expression with a prefix of another namespace", ErrTransform)
	}
	return err
}
