package xades_test

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"os"
	"os/exec"
	"strconv"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/xades"
)

// hasForeign says whether xmlsec1 does the like: enveloping it takes as long as in a container.
func (s benchScene) hasForeign() bool { return s.packing.packing != xades.Enveloping }

// template is what xmlsec1 signs: the document with a signature without values, whose references are
// those of ours but the one to properties.
func (s benchScene) template(b *testing.B) []byte {
	b.Helper()
	document, err := os.ReadFile(s.path("in.xml"))
	if err != nil {
		b.Fatal(err)
	}
	const (
		head = `<ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:SignedInfo>` +
			`<ds:CanonicalizationMethod Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"/>` +
			`<ds:SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"/>`
		filter = `<ds:Transform Algorithm="http://www.w3.org/2002/06/xmldsig-filter2">` +
			`<dsig-filter2:XPath xmlns:dsig-filter2="http://www.w3.org/2002/06/xmldsig-filter2" Filter="subtract">/descendant::ds:Signature</dsig-filter2:XPath></ds:Transform>`
		tail = `<ds:Transform Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"/></ds:Transforms>` +
			`<ds:DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"/><ds:DigestValue/></ds:Reference>` +
			`</ds:SignedInfo><ds:SignatureValue/></ds:Signature>`
	)
	if s.packing.packing == xades.Enveloped {
		end := bytes.LastIndex(document, []byte("</"))
		return append(document[:end:end], head+`<ds:Reference URI=""><ds:Transforms>`+filter+tail+string(document[end:])...)
	}
	_, root, _ := bytes.Cut(document, []byte("\n"))
	signature := head + `<ds:Reference URI="#signed"><ds:Transforms>` + tail
	return []byte(`<internally-detached><signed-document Id="signed">` + string(root) + `</signed-document>` + signature + `</internally-detached>`)
}

func (s benchScene) writeKeys(b *testing.B) {
	b.Helper()
	key, err := x509.MarshalPKCS8PrivateKey(s.person.key)
	if err != nil {
		b.Fatal(err)
	}
	s.write(b, "key.pem", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}))
	s.write(b, "root.pem", s.person.ca.RootPEM())
}

func (s benchScene) foreignSign(b *testing.B, repeat int) {
	b.Helper()
	s.xmlsec1(b, repeat, "--sign", "--privkey-pem", s.path("key.pem"), "--output", s.path("foreign.xml"), s.path("template.xml"))
}

func (s benchScene) foreignVerify(b *testing.B, repeat int) {
	b.Helper()
	s.xmlsec1(b, repeat, "--verify", "--enabled-key-data", "x509", "--trusted-pem", s.path("root.pem"), s.path("signed.xml"))
}

func (s benchScene) xmlsec1(b *testing.B, repeat int, verb string, args ...string) {
	b.Helper()
	args = append([]string{verb, "--repeat", strconv.Itoa(repeat), "--id-attr:Id", "signed-document"}, args...)
	if out, err := exec.Command(testenv.Program(b, "xmlsec1"), args...).CombinedOutput(); err != nil {
		b.Fatalf("xmlsec1 %s: %v\n%s", verb, err, out)
	}
}
