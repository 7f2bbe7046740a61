package validators

import (
	"crypto/x509"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// XMLSecReport is what XML Security Library says about one file.
type XMLSecReport struct {
	File       string
	Error      string            // the exception on a file that it could not read; empty otherwise
	Signatures []XMLSecSignature // in document order, those in others among them
}

// XMLSecSignature is the library's verdict on one ds:Signature: on all its references and its value.
type XMLSecSignature struct {
	ID    string // attribute Id
	Valid bool
	Error string // why not
}

// XMLSec verifies XML signatures with XML Security Library, the library of xmlsec1, in a version that
// has RSASSA-PSS. With roots, the certificates have to be valid now and lead to one of them; without,
// those in KeyInfo are taken for their keys alone. The library is no judge of XAdES, nor of what is
// wrapped around a signed element.
func XMLSec(t testing.TB, roots []*x509.Certificate, files ...string) []XMLSecReport {
	t.Helper()
	command := []string{testenv.Tool(t, "xmlsec/bin/python"), script(t, "serve/serve.py")}
	arguments := append([]string{script(t, "xmlsec/verify.py")}, rootArguments(t, roots)...)
	lines := ask(t, "xmlsec", command, append(arguments, files...))
	return decodeLines[XMLSecReport](t, "XML Security Library", lines, len(files))
}
