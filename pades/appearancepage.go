package pades

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"

	"github.com/innsigli/innsigli/internal/pdf"
)

// openAppearance returns the page of a PDF of one page.
func openAppearance(appearance []byte) (*pdf.File, *pdf.Page, error) {
	if len(appearance) > maxAppearance {
		return nil, nil, fmt.Errorf("it has %d bytes, more than %d", len(appearance), maxAppearance)
	}
	file, err := pdf.Open(bytes.NewReader(appearance), int64(len(appearance)))
	if err != nil {
		return nil, nil, err
	}
	pages, err := file.PageCount()
	if err != nil {
		return nil, nil, err
	}
	if pages != 1 {
		return nil, nil, fmt.Errorf("it has %d pages", pages)
	}
	if err := checkDrawable(file); err != nil {
		return nil, nil, err
	}
	page, err := file.Page(1)
	return file, page, err
}

// checkDrawable refuses what would be drawn in another way without the file's trailer and
// catalog: encrypted streams, and optional content that is off (ISO 32000-2 8.11.4.3),
// which would come to light.
func checkDrawable(file *pdf.File) error {
	if file.Trailer()["Encrypt"] != nil {
		return errors.New("it is encrypted")
	}
	_, catalog, err := file.Catalog()
	if err != nil {
		return err
	}
	optional, err := file.Dict(catalog["OCProperties"])
	if err != nil {
		return err
	}
	configuration, err := file.Dict(optional["D"])
	if err != nil {
		return err
	}
	off, err := file.Array(configuration["OFF"])
	if base := configuration["BaseState"]; err == nil && (len(off) > 0 || base != nil && base != pdf.Name("ON")) {
		err = errors.New("it has optional content that is off")
	}
	return err
}

// pageContent returns the content of a page, compressed. The division between content
// streams is one between lexical tokens (ISO 32000-2 table 31).
func pageContent(file *pdf.File, page *pdf.Page) ([]byte, error) {
	streams, err := contentStreams(file, page.Dict["Contents"])
	if err != nil {
		return nil, err
	}
	var compressed bytes.Buffer
	w := zlib.NewWriter(&compressed)
	for left := int64(maxAppearance); len(streams) > 0; streams = streams[1:] {
		stream, err := file.StreamObject(streams[0])
		if err != nil {
			return nil, err
		}
		if stream == nil {
			continue
		}
		content, err := file.Stream(stream, left)
		if err != nil {
			return nil, err
		}
		left -= int64(len(content))
		w.Write(append(content, '\n')) // a bytes.Buffer takes everything
	}
	err = w.Close()
	return compressed.Bytes(), err
}

// contentStreams returns the streams of a page: Contents is an array of them or the one.
func contentStreams(file *pdf.File, contents pdf.Object) (pdf.Array, error) {
	o, err := file.Resolve(contents)
	if err != nil {
		return nil, err
	}
	if array, ok := o.(pdf.Array); ok {
		return array, nil
	}
	return pdf.Array{contents}, nil
}

// importResources returns the source of a page's resources, with what they refer to in the
// update.
func importResources(update *pdf.Update, file *pdf.File, page *pdf.Page) ([]byte, error) {
	switch resources := page.Resources.(type) {
	case nil:
		return []byte("<< >>"), nil
	case pdf.Ref:
		return update.Import(file, []byte(resources.String()))
	}
	source, err := inheritedSource(file, page.Ref, "Resources")
	if err != nil {
		return nil, err
	}
	return update.Import(file, source)
}

// inheritedSource returns the source of an attribute that a page has or inherits
// (ISO 32000-2 7.7.3.4).
func inheritedSource(file *pdf.File, node pdf.Ref, key pdf.Name) ([]byte, error) {
	for range 64 {
		source, err := file.Source(node)
		if err != nil {
			return nil, err
		}
		if value, ok, err := pdf.Key(source, key); ok || err != nil {
			return value, err
		}
		dict, err := file.Dict(node)
		if err != nil {
			return nil, err
		}
		parent, ok := dict["Parent"].(pdf.Ref)
		if !ok {
			break
		}
		node = parent
	}
	return nil, fmt.Errorf("%w: page tree whose Parent entries do not lead to the inherited %s", pdf.ErrDamaged, key)
}
