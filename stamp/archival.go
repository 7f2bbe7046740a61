package stamp

import (
	"bytes"
	"encoding/xml"
	"slices"

	"github.com/innsigli/innsigli/internal/pdf"
)

// maxMetadata bounds a metadata stream in bytes.
const maxMetadata = 1 << 20

// archival says whether a document claims to be PDF/A: by its metadata (ISO 19005-1 6.7.11), or
// by an output intent that is made for it (6.2.2). What cannot be read claims nothing.
func archival(file *pdf.File) (bool, error) {
	_, catalog, err := file.Catalog()
	if err != nil {
		return false, err
	}
	for _, claim := range []func(*pdf.File, pdf.Dict) (bool, error){claimedByIntent, claimedByMetadata} {
		switch ok, err := claim(file, catalog); {
		case err != nil && !unknown(err):
			return false, err
		case err == nil && ok:
			return true, nil
		}
	}
	return false, nil
}

func claimedByIntent(file *pdf.File, catalog pdf.Dict) (bool, error) {
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

func claimedByMetadata(file *pdf.File, catalog pdf.Dict) (bool, error) {
	stream, err := file.StreamObject(catalog["Metadata"])
	if err != nil || stream == nil {
		return false, err
	}
	metadata, err := file.Stream(stream, maxMetadata)
	return err == nil && statesPart(metadata), err
}

// statesPart says whether metadata (XMP, ISO 16684-1) names the part of ISO 19005 that a
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
