package xades

import (
	"fmt"
	"io"

	"github.com/innsigli/innsigli/ades"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// The container of a document that is signed internally detached.
const (
	containerName = "internally-detached"
	containedName = "signed-document"
)

// detach puts a document of a size, but for its opening, and the signature side by side into a new root.
func (l *layout) detach(opening, size int64) {
	l.before = []Piece{
		{To: opening},
		l.markup("<" + containerName + ">" + startTag(containedName, attributes{"Id", l.ids.document()})),
		{From: opening, To: size},
		l.markup("</" + containedName + ">"),
	}
	l.after = []Piece{l.markup(endTag + "</" + containerName + ">")}
	l.reference = reference{uri: "#" + l.ids.document(), transforms: []string{canonicalized(exclusive)}}
}

// join puts a further signature into a container, over the same document.
func (l *layout) join(src *source) error {
	inside, ok := containedDocument(src.doc.Root())
	if !ok {
		return fmt.Errorf("%w: it is no container of a signed document", ades.ErrUnreadable)
	}
	id, _ := inside.Attr("", "Id")
	if n, _ := src.doc.ByID(id); n != inside {
		return fmt.Errorf("%w: what it contains has the same identifier as something else", ades.ErrForbidden)
	}
	l.intoRoot(src)
	l.reference = reference{uri: "#" + id, transforms: []string{canonicalized(exclusive)}}
	l.data = func(w io.Writer) error {
		return src.doc.Canonicalize(w, exclusive, xmldoc.Subset{Apex: inside})
	}
	return nil
}

// containedDocument is what the signatures of a container sign. In a container there is nothing else:
// what stands beside would not be signed by a further signature.
func containedDocument(root xmldoc.Node) (inside xmldoc.Node, ok bool) {
	if !isContainer(root) {
		return inside, false
	}
	signatures := 0
	for n := range root.Children() {
		switch {
		case inside == (xmldoc.Node{}) && n.Is("", containedName):
			inside = n
		case isSignature(n):
			signatures++
		default:
			return inside, false
		}
	}
	id, _ := inside.Attr("", "Id")
	return inside, isPlainName(id) && signatures > 0
}

// holdsContainer reports whether a document is a container that further signatures go into. Beside it there is
// nothing that they would not sign.
func holdsContainer(d *xmldoc.Document) bool {
	_, ok := containedDocument(d.Root())
	return ok && !hasInstructions(d)
}

// isPlainName reports whether an identifier is a name in ASCII: others may mean something else in a reference,
// such as an XPointer.
func isPlainName(id string) bool {
	for i, c := range []byte(id) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_'
		if !letter && (i == 0 || !('0' <= c && c <= '9' || c == '-' || c == '.')) {
			return false
		}
	}
	return id != ""
}
