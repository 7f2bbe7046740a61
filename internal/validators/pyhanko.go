package validators

import (
	"crypto/x509"
	"path/filepath"
	"testing"

	"github.com/innsigli/innsigli/internal/testenv"
)

// PyHankoReport is what pyHanko says about one file.
type PyHankoReport struct {
	File       string
	Error      string // the exception on a file that pyHanko could not read; empty otherwise
	Lenient    string // the exception that only a lenient reading avoids; empty otherwise
	Encrypted  bool   // and readable with the empty password
	Signatures []PyHankoSignature
}

// PyHankoSignature is pyHanko's verdict on one signature or document timestamp.
type PyHankoSignature struct {
	Field             string
	Type              string // "/Sig", "/DocTimeStamp"
	SubFilter         string
	Error             string // the exception on a signature that pyHanko would not judge
	Intact            bool   // the digest of the byte range is the signed one
	Valid             bool   // the value fits the signed attributes
	Trusted           bool   // both, and a path to an anchor
	Problem           string // why not: "NO_CERTIFICATE_CHAIN_FOUND"
	Coverage          string // "ENTIRE_FILE", "ENTIRE_REVISION", "CONTIGUOUS_BLOCK_FROM_START"
	ModificationLevel string // of later revisions: "NONE", "LTA_UPDATES", "FORM_FILLING", "OTHER"
	DocMDPOK          bool   // later revisions are allowed by every certification
	BottomLine        bool   // all of the above, and the timestamp's too
	Timestamp         *PyHankoTimestamp
}

// PyHankoTimestamp is pyHanko's verdict on the timestamp of a signature.
type PyHankoTimestamp struct {
	Time                   string // RFC 3339
	Intact, Valid, Trusted bool
}

// PyHanko validates files with pyHanko, offline; leniently, as with hybrid files, where it
// refuses them otherwise. No roots: nothing is trusted.
func PyHanko(t testing.TB, roots []*x509.Certificate, files ...string) []PyHankoReport {
	t.Helper()
	python := testenv.Tool(t, "pyhanko/bin/python")
	args := []string{filepath.Join(testenv.Root(t), ".ci", "pyhanko", "validate.py")}
	args = append(args, rootArguments(t, roots)...)
	lines := mustRun(t, python, append(args, files...)...)
	return decodeLines[PyHankoReport](t, "pyHanko", lines, len(files))
}
