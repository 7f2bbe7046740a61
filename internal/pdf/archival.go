package pdf

import (
	"bytes"
	"encoding/xml"
	"slices"
)

// maxMetadata bounds a metadata stream in bytes.
const maxMetadata = 1 << 20

// Archival reports whether the document claims to be PDF/A: by its metadata (ISO 19005-1 6.7.11), or
// by an output intent that is made for it (6.2.2). What cannot be read claims nothing. Errors are those of
// [File.Catalog] and of the reader.
func (f *File) Archival() (bool, error) {
	_, catalog, err := f.Catalog()
	if err != nil {
		return false, err
	}
	for _, claim := range []func(*File, Dict) (bool, error){claimedByIntent, claimedByMetadata} {
		ok, err := claim(f, catalog)
		if IgnoreMalformed(err) != nil {
			return false, err
		}
		if err == nil && ok {
			return true, nil
		}
	}
	return false, nil
}

func claimedByIntent(file *File, catalog Dict) (bool, error) {
	intents, err := file.Array(catalog["OutputIntents"])
	if err != nil {
		return false, err
	}
	for _, o := range intents {
		intent, err := file.Dict(o)
		if err != nil {
			return false, err
		}
		if kind, err := file.Name(intent["S"]); err != nil || kind == "GTS_PDFA1" {
			return err == nil, err
		}
	}
	return false, nil
}

func claimedByMetadata(file *File, catalog Dict) (bool, error) {
	stream, err := file.StreamObject(catalog["Metadata"])
	if err != nil || stream == nil {
		return false, err
	}
	metadata, err := file.Stream(stream, maxMetadata)
	return err == nil && statesPart(metadata), err
}

// statesPart reports whether metadata (XMP, ISO 16684-1) names the part of ISO 19005 that a
// document is made by, as an element or as an attribute.
func statesPart(metadata []byte) bool {
	part := xml.Name{Space: "http://www.aiim.org/pdfa/ns/id/", Local: "part"}
	isPart := func(a xml.Attr) bool { return a.Name == part }
	d := xml.NewDecoder(bytes.NewReader(metadata))
	d.Strict = false
	for {
		token, err := d.Token()
		if err != nil {
			return false
		}
		start, ok := token.(xml.StartElement)
		if ok && (start.Name == part || slices.ContainsFunc(start.Attr, isPart)) {
			return true
		}
	}
}
