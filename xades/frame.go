package xades

import (
	"slices"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
)

// frame is what the document becomes around a signature.
type frame struct {
	ids           ids
	before, after []Piece // after begins with the end tag of the signature, or an object before it
	encoding      xmldoc.Encoding
}

// revision is the document with the signature in it, up to where after begins.
func (f frame) revision(base int64, signature ...string) Revision {
	r := Revision{Base: base, Pieces: slices.Clone(f.before)}
	for _, s := range signature {
		r.Pieces = append(r.Pieces, f.markup(s))
	}
	r.Pieces = append(r.Pieces, f.after...)
	return r
}

func (f frame) markup(ascii string) Piece { return Piece{Bytes: f.encoding.Encode(ascii)} }

// bare is the document with an empty signature in it.
func (f frame) bare(base int64) Revision {
	return f.revision(base, startTag("ds:Signature", attributes{"xmlns:ds", xmldsig.Namespace, "Id", f.ids.signature()}))
}
