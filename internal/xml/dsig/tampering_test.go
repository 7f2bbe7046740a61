package dsig

import (
	"errors"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
)

// tampering is what somebody does to a signed document, and what becomes of it.
type tampering struct {
	old, new string // replaced once
	err      error
}

// tamper signs two elements and does to the document what each row says.
func tamper(t *testing.T, rows map[string]tampering) {
	t.Helper()
	k := newECDSASigner(t)
	signed := k.sign(t, `<a><b Id="x">text</b><b Id="y">other</b>`+k.signature(t, reference("#x", excC14N)+reference("#y", excC14N))+`</a>`)
	if err := verify(t.Context(), signed); err != nil {
		t.Fatal(err)
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(signed, row.old) {
				t.Fatalf("there is no %q", row.old)
			}
			if err := verify(t.Context(), strings.Replace(signed, row.old, row.new, 1)); !errors.Is(err, row.err) {
				t.Errorf("%v, want %v", err, row.err)
			}
		})
	}
}

func TestContent(t *testing.T) {
	tamper(t, map[string]tampering{
		"other text":             {">text<", ">test<", ErrDigest},
		"another attribute":      {`Id="x">`, `Id="x" c="d">`, ErrDigest},
		"an element more":        {">text<", ">text<c/><", ErrDigest},
		"a comment":              {">text<", "><!-- of nobody's -->text<", nil},
		"something around it":    {`<a>`, `<a><c/>`, nil},
		"swapped identifiers":    {`<b Id="x">text</b><b Id="y">`, `<b Id="y">text</b><b Id="x">`, ErrDigest},
		"another with the ID":    {`<a>`, `<a><c Id="x"/>`, ErrReference},
		"another with ID in ID":  {`<a>`, `<a><c ID="x"/>`, ErrReference},
		"another with xml:id":    {`<a>`, `<a><c xml:id="y"/>`, ErrReference},
		"the ID in two forms":    {`Id="x">`, `Id="x" ID="z">`, ErrDigest},
		"the element taken away": {`<b Id="x">text</b>`, ``, ErrReference},
		"one copied elsewhere":   {`</ds:KeyInfo>`, `</ds:KeyInfo><ds:Object><b Id="x">text</b></ds:Object>`, ErrReference},
	})
}

func TestStructure(t *testing.T) {
	const second = `<ds:SignedInfo><ds:CanonicalizationMethod Algorithm="` + exclusive + `"/></ds:SignedInfo>`
	tamper(t, map[string]tampering{
		"a SignedInfo before":                 {`<ds:SignedInfo>`, second + `<ds:SignedInfo>`, ErrFormat},
		"a SignedInfo after":                  {`</ds:SignedInfo>`, `</ds:SignedInfo>` + second, ErrFormat},
		"a SignedInfo in an Object":           {`</ds:KeyInfo>`, `</ds:KeyInfo><ds:Object>` + second + `</ds:Object>`, nil},
		"a SignedInfo of another namespace":   {`<ds:SignedInfo>`, `<SignedInfo/><ds:SignedInfo>`, ErrFormat},
		"two values":                          {`</ds:SignatureValue>`, `</ds:SignatureValue><ds:SignatureValue/>`, ErrFormat},
		"two KeyInfos":                        {`</ds:KeyInfo>`, `</ds:KeyInfo><ds:KeyInfo/>`, ErrFormat},
		"an Object before KeyInfo":            {`<ds:KeyInfo>`, `<ds:Object/><ds:KeyInfo>`, ErrFormat},
		"an unknown element":                  {`</ds:KeyInfo>`, `</ds:KeyInfo><c/>`, ErrFormat},
		"text":                                {`</ds:KeyInfo>`, `</ds:KeyInfo>c`, ErrFormat},
		"white space":                         {`</ds:KeyInfo>`, "</ds:KeyInfo>\n\t ", nil},
		"two canonicalization methods":        {`<ds:CanonicalizationMethod`, `<ds:CanonicalizationMethod Algorithm=""/><ds:CanonicalizationMethod`, ErrFormat},
		"two signature methods":               {`<ds:SignatureMethod`, `<ds:SignatureMethod Algorithm=""/><ds:SignatureMethod`, ErrFormat},
		"an unknown canonicalization":         {`<ds:CanonicalizationMethod Algorithm="`, `<ds:CanonicalizationMethod Algorithm="urn:`, ErrTransform},
		"a parameter of the signature method": {`ecdsa-sha256"/>`, `ecdsa-sha256"><ds:HMACOutputLength>1</ds:HMACOutputLength></ds:SignatureMethod>`, ErrFormat},
		"an element in SignedInfo":            {`</ds:SignedInfo>`, `<c/></ds:SignedInfo>`, ErrFormat},
		"text in SignedInfo":                  {`</ds:SignedInfo>`, `c</ds:SignedInfo>`, ErrFormat},
		"a comment in SignedInfo":             {`</ds:SignedInfo>`, `<!-- c --></ds:SignedInfo>`, nil},
		"an instruction in SignedInfo":        {`</ds:SignedInfo>`, `<?c?></ds:SignedInfo>`, ades.ErrValue},
		"two digest methods":                  {`<ds:DigestMethod`, `<ds:DigestMethod Algorithm=""/><ds:DigestMethod`, ErrFormat},
		"two digests":                         {`</ds:DigestValue>`, `</ds:DigestValue><ds:DigestValue/>`, ErrFormat},
		"two lists of transforms":             {`</ds:Transforms>`, `</ds:Transforms><ds:Transforms/>`, ErrFormat},
		"an empty list of transforms":         {`<ds:Transforms>` + excC14N + `</ds:Transforms>`, `<ds:Transforms/>`, ErrFormat},
		"no SignedInfo":                       {`<ds:SignedInfo>`, `<ds:SignedInfo xmlns:ds="urn:c">`, ErrFormat},
		"too many references":                 {`<ds:Reference `, strings.Repeat(`<ds:Reference/>`, maxReferences+1) + `<ds:Reference `, ErrLimit},
		"too many transforms":                 {excC14N, strings.Repeat(enveloped, maxTransforms) + excC14N, ErrLimit},
		"too many certificates":               {`<ds:X509Data>`, `<ds:X509Data>` + strings.Repeat(`<ds:X509Certificate/>`, maxCertificates), ErrLimit},
	})
}

func TestReferences(t *testing.T) {
	uri := func(new string, err error) tampering { return tampering{`URI="#x"`, `URI="` + new + `"`, err} }
	tamper(t, map[string]tampering{
		"none":                                   {` URI="#x"`, ``, ErrReference},
		"over the network":                       uri("https://example.com/b", ErrReference),
		"to a file":                              uri("file:///etc/passwd", ErrReference),
		"to a name":                              uri("b.xml", ErrReference),
		"to a part of another":                   uri("b.xml#x", ErrReference),
		"nowhere":                                uri("#z", ErrReference),
		"to an empty fragment":                   uri("#", ErrReference),
		"by an expression":                       uri("#xpointer(//b)", ErrReference),
		"by two identifiers":                     uri("#xpointer(id('x'))xpointer(id('y'))", ErrReference),
		"by another element":                     uri("#y", ErrDigest),
		"to the document":                        uri("", ErrDigest),
		"to what is not around":                  {excC14N, enveloped, ErrReference},
		"by a pointer":                           uri("#xpointer(id('x'))", ades.ErrValue),
		"into the signature, without signatures": {`URI="#x"><ds:Transforms>`, `URI="#sig"><ds:Transforms>` + filter2, ErrReference},
	})
}

func TestTransforms(t *testing.T) {
	filter := func(kind, expression string) string {
		return transform(transformFilter2, `<f:XPath xmlns:f="`+transformFilter2+`" Filter="`+kind+`">`+expression+`</f:XPath>`)
	}
	row := func(new string, err error) tampering { return tampering{excC14N, new, err} }
	tamper(t, map[string]tampering{
		"XSLT":                            row(transform("http://www.w3.org/TR/1999/REC-xslt-19991116", `<s:stylesheet xmlns:s="http://www.w3.org/1999/XSL/Transform"/>`), ErrTransform),
		"an unknown one":                  row(transform("urn:c"), ErrTransform),
		"none that is said":               row(`<ds:Transform/>`, ErrTransform),
		"XPath":                           row(transform(transformXPath, `<ds:XPath>self::text()</ds:XPath>`), ErrTransform),
		"XPath with more":                 row(transform(transformXPath, `<ds:XPath>not(ancestor-or-self::ds:Signature) and 1</ds:XPath>`), ErrTransform),
		"XPath of another namespace":      row(transform(transformXPath, `<ds:XPath xmlns:c="urn:c">not(ancestor-or-self::c:Signature)</ds:XPath>`), ErrTransform),
		"XPath with an undeclared prefix": row(transform(transformXPath, `<ds:XPath>not(ancestor-or-self::c:Signature)</ds:XPath>`), ErrTransform),
		"XPath without a prefix":          row(transform(transformXPath, `<ds:XPath xmlns="`+Namespace+`">not(ancestor-or-self:::Signature)</ds:XPath>`), ErrTransform),
		"XPath in two parts":              row(transform(transformXPath, `<ds:XPath/><ds:XPath/>`), ErrFormat),
		"an element in XPath":             row(transform(transformXPath, `<ds:XPath>not(ancestor-or-self::ds:Signature)<c/></ds:XPath>`), ErrFormat),
		"a filter that intersects":        row(filter("intersect", "/descendant::ds:Signature"), ErrTransform),
		"a filter for something else":     row(filter("subtract", "//b"), ErrTransform),
		"no filter":                       row(transform(transformFilter2), ErrFormat),
		"two filters":                     row(transform(transformFilter2, strings.Repeat(`<f:XPath xmlns:f="`+transformFilter2+`" Filter="subtract">/descendant::ds:Signature</f:XPath>`, 2)), ErrFormat),
		"a parameter of enveloped":        row(transform(transformEnveloped, `<c/>`), ErrFormat),
		"a parameter of C14N 1.0":         row(transform("http://www.w3.org/TR/2001/REC-xml-c14n-20010315", `<e:InclusiveNamespaces xmlns:e="`+exclusive+`" PrefixList="p"/>`), ErrFormat),
		"too many prefixes":               row(transform(exclusive, `<e:InclusiveNamespaces xmlns:e="`+exclusive+`" PrefixList="`+strings.Repeat("p ", maxPrefixes+1)+`"/>`), ErrLimit),
		"one after octets":                row(excC14N+enveloped, ErrTransform),
		"canonicalized twice":             row(excC14N+excC14N, ErrTransform),
		"text for base64":                 row(transform(transformBase64), ErrDigest),
		"another method":                  row(transform("http://www.w3.org/TR/2001/REC-xml-c14n-20010315"), ades.ErrValue),
	})
}

func TestValues(t *testing.T) {
	const digest = "<ds:DigestValue>"
	tamper(t, map[string]tampering{
		"an empty digest":            {digest, digest + "</ds:DigestValue></ds:Reference>" + strings.TrimSuffix(reference("#x", excC14N), "<ds:DigestValue/></ds:Reference>") + digest, ErrDigest},
		"a digest with a character":  {digest, digest + "*", ErrFormat},
		"a digest with more":         {"</ds:DigestValue>", "AAAA</ds:DigestValue>", ErrFormat},
		"a digest in two":            {"=</ds:DigestValue>", "<!-- c -->=</ds:DigestValue>", nil},
		"more after a comment":       {"</ds:DigestValue>", "<!-- c -->AAAA</ds:DigestValue>", ErrFormat},
		"an element in a digest":     {"</ds:DigestValue>", "<c/></ds:DigestValue>", ErrFormat},
		"white space in a digest":    {digest, digest + "\n ", ades.ErrValue},
		"an unknown digest method":   {xmlenc + "sha256", Namespace + "md5", ades.ErrAlgorithm},
		"a parameter of the method":  {xmlenc + `sha256"/>`, xmlenc + `sha256"><c/></ds:DigestMethod>`, ErrFormat},
		"another hash":               {xmlenc + "sha256", xmlenc + "sha512", ErrDigest},
		"a weak one":                 {xmlenc + "sha256", Namespace + "sha1", ErrDigest},
		"an unknown method":          {more2001 + "ecdsa-sha256", "urn:c", ades.ErrAlgorithm},
		"HMAC":                       {more2001 + "ecdsa-sha256", more2001 + "hmac-sha256", ades.ErrAlgorithm},
		"DSA":                        {more2001 + "ecdsa-sha256", Namespace + "dsa-sha1", ades.ErrAlgorithm},
		"RSA with MD5":               {more2001 + "ecdsa-sha256", more2001 + "rsa-md5", ades.ErrAlgorithm},
		"a method of other keys":     {more2001 + "ecdsa-sha256", more2001 + "rsa-sha256", ades.ErrAlgorithm},
		"the method with a weak one": {more2001 + "ecdsa-sha256", more2001 + "ecdsa-sha1", ades.ErrValue},
		"white space in the value":   {"<ds:SignatureValue>", "<ds:SignatureValue>\r\n\t ", nil},
		"a value with a character":   {"<ds:SignatureValue>", "<ds:SignatureValue>*", ErrFormat},
		"a value with more":          {"<ds:SignatureValue>", "<ds:SignatureValue>AAAA", ades.ErrValue},
		"a certificate in two":       {"<ds:X509Certificate>MI", "<ds:X509Certificate>M<!-- c -->I", nil},
		"another certificate before": {"<ds:X509Certificate>MI", "<ds:X509Certificate>AAAA</ds:X509Certificate><ds:X509Certificate>MI", nil},
	})
}
