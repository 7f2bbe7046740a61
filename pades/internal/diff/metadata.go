package diff

import (
	"bytes"
	"crypto/sha256"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/pades/internal/form"
)

// Bounds on metadata streams in bytes: of one stream, and of those of all revisions together.
const (
	maxMetadata      = 1 << 20
	maxMetadataInAll = 4 * maxMetadata
)

// metadataCache has the statements of the metadata streams of all revisions.
type metadataCache struct {
	known map[streamPlace]statements
	left  int // bytes of metadata that may still be read
}

type streamPlace struct{ offset, length int64 }

// statements are the contents of a metadata stream without the producer and the date of the last
// writer.
type statements struct {
	dict   pdf.Dict
	digest [sha256.Size]byte // of the XML tokens
}

// documentInformation compares the document information dictionary. Every writer enters its name
// and the date there (ISO 32000-2 14.3.3).
func (c *comparison) documentInformation(p *position, old, now pdf.Object) {
	before, _ := old.(pdf.Dict)
	after, isDict := now.(pdf.Dict)
	c.addMetadata(p, isDict && equalExcept(after, before, "ModDate", "Producer"))
}

// metadata compares metadata streams (ISO 32000-2 14.3.2).
func (c *comparison) metadata(p *position, old, now pdf.Object) error {
	before, err := c.statements(c.before, old)
	if err != nil {
		c.addMetadata(p, false)
		return pdf.IgnoreMalformed(err)
	}
	after, err := c.statements(c.now, now)
	c.addMetadata(p, err == nil && reflect.DeepEqual(before, after))
	return pdf.IgnoreMalformed(err)
}

// addMetadata adds a change of the metadata. producerAlone: only the producer and the date of the
// last writer have changed.
func (c *comparison) addMetadata(p *position, producerAlone bool) {
	if producerAlone {
		c.add(p, effect{ades.ChangeProducer, form.NoChanges})
	} else {
		c.add(p, effectOf[metadata])
	}
}

// statements returns the statements of a metadata stream. Metadata beyond the bound of all
// revisions is an error.
func (c *comparison) statements(file *pdf.File, o pdf.Object) (statements, error) {
	cache := &c.history.metadata
	var place streamPlace
	if stream, ok := o.(*pdf.Stream); ok {
		place = streamPlace{stream.Offset, stream.Length}
	}
	if known, ok := cache.known[place]; ok {
		return known, nil
	}
	if cache.left <= 0 {
		return statements{}, fmt.Errorf("%w: more metadata than is compared", pdf.ErrDamaged)
	}
	found, size, err := readStatements(file, o)
	cache.left -= size
	if err == nil && size > 0 {
		cache.known[place] = found
	}
	return found, err
}

// readStatements reads a metadata stream. It also returns the size of its decoded content in bytes.
func readStatements(file *pdf.File, o pdf.Object) (found statements, size int, err error) {
	stream, err := file.StreamObject(o)
	if err != nil || stream == nil {
		return found, 0, err
	}
	content, err := file.Stream(stream, maxMetadata)
	if err != nil {
		return found, 0, err
	}
	found.dict = without(stream.Dict, "Length", "Filter", "DecodeParms")
	found.digest, err = digestOfStatements(content)
	return found, len(content), err
}

// byLastWriter are the XMP properties of the program that wrote the file last, and of the date (ISO
// 16684-1). xmptk is an attribute of x:xmpmeta.
var byLastWriter = []xml.Name{
	{Space: "http://ns.adobe.com/xap/1.0/", Local: "ModifyDate"},
	{Space: "http://ns.adobe.com/xap/1.0/", Local: "MetadataDate"},
	{Space: "http://ns.adobe.com/pdf/1.3/", Local: "Producer"},
	{Space: "adobe:ns:meta/", Local: "xmptk"},
}

func digestOfStatements(content []byte) (digest [sha256.Size]byte, err error) {
	all := sha256.New()
	d := xml.NewDecoder(bytes.NewReader(content))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return [sha256.Size]byte(all.Sum(nil)), nil
		}
		if start, ok := token.(xml.StartElement); ok && slices.Contains(byLastWriter, start.Name) {
			token, err = nil, d.Skip()
		}
		if err != nil {
			return digest, fmt.Errorf("%w: metadata: %w", pdf.ErrDamaged, err)
		}
		if token = withoutWriter(token); token != nil {
			fmt.Fprintf(all, "%T%q\n", token, token)
		}
	}
}

// withoutWriter returns a token without namespace declarations, since the names in the tokens
// contain their namespaces, and without the properties of the last writer. It returns nil for a
// token that states nothing.
func withoutWriter(token xml.Token) xml.Token {
	switch token := token.(type) {
	case xml.StartElement:
		token.Attr = slices.DeleteFunc(token.Attr, func(a xml.Attr) bool {
			return a.Name.Space == "xmlns" || a.Name.Local == "xmlns" || slices.Contains(byLastWriter, a.Name)
		})
		return token
	case xml.CharData:
		if text := bytes.TrimSpace(token); len(text) > 0 {
			return xml.CharData(text)
		}
		return nil
	case xml.ProcInst, xml.Comment:
		return nil
	}
	return token
}
