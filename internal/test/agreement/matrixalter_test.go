package agreement_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// alteration changes one thing in a signed document; nil where the document has no such thing.
type alteration struct {
	name  string
	alter func(document []byte) []byte
}

// tlv is an ASN.1 value in DER, with its parts where it is constructed.
type tlv struct {
	tag     byte
	content []byte // of a primitive value
	parts   []*tlv
}

// readTLVs reads the values that DER consists of, up to zeros that pad it; nil where it is none.
func readTLVs(der []byte) (all []*tlv) {
	for len(der) > 1 && (der[0] != 0 || der[1] != 0) {
		head, size := 2, int(der[1])
		if size > 0x80 {
			n := size - 0x80
			if n > 3 || len(der) < 2+n {
				return nil
			}
			head, size = 2+n, 0
			for _, b := range der[2 : 2+n] {
				size = size<<8 | int(b)
			}
		}
		if len(der)-head < size {
			return nil
		}
		one := &tlv{tag: der[0], content: der[head : head+size]}
		if der[0]&0x20 != 0 {
			if one.parts = readTLVs(one.content); one.parts == nil && size > 0 {
				return nil
			}
		}
		all, der = append(all, one), der[head+size:]
	}
	return all
}

// der encodes a value; its parts count where it has some.
func (v *tlv) der() []byte {
	content := v.content
	if v.tag&0x20 != 0 {
		content = nil
		for _, p := range v.parts {
			content = append(content, p.der()...)
		}
	}
	switch n := len(content); {
	case n < 0x80:
		return append([]byte{v.tag, byte(n)}, content...)
	case n < 0x100:
		return append([]byte{v.tag, 0x81, byte(n)}, content...)
	default:
		return append([]byte{v.tag, 0x82, byte(n >> 8), byte(n)}, content...)
	}
}

// at goes down by the numbers of parts; nil where there is none.
func (v *tlv) at(numbers ...int) *tlv {
	for _, n := range numbers {
		if v == nil || n >= len(v.parts) {
			return nil
		}
		v = v.parts[n]
	}
	return v
}

// find returns the first value beneath that such a function accepts.
func (v *tlv) find(such func(*tlv) bool) *tlv {
	if v == nil || such(v) {
		return v
	}
	for _, p := range v.parts {
		if found := p.find(such); found != nil {
			return found
		}
	}
	return nil
}

// flip changes the bit of value 1 in a byte; counted from the end where it is negative.
func (v *tlv) flip(i int) bool {
	if v == nil || len(v.content) < 2 || v.parts != nil {
		return false
	}
	if i < 0 {
		i += len(v.content)
	}
	v.content = bytes.Clone(v.content)
	v.content[i] ^= 1
	return true
}

// editing is a change of a structure in DER, which says whether there was something to change.
type editing func(*tlv) bool

// edited is DER after a change; nil where there was nothing to change.
func edited(der []byte, change editing) []byte {
	all := readTLVs(der)
	if len(all) == 0 || !change(all[0]) {
		return nil
	}
	return all[0].der()
}

// What may be changed in a certificate, an OCSPResponse and a CMS (RFC 5280 4.1, RFC 6960 4.2.1, RFC 5652 5).
func certificateSerial(c *tlv) bool { return c.at(0, 1).flip(-1) }
func certificateKey(c *tlv) bool    { return c.at(0, 6, 1).flip(-1) }
func certificateValue(c *tlv) bool  { return c.at(2).flip(-1) }

func signedDataOf(c *tlv) *tlv { return c.at(1, 0) }

// signerInfo is the last part of a SignedData.
func signerInfo(c *tlv) *tlv {
	d := signedDataOf(c)
	if d == nil || len(d.parts) == 0 {
		return nil
	}
	return d.at(len(d.parts)-1, 0)
}

func cmsValue(c *tlv) bool {
	info := signerInfo(c)
	return info.find(func(v *tlv) bool { return v != nil && v.tag == 4 && slices.Contains(info.parts, v) }).flip(-1)
}

// cmsAttribute finds an attribute, signed (0xa0) or not (0xa1), by its type.
func cmsAttribute(c *tlv, set byte, oid string) (attributes, attribute *tlv) {
	want, _ := hex.DecodeString(oid)
	for _, p := range signerInfo(c).parts {
		if p.tag != set {
			continue
		}
		for _, a := range p.parts {
			if bytes.Equal(a.at(0).content, want) {
				return p, a
			}
		}
	}
	return nil, nil
}

const (
	oidMessageDigest = "2a864886f70d010904"
	oidCertificateV2 = "2a864886f70d010910022f"
	oidTimestamp     = "2a864886f70d010910020e"
)

func removed(set byte, oid string) editing {
	return func(c *tlv) bool {
		in, a := cmsAttribute(c, set, oid)
		if a == nil {
			return false
		}
		if in.parts = slices.DeleteFunc(in.parts, func(p *tlv) bool { return p == a }); len(in.parts) == 0 {
			info := signerInfo(c)
			info.parts = slices.DeleteFunc(info.parts, func(p *tlv) bool { return p == in })
		}
		return true
	}
}

func doubled(set byte, oid string) editing {
	return func(c *tlv) bool {
		in, a := cmsAttribute(c, set, oid)
		if a == nil {
			return false
		}
		in.parts = append(in.parts, a)
		return true
	}
}

func messageDigest(c *tlv) bool {
	_, a := cmsAttribute(c, 0xa0, oidMessageDigest)
	return a != nil && a.at(1, 0).flip(-1)
}

// isCertificates tells the certificates that a SignedData carries from its other parts.
func isCertificates(v *tlv) bool { return v.tag == 0xa0 && v.at(0, 0, 6) != nil }

// certificateOf changes the first certificate of a CMS that a function, given the SignerInfo's issuer and serial number,
// accepts.
func certificateOf(accepts func(cert, named *tlv) bool, change editing) editing {
	return func(c *tlv) bool {
		named, set := signerInfo(c).at(1), signedDataOf(c).find(isCertificates)
		if set == nil || named.at(1) == nil {
			return false
		}
		for _, cert := range set.parts {
			if accepts(cert, named) {
				return change(cert)
			}
		}
		return false
	}
}

func signerCertificate(change editing) editing {
	return certificateOf(func(cert, named *tlv) bool { return bytes.Equal(cert.at(0, 1).content, named.at(1).content) }, change)
}

func issuerCertificate(change editing) editing {
	return certificateOf(func(cert, named *tlv) bool { return bytes.Equal(cert.at(0, 5).der(), named.at(0).der()) }, change)
}

func noCertificates(c *tlv) bool {
	d := signedDataOf(c)
	n := len(d.parts)
	d.parts = slices.DeleteFunc(d.parts, isCertificates)
	return len(d.parts) < n
}

// tokenTime changes the time that a timestamp token says, in its last digit.
func tokenTime(c *tlv) bool {
	content := signedDataOf(c).at(2, 1, 0)
	if content == nil {
		return false
	}
	changed := edited(content.content, func(info *tlv) bool {
		return info.find(func(v *tlv) bool { return v.tag == 0x18 }).flip(-2)
	})
	if changed == nil {
		return false
	}
	content.content = changed
	return true
}

func attributeToken(change editing) editing {
	return func(c *tlv) bool {
		_, a := cmsAttribute(c, 0xa1, oidTimestamp)
		return a != nil && change(a.at(1, 0))
	}
}

// ocspValue changes the value by which a response is signed.
func ocspValue(r *tlv) bool { return ocspBasic(r, func(b *tlv) bool { return b.at(2).flip(-1) }) }

// ocspSerial changes which certificate a response is about.
func ocspSerial(r *tlv) bool {
	return ocspBasic(r, func(b *tlv) bool {
		return b.at(0).find(func(v *tlv) bool { return v.at(0, 3) != nil && v.at(0, 3).tag == 2 }).at(0, 3).flip(-1)
	})
}

func ocspBasic(r *tlv, change editing) bool {
	basic := r.at(1, 0, 1)
	if basic == nil {
		return false
	}
	changed := edited(basic.content, change)
	if changed == nil {
		return false
	}
	basic.content = changed
	return true
}

// listValue changes the value by which a revocation list is signed.
func listValue(l *tlv) bool { return l.at(2).flip(-1) }

// base64In changes what is in Base64 in the n-th element of a name after a place; DER.
func base64In(after, element string, n int, change editing) func([]byte) []byte {
	pattern := regexp.MustCompile(`<(?:\w+:)?` + element + `\b[^>]*>([A-Za-z0-9+/=\s]+)</`)
	return func(b []byte) []byte {
		from := bytes.Index(b, []byte(after))
		if from < 0 {
			return nil
		}
		all := pattern.FindAllSubmatchIndex(b[from:], n+1)
		if len(all) <= n {
			return nil
		}
		first, end := from+all[n][2], from+all[n][3]
		der, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(string(b[first:end])), ""))
		if err != nil {
			return nil
		}
		changed := edited(der, change)
		if changed == nil {
			return nil
		}
		return slices.Concat(b[:first], []byte(base64.StdEncoding.EncodeToString(changed)), b[end:])
	}
}

// replaced puts something in the place of the first match, or of the last.
func replaced(pattern, by string, last bool) func([]byte) []byte {
	p := regexp.MustCompile(pattern)
	return func(b []byte) []byte {
		all := p.FindAllIndex(b, -1)
		if all == nil {
			return nil
		}
		at := all[0]
		if last {
			at = all[len(all)-1]
		}
		return slices.Concat(b[:at[0]], p.ReplaceAll(b[at[0]:at[1]], []byte(by)), b[at[1]:])
	}
}

// element is the pattern of an element with its content.
func element(name string) string { return `(?s)<(?:\w+:)?` + name + `\b.*?</(?:\w+:)?` + name + `>` }

// base64Digit changes a digit of the n-th element's content.
func base64Digit(name string, n int) func([]byte) []byte {
	pattern := regexp.MustCompile(`<(?:\w+:)?` + name + `\b[^>]*>([A-Za-z0-9+/=\s]+)</`)
	return func(b []byte) []byte {
		all := pattern.FindAllSubmatchIndex(b, n+1)
		if len(all) <= n {
			return nil
		}
		changed := bytes.Clone(b)
		at := all[n][2] + 5
		if changed[at] == 'A' {
			changed[at] = 'B'
		} else {
			changed[at] = 'A'
		}
		return changed
	}
}

// otherContent changes 1000 to 1001 in the content, which may be in Base64 at any alignment.
func otherContent(b []byte) []byte {
	for was, is := range map[string]string{">1000<": ">1001<", "MTAwMDwv": "MTAwMTwv", "PjEwMDA8": "PjEwMDE8", "xMDAwPC": "xMDAxPC"} {
		if bytes.Contains(b, []byte(was)) {
			return bytes.Replace(b, []byte(was), []byte(is), 1)
		}
	}
	panic("the content is not found")
}

// xmlAlterations are those of XML.
func xmlAlterations() []alteration {
	const values, archive = "<xades:RevocationValues", "ArchiveTimeStamp"
	return []alteration{
		{"content", otherContent},
		{"content added", replaced(`</contract>`, `<!-- and more --><sum>1</sum></contract>`, false)},
		{"comment after the root", func(b []byte) []byte { return append(bytes.Clone(b), "<!-- -->"...) }},
		{"value", base64Digit("SignatureValue", 0)},
		{"last value", func(b []byte) []byte {
			if bytes.Count(b, []byte("</ds:SignatureValue>")) < 2 {
				return nil
			}
			return base64Digit("SignatureValue", bytes.Count(b, []byte("</ds:SignatureValue>"))-1)(b)
		}},
		{"digest of the content", base64Digit("DigestValue", 0)},
		{"digest of the properties", base64Digit("DigestValue", 1)},
		{"signature method", replaced(`(SignatureMethod Algorithm="[^"]*sha)(256|384)`, `${1}512`, false)},
		{"canonicalization method", replaced(`(CanonicalizationMethod Algorithm=")[^"]*`, `${1}http://www.w3.org/2001/10/xml-exc-c14n#WithComments`, false)},
		{"space in SignedInfo", replaced(`</ds:SignedInfo>`, ` </ds:SignedInfo>`, false)},
		{"signing time", replaced(`(<xades:SigningTime>)\d`, `${1}1`, false)},
		{"signing certificate removed", replaced(element("SigningCertificateV2"), ``, false)},
		{"reference to the properties removed", replaced(`(?s)<ds:Reference [^>]*Type="http://uri.etsi.org/01903#SignedProperties".*?</ds:Reference>`, ``, false)},
		{"certificate, serial number", base64In("<ds:KeyInfo", "X509Certificate", 0, certificateSerial)},
		{"certificate, key", base64In("<ds:KeyInfo", "X509Certificate", 0, certificateKey)},
		{"certificate, value", base64In("<ds:KeyInfo", "X509Certificate", 0, certificateValue)},
		{"issuer, value", base64In("<ds:KeyInfo", "X509Certificate", 1, certificateValue)},
		{"KeyInfo removed", replaced(element("KeyInfo"), ``, false)},
		{"KeyInfo without the signer", replaced(element("X509Certificate"), ``, false)},
		{"certificates moved to CertificateValues", certificatesMoved},
		{"signature timestamp, value", base64In("<xades:SignatureTimeStamp", "EncapsulatedTimeStamp", 0, cmsValue)},
		{"signature timestamp, time", base64In("<xades:SignatureTimeStamp", "EncapsulatedTimeStamp", 0, tokenTime)},
		{"signature timestamp, certificate", base64In("<xades:SignatureTimeStamp", "EncapsulatedTimeStamp", 0, signerCertificate(certificateSerial))},
		{"signature timestamp removed", replaced(element("SignatureTimeStamp"), ``, false)},
		{"signature timestamp doubled", replaced(`(`+element("SignatureTimeStamp")+`)`, `$1$1`, false)},
		{"content timestamp, value", base64In("AllDataObjectsTimeStamp", "EncapsulatedTimeStamp", 0, cmsValue)},
		{"archive timestamp, value", base64In(archive, "EncapsulatedTimeStamp", 0, cmsValue)},
		{"archive timestamp removed", replaced(element(archive), ``, true)},
		{"archive timestamp doubled", replaced(`(`+element(archive)+`)`, `$1$1`, true)},
		{"OCSP response, value", base64In("<xades:SignatureTimeStamp", "EncapsulatedOCSPValue", 0, ocspValue)},
		{"OCSP response, serial number", base64In("<xades:SignatureTimeStamp", "EncapsulatedOCSPValue", 0, ocspSerial)},
		{"CRL, value", base64In("<xades:SignatureTimeStamp", "EncapsulatedCRLValue", 0, listValue)},
		{"RevocationValues removed", replaced(element("RevocationValues"), ``, false)},
		{"CertificateValues removed", replaced(element("CertificateValues"), ``, false)},
		{"TimeStampValidationData removed", replaced(element("TimeStampValidationData"), ``, false)},
		{"AnyValidationData removed", replaced(element("AnyValidationData"), ``, false)},
		{"unsigned properties removed", replaced(element("UnsignedProperties"), ``, false)},
		{"counter-signature removed", replaced(element("CounterSignature"), ``, false)},
		{"signature doubled", signatureDoubled},
	}
}

// certificatesMoved puts the certificates of KeyInfo into CertificateValues, which are there.
func certificatesMoved(b []byte) []byte {
	info := regexp.MustCompile(element("KeyInfo")).FindIndex(b)
	end := bytes.Index(b, []byte("</xades:CertificateValues>"))
	if info == nil || end < info[1] {
		return nil
	}
	var moved []byte
	for _, c := range regexp.MustCompile(`<ds:X509Certificate>([^<]*)<`).FindAllSubmatch(b[info[0]:info[1]], -1) {
		moved = fmt.Appendf(moved, "<xades:EncapsulatedX509Certificate>%s</xades:EncapsulatedX509Certificate>", c[1])
	}
	return slices.Concat(b[:info[0]], b[info[1]:end], moved, b[end:])
}

// signatureDoubled puts a signature in the document once more.
func signatureDoubled(b []byte) []byte {
	first, end := bytes.Index(b, []byte("<ds:Signature ")), bytes.LastIndex(b, []byte("</ds:Signature>"))
	root := bytes.LastIndex(b, []byte("</contract>"))
	if root < end {
		return nil
	}
	end += len("</ds:Signature>")
	return slices.Concat(b[:end], b[first:end], b[end:])
}

var contentsString = regexp.MustCompile(`/Contents\s*<([0-9A-Fa-f\s]{1000,})>`)

// inContents changes the CMS of the n-th signature or document timestamp, from the last where n is negative.
func inContents(kind string, n int, change editing) func([]byte) []byte {
	return func(b []byte) []byte {
		var of [][]int
		for _, at := range contentsString.FindAllSubmatchIndex(b, -1) {
			// The dictionary, which has its type, goes on around Contents.
			dictionary := b[bytes.LastIndex(b[:at[0]], []byte(" obj")):]
			end := bytes.Index(dictionary, []byte("endobj"))
			if bytes.Contains(dictionary[:end], []byte(kind)) {
				of = append(of, at[2:])
			}
		}
		if n < 0 {
			n += len(of)
		}
		if n < 0 || n >= len(of) {
			return nil
		}
		first, end := of[n][0], of[n][1]
		padded := make([]byte, (end-first)/2)
		if _, err := hex.Decode(padded, b[first:end]); err != nil {
			return nil
		}
		changed := edited(padded, change)
		if changed == nil || len(changed) > len(padded) {
			return nil
		}
		changed = append(changed, make([]byte, len(padded)-len(changed))...)
		return slices.Concat(b[:first], []byte(hex.EncodeToString(changed)), b[end:])
	}
}

// rawStream changes DER in the first stream that is not compressed and in which there is something to change.
func rawStream(change editing) func([]byte) []byte {
	return func(b []byte) []byte {
		for _, at := range streamHead.FindAllIndex(b, -1) {
			end := bytes.Index(b[at[1]:], []byte("endstream"))
			if end < 0 {
				continue
			}
			der := bytes.TrimRight(b[at[1]:at[1]+end], "\r\n")
			if len(der) == 0 || der[0] != 0x30 {
				continue
			}
			if changed := edited(der, change); len(changed) == len(der) {
				return slices.Concat(b[:at[1]], changed, b[at[1]+len(der):])
			}
		}
		return nil
	}
}

// pdfAlterations are those of PDF.
func pdfAlterations() []alteration {
	const signature, timestamp = "/Sig", "/DocTimeStamp"
	first := func(change editing) func([]byte) []byte { return inContents(signature, 0, change) }
	return []alteration{
		{"content", func(b []byte) []byte { // in the comment of the second line
			changed := bytes.Clone(b)
			changed[10] ^= 1
			return changed
		}},
		{"byte range", func(b []byte) []byte {
			changed, at := bytes.Clone(b), regexp.MustCompile(`/ByteRange\s*\[\s*0\s+\d+\s+\d+\s+\d+`).FindIndex(b)
			changed[at[1]-1] ^= 1
			return changed
		}},
		{"value", first(cmsValue)},
		{"message digest", first(messageDigest)},
		{"signing certificate removed", first(removed(0xa0, oidCertificateV2))},
		{"certificate, serial number", first(signerCertificate(certificateSerial))},
		{"certificate, key", first(signerCertificate(certificateKey))},
		{"certificate, value", first(signerCertificate(certificateValue))},
		{"certificates removed", first(noCertificates)},
		{"issuer, value", first(issuerCertificate(certificateValue))},
		{"signature timestamp, value", first(attributeToken(cmsValue))},
		{"signature timestamp, time", first(attributeToken(tokenTime))},
		{"signature timestamp, certificate", first(attributeToken(signerCertificate(certificateSerial)))},
		{"signature timestamp removed", first(removed(0xa1, oidTimestamp))},
		{"signature timestamp doubled", first(doubled(0xa1, oidTimestamp))},
		{"document timestamp, value", inContents(timestamp, -1, cmsValue)},
		{"document timestamp, time", inContents(timestamp, -1, tokenTime)},
		{"document timestamp, certificate", inContents(timestamp, -1, signerCertificate(certificateSerial))},
		{"OCSP response, value", rawStream(ocspValue)},
		{"OCSP response, serial number", rawStream(ocspSerial)},
		{"DSS removed", replaced(`/DSS\b`, `/DSX`, true)},
		{"OCSPs removed", replaced(`/OCSPs\b`, `/OCSPx`, true)},
		{"CRLs removed", replaced(`/CRLs\b`, `/CRLx`, true)},
		{"Certs removed", replaced(`/Certs\b`, `/Certx`, true)},
		{"bytes after the end", func(b []byte) []byte { return append(bytes.Clone(b), "% and more\n"...) }},
		{"last byte missing", func(b []byte) []byte { return bytes.TrimRight(b, "\r\n")[:len(bytes.TrimRight(b, "\r\n"))-1] }},
		{"revision without a change", func(b []byte) []byte { return appended(b, 900, "<< /Nothing true >>") }},
		{"revision with another page", func(b []byte) []byte { return appended(b, 10, "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 10 10] >>") }},
	}
}

var startOfXref = regexp.MustCompile(`startxref\s+(\d+)`)

// appended is a document with another revision, which has one object.
func appended(b []byte, number int, source string) []byte {
	all := startOfXref.FindAllSubmatch(b, -1)
	trailers := regexp.MustCompile(`(?s)trailer\s*<<.*?/Root \d+ \d+ R`).FindAll(b, -1)
	if all == nil || trailers == nil {
		return nil
	}
	root := regexp.MustCompile(`/Root \d+ \d+ R`).Find(trailers[len(trailers)-1])
	b = append(bytes.Clone(b), '\n')
	object := len(b)
	b = fmt.Appendf(b, "%d 0 obj\n%s\nendobj\n", number, source)
	xref := len(b)
	return fmt.Appendf(b, "xref\n%d 1\n%010d 00000 n \ntrailer\n<< /Size 1000 %s /Prev %s >>\nstartxref\n%d\n%%%%EOF\n",
		number, object, root, all[len(all)-1][1], xref)
}
