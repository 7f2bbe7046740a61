package xades

import (
	"bytes"
	"fmt"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// opening is how a document begins.
type opening struct {
	encoding  xmldoc.Encoding
	end       int64 // of the byte order mark and the XML declaration, in bytes
	container bool  // the root may be that of a container
}

// maxOpening is the length in bytes up to which an XML declaration is looked for, and the root of a
// container. There is room in it for all that may be said before, and for white space.
const maxOpening = 64 << 10

// readOpening reads how a document begins, without the rest of it. Where that is nothing that can be read,
// neither is the document.
func readOpening(doc Document) (o opening, err error) {
	if doc.Size < 0 || doc.Size > maxSize {
		return o, errSize(doc.Size)
	}
	b := make([]byte, min(doc.Size, maxOpening))
	if err := readFull(doc, b, 0); err != nil {
		return o, fmt.Errorf("xades: reading the document: %w", err)
	}
	if o.encoding, o.end, err = xmldoc.Opening(b); err != nil {
		return o, readError(err)
	}
	o.container = bytes.Contains(b, o.encoding.Encode("<"+containerName))
	return o, nil
}
