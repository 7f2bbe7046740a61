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
	"strconv"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/pades/internal/form"
)

// trailer compares what the trailer leads to. Another encryption, or another first part of the identifier, which goes
// into the encryption's key, is another document (ISO 32000-2 7.6, 14.4).
func (c *comparison) trailer() error {
	now, before := c.now.Trailer(), c.before.Trailer()
	for _, entry := range trailerEntries {
		p := &position{role: entry.role, step: string(entry.key)}
		if entry.role == catalog && !equal(now[entry.key], before[entry.key]) {
			c.add(p, effectOf[catalog])
		} else if err := c.compare(p, before[entry.key], now[entry.key]); err != nil {
			return err
		}
	}
	if now["Encrypt"] != nil && firstID(c.now) != firstID(c.before) {
		c.add(&position{role: encryption, step: "ID"}, effectOf[encryption])
	}
	return nil
}

func firstID(file *pdf.File) string {
	array, err := file.Array(file.Trailer()["ID"])
	if err != nil || len(array) == 0 {
		return ""
	}
	id, _ := file.Bytes(array[0])
	return string(id)
}

// catalog compares the document catalog. A signature may raise the version, as it adds extensions.
func (c *comparison) catalog(p *position, old, now pdf.Dict) error {
	keys, err := c.differingKeys(old, now)
	for _, key := range keys {
		child := p.child(string(key), catalog.under(key))
		if key == "Version" && c.versionRaised() {
			c.add(child, effectOf[extensions])
		} else if err := c.compare(child, old[key], now[key]); err != nil {
			return err
		}
	}
	return err
}

func (c *comparison) versionRaised() bool {
	major, minor := c.now.Version()
	oldMajor, oldMinor := c.before.Version()
	return major > oldMajor || major == oldMajor && minor >= oldMinor
}

// pageNode compares a node of the page tree. All that pages inherit from it is content.
func (c *comparison) pageNode(p *position, old, now pdf.Dict) error {
	keys, err := c.differingKeys(old, now)
	for _, key := range keys {
		r := pageContent
		if slices.Contains([]pdf.Name{"Kids", "Count", "Parent", "Type"}, key) {
			r = pageKids
		}
		if err := c.compare(p.child(string(key), r), old[key], now[key]); err != nil {
			return err
		}
	}
	return err
}

// page compares a page. Tabs and StructParents are for assistive technology (ISO 32000-2 table 31).
func (c *comparison) page(p *position, old, now pdf.Dict) error {
	keys, err := c.differingKeys(old, now)
	for _, key := range keys {
		child := p.child(string(key), page.under(key))
		switch key {
		case "Parent":
			c.add(child, effectOf[pageNode])
		case "Tabs", "StructParents":
			c.add(child, effectOf[logicalStructure])
		default:
			if err := c.compare(child, old[key], now[key]); err != nil {
				return err
			}
		}
	}
	return err
}

// pageAnnotations compares the annotations of a page. The widgets of new fields belong to the fields.
func (c *comparison) pageAnnotations(p *position, old, now pdf.Array) error {
	var kept pdf.Array
	known := membersOf(old)
	for i, o := range now {
		if known.take(o) {
			kept = append(kept, o)
		} else {
			c.newAnnotation(p.child(strconv.Itoa(i), annotation), o)
		}
	}
	// An annotation that is gone, or is drawn above another one now, is a change of the page's annotations.
	if !slices.EqualFunc(kept, old, equal) {
		c.add(p, c.removedAnnotationsEffect(old, kept))
	}
	return nil
}

// newAnnotation judges an annotation that was added.
func (c *comparison) newAnnotation(p *position, o pdf.Object) {
	ref, isRef := o.(pdf.Ref)
	if !isRef {
		c.add(p, effectOf[annotation])
		return
	}
	p.ref = ref
	if at, ok := c.addedFields[ref]; ok {
		c.changes[at].Page = p.page
		return
	}
	if known := c.graph.find(ref, field); known != nil {
		p.field = known.field
		c.add(p, effectOf[fieldAppearance])
		return
	}
	c.add(p, effectOf[annotation])
}

// removedAnnotationsEffect is the effect of annotations that are gone: where a field is among them, its appearance is changed.
func (c *comparison) removedAnnotationsEffect(old, kept pdf.Array) effect {
	still := membersOf(kept)
	for _, o := range old {
		ref, isRef := o.(pdf.Ref)
		if isRef && c.graph.find(ref, field) != nil && !still.refs[ref] {
			return effectOf[fieldAppearance]
		}
	}
	return effectOf[annotation]
}

// members are the items of an array: references, and direct objects in their order.
type members struct {
	refs   map[pdf.Ref]bool
	direct []pdf.Object
}

func membersOf(array pdf.Array) *members {
	m := &members{refs: make(map[pdf.Ref]bool)}
	for _, o := range array {
		if ref, ok := o.(pdf.Ref); ok {
			m.refs[ref] = true
		} else {
			m.direct = append(m.direct, o)
		}
	}
	return m
}

// take reports whether an item of another array is one of these. Direct objects have to come in the same order in both
// arrays, and each is taken once.
func (m *members) take(o pdf.Object) bool {
	if ref, ok := o.(pdf.Ref); ok {
		return m.refs[ref]
	}
	if len(m.direct) == 0 || !equal(m.direct[0], o) {
		return false
	}
	m.direct = m.direct[1:]
	return true
}

// validationData compares what is in the document security store. A store that has anything else than validation data
// may mean something to another reader.
func (c *comparison) validationData(p *position) error {
	if c.standardDSS == nil {
		_, dict, err := c.now.Catalog()
		plain := false
		if err == nil {
			plain, err = isStandardDSS(c.now, dict["DSS"])
		}
		if err := pdf.IgnoreMalformed(err); err != nil {
			return err
		}
		c.standardDSS = &plain
	}
	if *c.standardDSS {
		c.add(p, effectOf[validationData])
	} else {
		c.add(p, effectOf[otherRole])
	}
	return nil
}

// isStandardDSS reports whether a document security store has the entries of ISO 32000-2 tables 261 and 262 and no others.
func isStandardDSS(file *pdf.File, o pdf.Object) (bool, error) {
	dict, err := file.Dict(o)
	if err != nil || !hasOnly(dict, "Type", "Certs", "OCSPs", "CRLs", "VRI") {
		return false, err
	}
	if ok, err := areStreams(file, dict["Certs"], dict["OCSPs"], dict["CRLs"]); !ok || err != nil {
		return false, err
	}
	vri, err := file.Dict(dict["VRI"])
	if err != nil {
		return false, err
	}
	for key, entry := range vri {
		if key == "Type" { // table 262 has it for the entries; some writers give it to the dictionary around them too
			if _, err := file.Name(entry); err != nil {
				return false, err
			}
			continue
		}
		about, err := file.Dict(entry)
		if err != nil || !hasOnly(about, "Type", "Cert", "OCSP", "CRL", "TU", "TS") {
			return false, err
		}
		if ok, err := areStreams(file, about["Cert"], about["OCSP"], about["CRL"]); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// areStreams reports whether arrays have streams in them and nothing else.
func areStreams(file *pdf.File, arrays ...pdf.Object) (bool, error) {
	for _, o := range arrays {
		array, err := file.Array(o)
		if err != nil {
			return false, err
		}
		for _, entry := range array {
			if stream, err := file.StreamObject(entry); stream == nil || err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// documentInformation compares the document information dictionary. Every writer notes itself and the date there (ISO
// 32000-2 14.3.3).
func (c *comparison) documentInformation(p *position, old, now pdf.Object) {
	before, _ := old.(pdf.Dict)
	after, isDict := now.(pdf.Dict)
	c.addMetadata(p, isDict && equalExcept(after, before, "ModDate", "Producer"))
}

func (c *comparison) addMetadata(p *position, producerAlone bool) {
	if producerAlone {
		c.add(p, effect{ades.ChangeProducer, form.NoChanges})
	} else {
		c.add(p, effectOf[metadata])
	}
}

// metadata compares metadata streams.
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

// Bounds on metadata streams in bytes: one of them, and those of all revisions.
const (
	maxMetadata      = 1 << 20
	maxMetadataInAll = 4 * maxMetadata
)

// metadataCache is what the metadata streams of all revisions state, and how many more bytes of them are read.
type metadataCache struct {
	known map[streamPlace]statements
	left  int
}

type streamPlace struct{ offset, length int64 }

// statements returns what a metadata stream states. Metadata beyond the bound is an error.
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

// statements is what a metadata stream states, without the producer and date of the last writer.
type statements struct {
	dict   pdf.Dict
	digest [sha256.Size]byte // of the statements
}

// readStatements reads a metadata stream, and returns its size in bytes too.
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

// byLastWriter are the properties of the program that wrote the file last, and of the date (XMP, ISO 16684-1; xmptk is an
// attribute of x:xmpmeta).
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

// statement returns a token without what states nothing: declarations of namespaces, which its names have already, and
// the properties of the last writer. It returns nil for a token that states nothing at all.
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
