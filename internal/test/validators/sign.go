package validators

import (
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"path/filepath"
	"strconv"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// SignOptions say how a foreign program signs. It asks the responders and lists that the
// certificates name, over the network.
type SignOptions struct {
	Key         crypto.Signer // ECDSA, or RSA for PKCS #1 v1.5
	Certificate *x509.Certificate
	Chain       []*x509.Certificate // from its issuer on
	Root        *x509.Certificate   // the anchor; levels LT and LTA need one
	TSA         string              // URL of the timestamp authority; level B needs none
	Level       string              // "B", "T", "LT", "LTA"
	Packaging   string              // of XML, by EU DSS: "ENVELOPED", "ENVELOPING"; empty: the files are PDFs
	Runs        int                 // as often is each file signed; 0 is once
	Digest      string              // "SHA384", "SHA512"; empty: SHA-256
	Policy      string              // the signature policy: "implicit", or an OID, as is its digest; empty: none
	// With are more options, of EU DSS: "pss", "content-timestamp", "commitment", "role", "place", "vri", which is for PDF,
	// and "key-info", which is for XML and signs that; of pyHanko: "pss", "content-timestamp", "commitment", and
	// "pkcs7" for adbe.pkcs7.detached.
	With []string
	// Data says where EU DSS puts validation data in XML: a ValidationDataEncapsulationStrategy.
	Data string
	// Counter has EU DSS sign the signature with this Id in XML instead of the file.
	Counter string
}

// SignedFile is a file that a foreign program signed.
type SignedFile struct {
	File    string  // that was to be signed
	Path    string  // what came of it, until the test ends
	Seconds float64 // the median of the runs, without the start of the program
}

// DSSSign signs files of different names with EU DSS.
func DSSSign(t testing.TB, options SignOptions, files ...string) []SignedFile {
	t.Helper()
	return signDSS(t, options, options.arguments(t), files)
}

// DSSExtend raises the signatures in files of different names to a level with EU DSS. It
// takes the anchor, the timestamp authority, the level, the packaging and the runs of the options.
func DSSExtend(t testing.TB, options SignOptions, files ...string) []SignedFile {
	t.Helper()
	return signDSS(t, options, append(options.common(t), "--extend"), files)
}

func signDSS(t testing.TB, options SignOptions, arguments, files []string) []SignedFile {
	t.Helper()
	return signing(t, "EU DSS", arguments, files, func(arguments []string) []byte {
		if options.Runs > 1 { // which are timed, with Java at its best
			return mustRun(t, testenv.Program(t, "java"), append([]string{"-cp", jar(t, "dss"), "innsigli.Sign"}, arguments...)...)
		}
		return ask(t, "dss", serveJava(t, "dss"), append([]string{"Sign"}, arguments...))
	})
}

// PyHankoSign signs files of different names with pyHanko.
func PyHankoSign(t testing.TB, options SignOptions, files ...string) []SignedFile {
	t.Helper()
	return signing(t, "pyHanko", options.arguments(t), files, func(arguments []string) []byte {
		return askPyHanko(t, "pyhanko/sign.py", arguments)
	})
}

// signing has a program sign files into a folder.
func signing(t testing.TB, name string, arguments, files []string, run func(arguments []string) []byte) []SignedFile {
	t.Helper()
	folder := t.TempDir()
	arguments = append(append(arguments, "--output", folder), files...)
	signed := decodeLines[SignedFile](t, name, run(arguments), len(files))
	for i := range signed {
		signed[i].Path = filepath.Join(folder, filepath.Base(signed[i].File))
	}
	return signed
}

// arguments writes the key and the certificates to files that they name.
func (o SignOptions) arguments(t testing.TB) []string {
	t.Helper()
	folder := t.TempDir()
	path := func(name string) string { return filepath.Join(folder, name) }
	writeKey(t, path("key.pem"), o.Key)
	writePEM(t, path("cert.pem"), o.Certificate)
	arguments := append(o.common(t), "--key", path("key.pem"), "--cert", path("cert.pem"))
	for i, issuer := range o.Chain {
		name := path(fmt.Sprintf("chain%d.pem", i))
		writePEM(t, name, issuer)
		arguments = append(arguments, "--chain", name)
	}
	return arguments
}

// common are the arguments that say nothing of the signer.
func (o SignOptions) common(t testing.TB) []string {
	t.Helper()
	arguments := []string{"--level", o.Level, "--runs", strconv.Itoa(max(o.Runs, 1))}
	if o.TSA != "" {
		arguments = append(arguments, "--tsa", o.TSA)
	}
	if o.Packaging != "" {
		arguments = append(arguments, "--packaging", o.Packaging)
	}
	for _, option := range []struct{ name, value string }{
		{"--digest", o.Digest}, {"--policy", o.Policy}, {"--data", o.Data}, {"--counter", o.Counter},
	} {
		if option.value != "" {
			arguments = append(arguments, option.name, option.value)
		}
	}
	for _, option := range o.With {
		arguments = append(arguments, "--with", option)
	}
	if o.Root != nil {
		arguments = append(arguments, rootArguments(t, []*x509.Certificate{o.Root})...)
	}
	return arguments
}

func writeKey(t testing.TB, path string, key crypto.Signer) {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}
