package pades

import (
	"bytes"
	"crypto/sha256"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"

	"github.com/innsigli/innsigli/internal/pdf"
)

// maxMetadata bounds a metadata stream in bytes.
const maxMetadata = 1 << 20

// lastWritten are what metadata says about the program that wrote the file last, and when
// that was (XMP, ISO 16684-1; the toolkit is that of x:xmpmeta). Others that extend a
// document note themselves there.
var lastWritten = []xml.Name{
	{Space: "http://ns.adobe.com/xap/1.0/", Local: "ModifyDate"},
	{Space: "http://ns.adobe.com/xap/1.0/", Local: "MetadataDate"},
	{Space: "http://ns.adobe.com/pdf/1.3/", Local: "Producer"},
	{Space: "adobe:ns:meta/", Local: "xmptk"},
}

// statements are what a metadata stream consists of, without who wrote it last.
type statements struct {
	dict pdf.Dict
	sum  [sha256.Size]byte // over all that is said
}

// statementsOf reads a metadata stream, and says how long it is.
func statementsOf(file *pdf.File, o pdf.Object) (found statements, size int, err error) {
	stream, err := file.StreamObject(o)
	if err != nil || stream == nil {
		return found, 0, err
	}
	content, err := file.Stream(stream, maxMetadata)
	if err != nil {
		return found, 0, err
	}
	found.dict = omit(stream.Dict, "Length", "Filter", "DecodeParms")
	found.sum, err = sumOfStatements(content)
	return found, len(content), err
}

func sumOfStatements(content []byte) (sum [sha256.Size]byte, err error) {
	all := sha256.New()
	d := xml.NewDecoder(bytes.NewReader(content))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return [sha256.Size]byte(all.Sum(nil)), nil
		}
		if start, ok := token.(xml.StartElement); ok && slices.Contains(lastWritten, start.Name) {
			token, err = nil, d.Skip()
		}
		if err != nil {
			return sum, fmt.Errorf("%w: metadata: %w", pdf.ErrDamaged, err)
		}
		if token = statement(token); token != nil {
			fmt.Fprintf(all, "%T%q\n", token, token)
		}
	}
}

// statement returns what a token says; nil when that is nothing. Names have their
// namespaces already, whatever prefixes are declared.
func statement(token xml.Token) xml.Token {
	switch token := token.(type) {
	case xml.StartElement:
		token.Attr = slices.DeleteFunc(token.Attr, func(a xml.Attr) bool {
			return a.Name.Space == "xmlns" || a.Name.Local == "xmlns" || slices.Contains(lastWritten, a.Name)
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

// same compares dictionaries without some of their keys.
func same(a, b pdf.Dict, without ...pdf.Name) bool {
	a, b = omit(a, without...), omit(b, without...)
	return len(a) == len(b) && (len(a) == 0 || reflect.DeepEqual(a, b))
}

func omit(d pdf.Dict, keys ...pdf.Name) pdf.Dict {
	d = maps.Clone(d)
	for _, key := range keys {
		delete(d, key)
	}
	return d
}
