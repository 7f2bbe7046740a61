package pdf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
)

// An Archive has the parameters of [Archival].
type Archive struct {
	Profile string         // of PDF/A or PDF/UA by its name in veraPDF: "1b", "2a", "4", "ua1", "ua2"
	Kind    Kind           // Table if empty; PDF/A-1 permits no other
	Objects map[int]string // additional objects, or replacements; see Archival
}

// Archival makes a file of one page that conforms to a profile of PDF/A (ISO 19005) or PDF/UA (ISO 14289). Its objects
// are 1 the catalog, 2 the page tree, 3 the content, 4 the metadata, 5 the colour profile, and 10 the page. The file is
// tagged if the profile requires it: 20 is the structure tree, 21 its Document, 22 a paragraph, and 23 the parent tree.
func Archival(a Archive) []byte {
	b := builder{offsets: make(map[int]int)}
	b.options.Trailer = "/ID [<00112233445566778899AABBCCDDEEFF> <00112233445566778899AABBCCDDEEFF>]"
	fmt.Fprintf(&b.out, "%%PDF-%s\n%%\xe2\xe3\xcf\xd3\n", a.version())
	b.stream(3, "", []byte("/P << /MCID 0 >> BDC 0 0 m 10 10 l S EMC"))
	b.stream(4, "/Type /Metadata /Subtype /XML", []byte(a.metadata()))
	b.stream(5, "/N 1", grayProfile())
	objects := map[int]string{
		1:  "<< /Type /Catalog /Pages 2 0 R /Metadata 4 0 R " + a.catalog() + " >>",
		2:  "<< /Type /Pages /Kids [10 0 R] /Count 1 >>",
		10: "<< /Type /Page /Parent 2 0 R /Contents 3 0 R /MediaBox [0 0 595 842] /Resources << >> /StructParents 0 >>",
	}
	if a.tagged() {
		objects[20] = "<< /Type /StructTreeRoot /K 21 0 R /ParentTree 23 0 R /ParentTreeNextKey 1 >>"
		objects[21] = "<< /Type /StructElem /S /Document /P 20 0 R /K [22 0 R] >>"
		objects[22] = "<< /Type /StructElem /S /P /P 21 0 R /Pg 10 0 R /K 0 >>"
		objects[23] = "<< /Nums [0 [22 0 R]] >>"
	}
	if a.Profile == "ua2" {
		objects[20] = "<< /Type /StructTreeRoot /K 21 0 R /Namespaces [24 0 R] /ParentTree 23 0 R /ParentTreeNextKey 1 >>"
		objects[21] = "<< /Type /StructElem /S /Document /NS 24 0 R /P 20 0 R /K [22 0 R] >>"
		objects[22] = "<< /Type /StructElem /S /P /NS 24 0 R /P 21 0 R /Pg 10 0 R /K 0 >>"
		objects[24] = "<< /Type /Namespace /NS (http://iso.org/pdf2/ssn) >>"
	}
	for n, body := range a.Objects {
		objects[n] = body
	}
	if a.Kind == Stream {
		return b.finishStream(objects)
	}
	return b.finishTable(objects)
}

func (a Archive) tagged() bool {
	return strings.HasSuffix(a.Profile, "a") || strings.HasPrefix(a.Profile, "ua")
}

// version returns the version of PDF that the profile is based on.
func (a Archive) version() string {
	switch {
	case strings.HasPrefix(a.Profile, "4"), a.Profile == "ua2":
		return "2.0"
	case strings.HasPrefix(a.Profile, "1"):
		return "1.4"
	}
	return "1.7"
}

func (a Archive) catalog() string {
	entries := "/OutputIntents [<< /Type /OutputIntent /S /GTS_PDFA1 /OutputConditionIdentifier (Gray) /Info (Gray) /DestOutputProfile 5 0 R >>]"
	if a.tagged() {
		entries += " /StructTreeRoot 20 0 R /MarkInfo << /Marked true >> /Lang (is-IS) /ViewerPreferences << /DisplayDocTitle true >>"
	}
	return entries
}

// metadata returns an XMP packet that claims the profile.
func (a Archive) metadata() string {
	claim := fmt.Sprintf("<pdfaid:part>%.1s</pdfaid:part>", a.Profile)
	switch level := a.Profile[1:]; {
	case strings.HasPrefix(a.Profile, "ua"):
		claim = fmt.Sprintf("<pdfuaid:part>%s</pdfuaid:part>", a.Profile[2:])
		if a.Profile == "ua2" {
			claim += "<pdfuaid:rev>2024</pdfuaid:rev>"
		}
	case level == "":
		claim += "<pdfaid:rev>2020</pdfaid:rev>"
	default:
		claim += fmt.Sprintf("<pdfaid:conformance>%s</pdfaid:conformance>", strings.ToUpper(level))
	}
	return `<?xpacket begin="` + "\ufeff" + `" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:pdfaid="http://www.aiim.org/pdfa/ns/id/" xmlns:pdfuaid="http://www.aiim.org/pdfua/ns/id/">
<dc:title><rdf:Alt><rdf:li xml:lang="x-default">A page</rdf:li></rdf:Alt></dc:title>` + claim + `
</rdf:Description></rdf:RDF></x:xmpmeta>
<?xpacket end="w"?>`
}

// grayProfile returns an ICC profile of version 2 for a gray display: a white point, a curve of gamma 2.2, a
// description and a copyright.
func grayProfile() []byte {
	text := func(kind, s string) []byte { return append([]byte(kind+"\x00\x00\x00\x00"), s...) }
	d50 := []byte{0, 0, 0xf6, 0xd6, 0, 1, 0, 0, 0, 0, 0xd3, 0x2d}
	tags := []struct {
		name    string
		content []byte
	}{
		{"wtpt", text("XYZ ", string(d50))},
		{"kTRC", text("curv", "\x00\x00\x00\x01\x02\x33\x00\x00")},
		{"desc", text("desc", "\x00\x00\x00\x05Gray\x00"+strings.Repeat("\x00", 79))},
		{"cprt", text("text", "None\x00\x00\x00\x00")},
	}
	head := make([]byte, 128)
	copy(head[8:], "\x02\x10\x00\x00mntrGRAYXYZ \x07\xea\x00\x01\x00\x01\x00\x00\x00\x00\x00\x00acsp")
	copy(head[68:], d50)
	out := bytes.NewBuffer(head)
	out.Write(binary.BigEndian.AppendUint32(nil, uint32(len(tags))))
	var contents bytes.Buffer
	first := len(head) + 4 + 12*len(tags)
	for _, tag := range tags {
		out.WriteString(tag.name)
		out.Write(binary.BigEndian.AppendUint32(nil, uint32(first+contents.Len())))
		out.Write(binary.BigEndian.AppendUint32(nil, uint32(len(tag.content))))
		contents.Write(tag.content)
		contents.Write(make([]byte, -contents.Len()&3))
	}
	out.Write(contents.Bytes())
	binary.BigEndian.PutUint32(out.Bytes(), uint32(out.Len()))
	return out.Bytes()
}
