package xades_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
	"github.com/innsigli/innsigli/xades"
)

var signatureValue = regexp.MustCompile(`(<ds:SignatureValue Id="[^"]*">)[^<]*`)

// rewritten is a document with one signature in which something else is signed: SignedInfo as somebody
// else would write it.
func rewritten(t testing.TB, signed []byte, p person, old, replacement string) []byte {
	t.Helper()
	if bytes.Count(signed, []byte(old)) == 0 {
		t.Fatalf("%q is not there", old)
	}
	signed = bytes.Replace(signed, []byte(old), []byte(replacement), 1)
	return signatureValue.ReplaceAll(signed, []byte("${1}"+firstValue(t, signed, p)))
}

// firstValue is the value of the first signature of a document by somebody's key, in Base64.
func firstValue(t testing.TB, signed []byte, p person) string {
	t.Helper()
	d, err := xmldoc.Parse(signed)
	if err != nil {
		t.Fatal(err)
	}
	info := xmldsig.Find(d)[0]
	for n := range info.Descendants() {
		if n.Is(xmldsig.Namespace, "SignedInfo") {
			info = n
			break
		}
	}
	var b bytes.Buffer
	if err := d.Canonicalize(&b, xmldoc.Canonicalization{Method: xmldoc.Exclusive}, xmldoc.Subset{Apex: info}); err != nil {
		t.Fatal(err)
	}
	a, err := ades.DefaultAlgorithm(p.key.Public())
	if err != nil {
		t.Fatal(err)
	}
	value, err := p.key.Sign(rand.Reader, a.Digest(b.Bytes()).Sum, a.SignerOpts())
	if err != nil {
		t.Fatal(err)
	}
	octets, err := xmldsig.EncodeValue(a, p.key.Public(), value)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(octets)
}

const (
	inclusiveTransform = `<ds:Transform Algorithm="http://www.w3.org/TR/2001/REC-xml-c14n-20010315"></ds:Transform>`
	filterTransform    = `<ds:Transform Algorithm="http://www.w3.org/2002/06/xmldsig-filter2"><dsig-filter2:XPath xmlns:dsig-filter2="http://www.w3.org/2002/06/xmldsig-filter2" Filter="subtract">/descendant::ds:Signature</dsig-filter2:XPath></ds:Transform>`
	ownTransform       = `<ds:Transform Algorithm="http://www.w3.org/2000/09/xmldsig#enveloped-signature"></ds:Transform>`
	styleTransform     = `<ds:Transform Algorithm="http://www.w3.org/TR/1999/REC-xslt-19991116"></ds:Transform>`
)

// What a further signature would break is refused, and what it leaves alone is not (EN 319 132-1 6.3,
// xmldsig-core1 4.4.3 and 6.6).
func TestEarlierSignatures(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	const plain = `<a><b/></a>`
	enveloped := sign(t, []byte(plain), p, packings[0].options())
	enveloping := sign(t, []byte(plain), p, packings[1].options())
	detached := sign(t, []byte(plain), p, packings[3].options())
	own := rewritten(t, enveloped, p, filterTransform, ownTransform)
	inclusive := rewritten(t, detached, p, canonicalTransform, inclusiveTransform)
	style := rewritten(t, detached, p, canonicalTransform, styleTransform)
	outside := rewritten(t, enveloped, p, ` URI=""><ds:Transforms>`+filterTransform, ` URI="contract.xml"><ds:Transforms>`)
	inPayload := []byte(`<bundle>` + string(enveloping) + `</bundle>`)
	ok, forbidden, broken := error(nil), ades.ErrForbidden, ades.ErrBroken
	for _, tt := range []struct {
		name string
		b    []byte
		want [4]error // by packing
	}{
		{"enveloped", enveloped, [4]error{ok, forbidden, ok, forbidden}},
		{"enveloping", enveloping, [4]error{forbidden, ok, ok, ok}},
		{"internally detached", detached, [4]error{ok, ok, ok, ok}},
		{"that leaves only itself out", own, [4]error{forbidden, forbidden, ok, forbidden}},
		{"that signs the namespaces around", inclusive, [4]error{ok, forbidden, ok, ok}},
		{"by a stylesheet", style, [4]error{forbidden, forbidden, ok, forbidden}},
		{"over another file", outside, [4]error{ok, ok, ok, ok}},
		{"that is content", inPayload, [4]error{ok, ok, ok, ok}},
		{"with an identifier like that of none", bytes.Replace(bytes.ReplaceAll(enveloped, idOf(enveloped), nil), []byte("<b/>"), []byte("<c/>"), 1), [4]error{broken, broken, broken, broken}},
		{"of a document that was changed", bytes.Replace(enveloped, []byte("<b/>"), []byte("<c/>"), 1), [4]error{broken, broken, broken, broken}},
		{"with another value", signatureValue.ReplaceAll(enveloped, []byte("${1}"+strings.Repeat("A", 84)+"AAA=")), [4]error{broken, broken, broken, broken}},
		{"of which the properties were changed", bytes.Replace(enveloped, []byte("text/xml"), []byte("text/XML"), 1), [4]error{broken, broken, broken, broken}},
	} {
		for i, k := range packings {
			r, err := xades.Sign(t.Context(), document(tt.b), p.key, p.signer, k.options(), ades.Sources{})
			if !errors.Is(err, tt.want[i]) || err != nil && tt.want[i] == nil {
				t.Errorf("%s, then %s: %v, want %v", tt.name, k.name, err, tt.want[i])
			}
			if checked := xades.Check(t.Context(), document(tt.b), k.options()); !errors.Is(checked, tt.want[i]) || checked != nil && err == nil {
				t.Errorf("%s, then %s, checked: %v", tt.name, k.name, checked)
			}
			if err == nil {
				checkIntact(t, tt.name+", then "+k.name, apply(t, tt.b, r), p)
			}
		}
	}
}

// A signature that is right where the namespaces are that an enveloping one would put around it, and nowhere
// else, is broken.
func TestRightOnlyInAnother(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	const bound = `<internally-detached xmlns:ds="` + xmldsig.Namespace + `">`
	signed := sign(t, []byte("<a/>"), p, packings[3].options())
	inside := bytes.Replace(signed, []byte("<internally-detached>"), []byte(bound), 1)
	d, err := xmldoc.Parse(inside)
	if err != nil {
		t.Fatal(err)
	}
	sums := make([]string, 2)
	for i, method := range []xmldoc.Method{xmldoc.Exclusive, xmldoc.C14N10} {
		sum := sha256.New()
		for n := range d.Root().Elements() {
			if err := d.Canonicalize(sum, xmldoc.Canonicalization{Method: method}, xmldoc.Subset{Apex: n}); err != nil {
				t.Fatal(err)
			}
			break
		}
		sums[i] = base64.StdEncoding.EncodeToString(sum.Sum(nil))
	}
	inside = bytes.Replace(inside, []byte(canonicalTransform), []byte(inclusiveTransform), 1)
	inside = rewritten(t, inside, p, sums[0], sums[1])
	alone := bytes.Replace(inside, []byte(bound), []byte("<internally-detached>"), 1)
	checkIntact(t, "bound", inside, p)
	for _, k := range packings {
		if err := xades.Check(t.Context(), document(alone), k.options()); !errors.Is(err, ades.ErrBroken) {
			t.Errorf("%s: %v", k.name, err)
		}
	}
}

// idOf is what the identifiers of a signature are made of.
func idOf(signed []byte) []byte {
	return variable.Find(signed[bytes.Index(signed, []byte("signature-")):])[1:]
}

// checkIntact checks that all signatures of a document are what they were, but for what is not in it.
func checkIntact(t *testing.T, name string, b []byte, p person) {
	t.Helper()
	for _, s := range verify(t, b, p.ca) {
		if !s.Intact && s.SubIndication != ades.SignedDataNotFound {
			t.Errorf("%s: %v", name, s.Problems)
		}
	}
}

// unreadable are documents that are not read, whatever the packing.
var unreadable = map[string]string{
	"empty":                 "",
	"blank":                 " \n",
	"no XML":                "%PDF-1.7\n",
	"text":                  "innsigli",
	"truncated":             contract[:len(contract)-12],
	"two roots":             `<a/><b/>`,
	"text behind the root":  `<a/>b`,
	"CDATA around the root": `<![CDATA[ ]]><a/>`,
	"document type":         `<!DOCTYPE a><a/>`,
	"entity":                `<a>&b;</a>`,
	"prefix of signatures":  `<ds:a/>`,
	"prefix of attributes":  "<a\nds:b=''/>",
	"end of what is around": `<a/></signed-document><signed-document><b/>`,
	"end of the object":     `<a/></ds:Object><ds:Object><b/>`,
	"root not ended":        `<a>`,
	"only comments":         `<!-- a -->`,
	"comment not ended":     `<a/><!-- `,
	"reference to a space":  `<a/>&#32;`,
	"byte order mark twice": "\uFEFF\uFEFF<a/>",
	"late declaration":      "\n<?xml version='1.0'?><a/>",
	"two declarations":      "<?xml version='1.0'?><?xml version='1.0'?><a/>",
	"declaration not ended": "<?xml version='1.0'<a/>",
	"half of a character":   string(utf16("<a/>", true)) + "\n",
	"UTF-16, two roots":     string(utf16("<a/><b/>", false)),
	"UTF-16 as UTF-8":       string(utf16("<?xml version='1.0' encoding='UTF-8'?><a/>", false)),
	"prefix not bound":      `<b:a/>`,
	"attribute twice":       `<a b="" b=""/>`,
	"relative namespace":    `<a xmlns="b"/>`,
	"version":               `<?xml version="1.1"?><a/>`,
	"charset":               `<?xml version="1.0" encoding="UTF-7"?><a/>`,
	"no such charset":       `<?xml version="1.0" encoding="innsigli"?><a/>`,
	"not UTF-8":             "<a>\xff</a>",
	"deep":                  strings.Repeat("<a>", 100000) + strings.Repeat("</a>", 100000),
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	for name, b := range unreadable {
		for _, k := range packings {
			if k.base64 && name == "relative namespace" { // is in no canonical form
				continue
			}
			_, err := xades.Prepare(t.Context(), document([]byte(b)), p.signer, k.options())
			checked := xades.Check(t.Context(), document([]byte(b)), k.options())
			if !errors.Is(err, ades.ErrUnreadable) || !errors.Is(checked, ades.ErrUnreadable) {
				t.Errorf("%s, %s: %v; checked: %v", name, k.name, err, checked)
			}
		}
	}
}

// emptiness is a document of which nothing can be read.
type emptiness struct{}

var errGone = errors.New("gone")

func (emptiness) ReadAt([]byte, int64) (int, error) { return 0, errGone }

func TestPrepareRefuses(t *testing.T) {
	p := newPerson(t, newAuthority(t), p256(t))
	t.Setenv("GODEBUG", "rsa1024min=0")
	weak := newPerson(t, p.ca, rsaKey(t, 1024))
	sha1 := ades.Signer{Certificate: p.signer.Certificate, Algorithm: ades.Algorithm{Hash: crypto.SHA1, Scheme: ades.ECDSA}}
	doc := document([]byte(contract))
	for name, tt := range map[string]struct {
		doc     xades.Document
		signer  ades.Signer
		options xades.Options
		want    error // nil: of no kind
	}{
		"RSA-1024":       {doc, weak.signer, xades.Options{}, ades.ErrAlgorithm},
		"SHA-1":          {doc, sha1, xades.Options{}, ades.ErrAlgorithm},
		"no certificate": {doc, ades.Signer{}, xades.Options{}, nil},
		"too long":       {xades.Document{ReaderAt: emptiness{}, Size: 1 << 30}, p.signer, xades.Options{}, ades.ErrUnreadable},
		"negative size":  {xades.Document{ReaderAt: emptiness{}, Size: -1}, p.signer, xades.Options{}, ades.ErrUnreadable},
		"cannot be read": {xades.Document{ReaderAt: emptiness{}, Size: 10}, p.signer, xades.Options{}, errGone},
		"shorter":        {xades.Document{ReaderAt: bytes.NewReader(nil), Size: 10}, p.signer, xades.Options{}, nil},
		"Base64":         {doc, p.signer, xades.Options{Base64: true}, nil},
		"packing":        {doc, p.signer, xades.Options{Packing: 3}, nil},
		"level":          {doc, p.signer, xades.Options{Level: 4}, nil},
		"year":           {doc, p.signer, xades.Options{Time: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}, nil},
		"year in UTC":    {doc, p.signer, xades.Options{Time: time.Date(9999, 12, 31, 23, 0, 0, 0, time.FixedZone("", -12*3600))}, nil},
		"too early":      {doc, p.signer, xades.Options{Time: p.signer.Certificate.NotBefore.Add(-1)}, ades.ErrOutsideValidity},
		"too late":       {doc, p.signer, xades.Options{Time: p.signer.Certificate.NotAfter.Add(time.Second)}, ades.ErrOutsideValidity},
	} {
		_, err := xades.Prepare(t.Context(), tt.doc, tt.signer, tt.options)
		if err == nil || tt.want != nil && !errors.Is(err, tt.want) || tt.want == nil && errors.Is(err, ades.ErrUnreadable) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := xades.Prepare(ctx, doc, p.signer, xades.Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
