package pades_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/internal/pki/cms"
	"github.com/innsigli/innsigli/internal/test/validators"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

const formatFailure = "TOTAL_FAILED FORMAT_FAILURE"

// forgeries take the ByteRange or Contents from a signature, or are documents of a dishonest signer whose digest is right.
var forgeries = []attack{
	{universalForgery, "no ByteRange", signedContract, replaceText("/ByteRange [", "/ByteRangf ["), formatFailure},
	{universalForgery, "ByteRange with a negative number", signedContract, replaceByteRange("[0 -GAP END REST]"), formatFailure},
	{universalForgery, "ByteRange with a negative length", signedContract, replaceByteRange("[0 GAP END -REST]"), formatFailure},
	{universalForgery, "ByteRange beyond the end", signedContract, replaceByteRange("[0 GAP END 1REST]"), formatFailure},
	{universalForgery, "ByteRange that overflows", signedContract, replaceByteRange("[0 GAP 9223372036854775807 REST]"), formatFailure},
	{universalForgery, "no Contents", signedContract, replaceText("/Contents <3", "/Contentt <3"), formatFailure},
	{universalForgery, "Contents empty", signedContract, replaceContents("<>"), formatFailure},
	{universalForgery, "Contents of zeros", signedContract, replaceContents("<00000000>"), formatFailure},
	{universalForgery, "field without a value", signedContract, asBytes(func(b []byte) []byte {
		return regexp.MustCompile(`/V (\d+ 0 R) /P`).ReplaceAll(b, []byte("/v $1 /P"))
	}), "no signature"},
	{universalForgery, "ByteRange of five numbers", forgery{ranges: "/ByteRange [0 %d %d %d 0]"}.victim(), nil, formatFailure},
	{universalForgery, "ByteRange of real numbers", forgery{ranges: "/ByteRange [0.0 %d.0 %d.0 %d.0]"}.victim(), nil, formatFailure},
	{universalForgery, "ByteRange twice, the second right", forgery{ranges: "/ByteRange [0 1 2 3] /ByteRange [0 %d %d %d]"}.victim(), nil, formatFailure},
	{universalForgery, "ByteRange twice, the first right", forgery{ranges: "/ByteRange [0 %d %d %d] /ByteRange [0 1 2 3]"}.victim(), nil, formatFailure},
	{universalForgery, "Contents twice", forgery{entries: "/Contents <00>"}.victim(), nil, formatFailure},
	{universalForgery, "ByteRange in an object of a later revision", forgery{ranges: "/ByteRange 500 0 R %% %d %d %d\n"}.victim().changed(func(r *revision) {
		gap := regexp.MustCompile(`<[0-9a-f]{1000,}>`).FindIndex(r.base)
		r.replace(500, fmt.Sprintf("[0 %d %d %d]", gap[0], gap[1], len(r.base)-gap[1]))
	}), nil, "reports FORM_FIELDS"},
	{universalForgery, "Contents as a literal string", forgery{contents: literalString}.victim(), nil, formatFailure},
	{signatureWrapping, "gap wider than Contents", forgery{entries: " /Reason (unsigned)", gap: func(start, end int) (int, int) { return start - 40, end }}.victim(), nil, formatFailure},
	{signatureWrapping, "gap that ends after Contents", forgery{gap: func(start, end int) (int, int) { return start, end + 11 }}.victim(), nil, formatFailure},
	{signatureWrapping, "Contents in another object", forgery{
		entries: " /Contents 102 0 R", objects: []string{"<" + strings.Repeat("00", 100) + ">"},
		built: func(b []byte) []byte { return bytes.Replace(b, []byte("/Contents <ff"), []byte("/Nothing  <ff"), 1) },
	}.victim(), nil, formatFailure},
	{fileStructure, "start of the file not covered", forgery{ranges: "/ByteRange [9 %d %d %d]"}.victim(), nil, formatFailure},
	{fileStructure, "end of the file not covered", forgery{}.victim(), appendBytes("\n% unsigned\n%%EOF\n"), "unsigned bytes follow"},
}

// wrappings move the signed bytes, or let two fields or two ranges have one signature.
var wrappings = []attack{
	{signatureWrapping, "second range moved, with a second ByteRange in the gap", signedContract, moveSecondRange, formatFailure},
	{signatureWrapping, "signature dictionary replaced, with another reason", signedContract, rewriteDictionary(true), formatFailure},
	{signatureWrapping, "signature dictionary copied to another object", signedContract, rewriteDictionary(false), formatFailure},
	{signatureWrapping, "one signature in two fields", signedContract, func(r *revision) {
		addField(fmt.Sprintf("<< /FT /Sig /T (Another) /V %v >>", r.fieldValue()))(r)
	}, "TOTAL_FAILED FORMAT_FAILURE; reports FORM_FIELDS"},
	{signatureWrapping, "field whose kids have a value each", signedContract, func(r *revision) {
		kid := "<< /Parent %d 0 R /V %v /Subtype /Widget /Rect [0 0 0 0] >>"
		field := r.number(lastField)
		setKey(lastField, "Kids", "[%v %v]",
			fmt.Sprintf(kid, field, "<< /Type /Sig /Contents <00> /ByteRange [0 1 2 3] >>"), fmt.Sprintf(kid, field, r.fieldValue()))(r)
	}, "TOTAL_FAILED FORMAT_FAILURE; TOTAL_FAILED FORMAT_FAILURE; reports FORM_FIELDS"},
	{fileStructure, "two signatures with one gap", signedTwice, asBytes(func(b []byte) []byte {
		all := rangeArrays.FindAllIndex(b, -1)
		array := bytes.TrimSpace(b[all[0][0]:all[0][1]])
		copy(b[all[1][0]:all[1][1]], fmt.Appendf(nil, "%-*s", all[1][1]-all[1][0], array))
		return b
	}), "TOTAL_FAILED FORMAT_FAILURE; lists SIGNATURE"},
	{fileStructure, "overlapping ranges of two signatures", signedTwice, asBytes(func(b []byte) []byte {
		all := rangeArrays.FindAllSubmatchIndex(b, -1)
		number := func(m []int, i int) int { n, _ := strconv.Atoi(string(b[m[2*i]:m[2*i+1]])); return n }
		start, end := number(all[1], 2), number(all[1], 2)+number(all[1], 3)
		overlapping := fmt.Sprintf("/ByteRange [0 %d %d %d]", number(all[0], 1), start, end-start)
		copy(b[all[1][0]:], fmt.Sprintf("%-*s", all[1][1]-all[1][0], overlapping))
		return b
	}), "lists SIGNATURE; TOTAL_FAILED FORMAT_FAILURE"},
}

var rangeArrays = regexp.MustCompile(`/ByteRange \[0 (\d+) (\d+) (\d+)\] *`)

// messageForgeries have a CMS with a fault, or a certificate that was not issued for the signature.
var messageForgeries = []attack{
	{cmsMessage, "two SignerInfos", reencoded(func(m *signedData) { m.signers = slices.Concat(m.signers, m.signers) }), nil, formatFailure},
	{cmsMessage, "no SignerInfo", reencoded(func(m *signedData) { m.signers = nil }), nil, formatFailure},
	{cmsMessage, "encapsulated content", reencoded(func(m *signedData) { m.content = encapsulated("signed text") }), nil, formatFailure},
	{cmsMessage, "encapsulated empty content", reencoded(func(m *signedData) { m.content = encapsulated("") }), nil, formatFailure},
	{cmsMessage, "bytes after the CMS in Contents", forgery{seal: func(f *fixture, covered []byte) []byte {
		return append(honestCMS(f, covered), "unsigned"...)
	}}.victim(), nil, formatFailure},
	{cmsMessage, "signed attributes removed", reencoded((*signedData).removeAttributes), nil, formatFailure},
	{cmsMessage, "value of other signed attributes", sealedWith(func(f *fixture, p *cms.Parts) {
		p.Value = f.parts([]byte("other")).Value
	}), nil, "TOTAL_FAILED SIG_CRYPTO_FAILURE"},
	{cmsMessage, "signature of another document", forgery{seal: func(f *fixture, _ []byte) []byte {
		return honestCMS(f, []byte("another document"))
	}}.victim(), nil, "TOTAL_FAILED HASH_FAILURE"},
	{cmsMessage, "SHA-1", forgery{seal: func(f *fixture, covered []byte) []byte {
		o := validators.SignOptions{Key: f.signer.key, Certificate: f.signer.signer.Certificate, Chain: f.signer.signer.Chain}
		return validators.OpenSSLSign(f, o, "sha1", covered)
	}}.victim(), nil, "INDETERMINATE CRYPTO_CONSTRAINTS_FAILURE_NO_POE"},
	{cmsMessage, "certificate of the same key and another name", sealedWith(func(f *fixture, p *cms.Parts) {
		c, err := f.ca.Issue("Another", "0101302989", f.signer.key.Public(), time.Now())
		if err != nil {
			f.Fatal(err)
		}
		p.Certificate = c
	}), nil, "INDETERMINATE NO_SIGNING_CERTIFICATE_FOUND"},
	{cmsMessage, "certificate of an authority that is not trusted", byAttacker, nil, "INDETERMINATE NO_CERTIFICATE_CHAIN_FOUND"},
	{certificatePurpose, "TLS server", withCertificateFor(func(c *x509.Certificate) {
		c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	}), nil, "INDETERMINATE CHAIN_CONSTRAINTS_FAILURE"},
	{certificatePurpose, "certification authority", withCertificateFor(func(c *x509.Certificate) {
		c.IsCA, c.KeyUsage = true, x509.KeyUsageCertSign|x509.KeyUsageCRLSign|x509.KeyUsageContentCommitment
	}), nil, "INDETERMINATE CHAIN_CONSTRAINTS_FAILURE"},
}

// falseProofs are timestamps and revocation data that prove nothing. The signature is as good as without them.
var falseProofs = []attack{
	{falseProof, "timestamp of another signature", sealedWith(func(f *fixture, p *cms.Parts) {
		p.SignatureTimestamp = f.timestamp(f.ca, []byte("another value"))
	}), nil, "passes: T, a timestamp refused"},
	{falseProof, "timestamp of an authority that is not trusted", sealedWith(func(f *fixture, p *cms.Parts) {
		p.SignatureTimestamp = f.timestamp(f.attacker.ca, p.Value)
	}), nil, "passes: T, a timestamp refused"},
	{falseProof, "OCSP response for the signer", contractT, addStore(func(f *fixture) []byte {
		return f.ocspResponse(f.ca, f.signer.signer.Certificate)
	}), "passes: LT TOTAL_PASSED, lists VALIDATION_DATA"},
	{falseProof, "OCSP response of an authority that is not trusted", contractT, addStore(func(f *fixture) []byte {
		return f.ocspResponse(f.attacker.ca, f.attacker.signer.Certificate)
	}), "passes: T, lists VALIDATION_DATA"},
	{falseProof, "OCSP response for another certificate", contractT, addStore(func(f *fixture) []byte {
		return f.ocspResponse(f.ca, newPerson(f, f.ca, p256(f)).signer.Certificate)
	}), "passes: T, lists VALIDATION_DATA"},
	{falseProof, "OCSP response with a bit changed", contractT, addStore(func(f *fixture) []byte {
		b := f.ocspResponse(f.ca, f.signer.signer.Certificate)
		b[len(b)/2] ^= 1
		return b
	}), "passes: LT, lists VALIDATION_DATA"},
	{falseProof, "document timestamp over another range", contractLTA, asBytes(func(b []byte) []byte {
		all := regexp.MustCompile(`/ByteRange \[0 `).FindAllIndex(b, -1)
		b[all[len(all)-1][1]-2] = '1'
		return b
	}), "passes: LT TOTAL_PASSED, lists VALIDATION_DATA, a timestamp refused"},
	{falseProof, "document timestamp over other content", contractLTA, asBytes(func(b []byte) []byte {
		b[bytes.LastIndex(b, []byte("/TU ("))+len("/TU (")] ^= 1 // the alternate name of its field
		return b
	}), "passes: LTA TOTAL_PASSED, lists VALIDATION_DATA, a timestamp refused"},
}

func replaceText(old, replacement string) edit {
	return func(r *revision) {
		if len(old) != len(replacement) || bytes.Count(r.base, []byte(old)) != 1 {
			r.Fatalf("%q cannot be replaced by %q", old, replacement)
		}
		r.result = bytes.Replace(r.base, []byte(old), []byte(replacement), 1)
	}
}

// replaceByteRange writes another value of ByteRange, where GAP, END and REST stand for its last three numbers.
func replaceByteRange(value string) edit {
	return func(r *revision) {
		gap, gapEnd, end := gapOf(r.T, r.base)
		array := string(rangeArrays.Find(r.base))
		numbers := strings.NewReplacer("GAP", strconv.Itoa(gap), "END", strconv.Itoa(gapEnd), "REST", strconv.Itoa(end-gapEnd))
		replaceText(array, fmt.Sprintf("%-*s", len(array), "/ByteRange "+numbers.Replace(value)))(r)
	}
}

func replaceContents(value string) edit {
	return func(r *revision) {
		r.result = bytes.Clone(r.base)
		gap, gapEnd, _ := gapOf(r.T, r.base)
		copy(r.result[gap:gapEnd], fmt.Sprintf("%-*s", gapEnd-gap, value))
	}
}

// moveSecondRange keeps both ranges and inserts other objects between them, with a cross-reference where startxref in
// the second range refers to (Mladenov et al. 4.3).
func moveSecondRange(r *revision) {
	b := r.base
	gap, gapEnd, end := gapOf(r.T, b)
	table, err := strconv.Atoi(string(lastSection.FindSubmatch(b)[1]))
	r.check(err)
	newGapEnd := table + 4000
	between := bytes.Clone(bytes.TrimRight(b[gap:gapEnd-1], "0"))
	if len(between)%2 == 0 {
		between = append(between, '0')
	}
	between = fmt.Appendf(between, "> /ByteRange [0 %d %d %d] >>\nendobj\n", gap, newGapEnd, end-gapEnd)
	forged := int64(gap + len(between))
	between = fmt.Appendf(between, "%d 0 obj\n%s\nendobj\n", content, otherContent)
	between = r.pad(between, table-gap)
	size, _ := r.file.Trailer()["Size"].(pdf.Integer)
	between = fmt.Appendf(between, "xref\n0 %d\n", size)
	for number := range uint32(size) {
		at, _, ok, err := r.file.Span(r.file.Reference(number))
		switch {
		case err != nil || !ok:
			between = append(between, "0000000000 65535 f \n"...)
			continue
		case number == content:
			at = forged
		case at >= int64(gapEnd):
			at += int64(newGapEnd - gapEnd)
		}
		between = fmt.Appendf(between, "%010d 00000 n \n", at)
	}
	between = fmt.Appendf(between, "trailer\n<< /Size %d /Root %d 0 R >>\nstartxref\n%d\n%%%%EOF\n", size, catalog, table)
	r.result = slices.Concat(b[:gap], r.pad(between, newGapEnd-gap), b[gapEnd:])
}

// pad adds spaces up to a length.
func (r *revision) pad(b []byte, length int) []byte {
	if len(b) > length {
		r.Fatalf("%d bytes are longer than %d", len(b), length)
	}
	return append(b, bytes.Repeat([]byte(" "), length-len(b))...)
}

// rewriteDictionary writes the signature dictionary once more with another reason, as the same object or another.
func rewriteDictionary(same bool) edit {
	return func(r *revision) {
		number, body := signatureObject(r.T, r.base)
		other := strings.Replace(body, "Read and agreed", "I owe a million", 1)
		if same {
			r.replace(uint32(number), other)
		} else {
			setKey(lastField, "V", "%v", other)(r)
		}
	}
}

// forgery is a document of a dishonest signer: the digest is right, and something else is wrong. The zero value has
// nothing wrong.
type forgery struct {
	ranges   string // the source of ByteRange, for the gap, its end, and the length after it
	entries  string // further entries of the signature dictionary
	objects  []string
	built    func([]byte) []byte                           // changes the document before it is signed
	gap      func(start, end int) (int, int)               // changes the gap, by that of the string of Contents
	contents func(der []byte, length int) []byte           // the string of Contents
	seal     func(f *fixture, covered []byte) (der []byte) // the CMS
}

const rangesLength = 100

func (o forgery) victim() victim {
	o = o.withDefaults()
	return victim{build: func(f *fixture) []byte {
		dictionary := signatureDictionary("ETSI.CAdES.detached", strings.Repeat("@", rangesLength)+o.entries)
		b := o.built(buildSignatureField("/V 101 0 R", append([]string{dictionary}, o.objects...)...))
		at := unfilledContents.FindIndex(b)
		start, end := o.gap(at[0], at[1])
		ranges := fmt.Appendf(nil, "%-*s", rangesLength, fmt.Sprintf(o.ranges, start, end, len(b)-end))
		b = bytes.Replace(b, bytes.Repeat([]byte("@"), rangesLength), ranges, 1)
		value := o.seal(f, append(bytes.Clone(b[:start]), b[end:]...))
		if copy(b[at[0]:at[1]], o.contents(value, at[1]-at[0])) != at[1]-at[0] {
			f.Fatal("Contents do not fill the gap")
		}
		return b
	}}
}

func (o forgery) withDefaults() forgery {
	if o.ranges == "" {
		o.ranges = "/ByteRange [0 %d %d %d]"
	}
	if o.built == nil {
		o.built = func(b []byte) []byte { return b }
	}
	if o.gap == nil {
		o.gap = func(start, end int) (int, int) { return start, end }
	}
	if o.contents == nil {
		o.contents = hexadecimalString
	}
	if o.seal == nil {
		o.seal = honestCMS
	}
	return o
}

func hexadecimalString(der []byte, length int) []byte {
	return fmt.Appendf(nil, "<%s>", hex.EncodeToString(append(bytes.Clone(der), make([]byte, (length-2)/2-len(der))...)))
}

func literalString(der []byte, length int) []byte {
	escaped := regexp.MustCompile(`[()\\\r]`).ReplaceAllFunc(der, func(c []byte) []byte { return fmt.Appendf(nil, `\%03o`, c[0]) })
	return fmt.Appendf(nil, "(%s)", append(escaped, make([]byte, length-2-len(escaped))...))
}

// sealedWith is a forgery whose CMS has another part.
func sealedWith(change func(*fixture, *cms.Parts)) victim {
	return forgery{seal: func(f *fixture, covered []byte) []byte {
		p := f.parts(covered)
		change(f, &p)
		return f.marshal(p)
	}}.victim()
}

// withCertificateFor is signed with a certificate of the trusted authority for another purpose than signing documents.
func withCertificateFor(change func(*x509.Certificate)) victim {
	return forgery{seal: func(f *fixture, covered []byte) []byte {
		template := &x509.Certificate{
			Subject:   pkix.Name{CommonName: "Dæmi um nafn"},
			NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(1, 0, 0),
			KeyUsage: x509.KeyUsageDigitalSignature, BasicConstraintsValid: true,
		}
		change(template)
		certificate, err := f.ca.IssueProfile(template, f.signer.key.Public())
		if err != nil {
			f.Fatal(err)
		}
		other := *f
		other.signer.signer.Certificate = certificate
		return honestCMS(&other, covered)
	}}.victim()
}

func honestCMS(f *fixture, covered []byte) []byte { return f.marshal(f.parts(covered)) }

func (f *fixture) parts(covered []byte) cms.Parts {
	f.Helper()
	algorithm := ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.ECDSA}
	attributes, err := cms.SignedAttributes(f.signer.signer.Certificate, algorithm, sha256Of(covered))
	if err != nil {
		f.Fatal(err)
	}
	value, err := f.signer.key.Sign(rand.Reader, sha256Of(attributes), crypto.SHA256)
	if err != nil {
		f.Fatal(err)
	}
	return cms.Parts{
		Certificate: f.signer.signer.Certificate, Chain: f.signer.signer.Chain, Algorithm: algorithm,
		SignedAttributes: attributes, Value: value,
	}
}

func (f *fixture) marshal(p cms.Parts) []byte {
	f.Helper()
	der, err := cms.Marshal(p)
	if err != nil {
		f.Fatal(err)
	}
	return der
}

func sha256Of(b []byte) []byte {
	h := crypto.SHA256.New()
	h.Write(b)
	return h.Sum(nil)
}

// timestamp is a timestamp token of an authority.
func (f *fixture) timestamp(ca *sandboxca.Authority, b []byte) []byte {
	f.Helper()
	token, err := ca.Sources(nil).Time.Timestamp(context.WithoutCancel(f.Context()), crypto.SHA256, sha256Of(b))
	if err != nil {
		f.Fatal(err)
	}
	return token
}

// ocspResponse is the response of an authority for a certificate.
func (f *fixture) ocspResponse(ca *sandboxca.Authority, c *x509.Certificate) []byte {
	f.Helper()
	data, err := ca.Sources(nil).Revocation.Revocation(context.WithoutCancel(f.Context()), c, ca.Chain()[0], time.Time{})
	if err != nil {
		f.Fatal(err)
	}
	return bytes.Clone(data.OCSP)
}

// addStore adds a document security store that is complete for level LT, with this OCSP response for the signer.
func addStore(response func(*fixture) []byte) edit {
	return func(r *revision) {
		list, err := r.ca.RootCRL(time.Now())
		r.check(err)
		authority := verify(r, r.base, r.ca)[0].Timestamps[0].Authority
		streams := []string{stream("", string(response(r.fixture))), stream("", string(r.ocspResponse(r.ca, authority))), stream("", string(list))}
		certificates := ""
		for _, c := range r.signer.signer.Chain {
			certificates += r.add(stream("", string(c.Raw))).String() + " "
		}
		store := r.format("<< /OCSPs [%v %v] /CRLs [%v] /Certs ["+certificates+"] >>", streams)
		setKey(catalog, "DSS", "%v", store)(r)
	}
}

// signedData are the parts of a SignedData (RFC 5652 5.1), with the SignerInfos without their SET.
type signedData struct{ version, digests, content, certificates, signers []byte }

var (
	oidSignedData = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 2}
	oidData       = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 1}
	explicit0     = cbasn1.Tag(0).ContextSpecific().Constructed()
)

// reencoded is a forgery whose SignedData has another part.
func reencoded(change func(*signedData)) victim {
	return forgery{seal: func(f *fixture, covered []byte) []byte {
		m, err := parseSignedData(honestCMS(f, covered))
		if err != nil {
			f.Fatal(err)
		}
		change(m)
		return m.encode()
	}}.victim()
}

func parseSignedData(der []byte) (*signedData, error) {
	in := cryptobyte.String(der)
	var outer, wrapped, fields, signers, part cryptobyte.String
	var kind asn1.ObjectIdentifier
	if !in.ReadASN1(&outer, cbasn1.SEQUENCE) || !outer.ReadASN1ObjectIdentifier(&kind) || !outer.ReadASN1(&wrapped, explicit0) ||
		!wrapped.ReadASN1(&fields, cbasn1.SEQUENCE) {
		return nil, errors.New("not a CMS")
	}
	m := new(signedData)
	for _, to := range []*[]byte{&m.version, &m.digests, &m.content, &m.certificates} {
		var tag cbasn1.Tag
		if !fields.ReadAnyASN1Element(&part, &tag) {
			return nil, errors.New("not a SignedData")
		}
		*to = part
	}
	if !fields.ReadASN1(&signers, cbasn1.SET) {
		return nil, errors.New("no SignerInfos")
	}
	m.signers = signers
	return m, nil
}

func (m *signedData) encode() []byte {
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1ObjectIdentifier(oidSignedData)
		b.AddASN1(explicit0, func(b *cryptobyte.Builder) {
			b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
				b.AddBytes(slices.Concat(m.version, m.digests, m.content, m.certificates))
				b.AddASN1(cbasn1.SET, func(b *cryptobyte.Builder) { b.AddBytes(m.signers) })
			})
		})
	})
	return b.BytesOrPanic()
}

// encapsulated is an EncapsulatedContentInfo with content.
func encapsulated(text string) []byte {
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1ObjectIdentifier(oidData)
		b.AddASN1(explicit0, func(b *cryptobyte.Builder) { b.AddASN1OctetString([]byte(text)) })
	})
	return b.BytesOrPanic()
}

// removeAttributes removes the signed attributes: the value becomes one over content with their encoding.
func (m *signedData) removeAttributes() {
	in := cryptobyte.String(m.signers)
	var signer, part cryptobyte.String
	in.ReadASN1(&signer, cbasn1.SEQUENCE)
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		var tag cbasn1.Tag
		for signer.ReadAnyASN1Element(&part, &tag) {
			if tag != explicit0 {
				b.AddBytes(part)
			}
		}
	})
	m.signers = b.BytesOrPanic()
}
