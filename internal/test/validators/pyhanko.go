package validators

import (
	"crypto/x509"
	"path/filepath"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
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
	Suspicion         string // what it takes for a change of another kind, with ModificationLevel "OTHER"
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
	return runPyHanko[PyHankoReport](t, "pyhanko/validate.py", roots, files)
}

// PyHankoLongTermReport is what pyHanko says about the signatures in one file when nothing
// counts that is not embedded, and every certificate below an anchor has to be shown not
// to be revoked.
type PyHankoLongTermReport struct {
	File       string
	Error      string // the exception on a file that pyHanko could not read; empty otherwise
	Signatures []PyHankoLongTermSignature
}

// PyHankoLongTermSignature is pyHanko's verdict on one signature, which is no document
// timestamp. Indications are "PASSED", or a status and a sub-indication as in
// "INDETERMINATE NO_POE".
type PyHankoLongTermSignature struct {
	Field      string
	Error      string    // the exception on a signature that pyHanko would not judge
	Sufficient bool      // the document security store is enough to trust it today: level LT
	Now        string    // EN 319 102-1 5.6.3, which needs a document timestamp: level LTA
	Archived   time.Time // the first document timestamp after it, if their whole chain is valid
	Later      string    // as Now in ten years, if the document is renewed until then
}

// PyHankoLongTerm validates files with pyHanko for the long term, offline. It knows no
// signature of level T or above without a signature timestamp: Now and Later are
// "INDETERMINATE SIG_CONSTRAINTS_FAILURE" where the document timestamp is the first.
func PyHankoLongTerm(t testing.TB, roots []*x509.Certificate, files ...string) []PyHankoLongTermReport {
	t.Helper()
	return runPyHanko[PyHankoLongTermReport](t, "pyhanko/longterm.py", roots, files)
}

// PyHankoProfileReport is what pyHanko's profile pades-lta says about one file.
type PyHankoProfileReport struct {
	File       string
	Error      string // the exception on a file that pyHanko could not read; empty otherwise
	Signatures []PyHankoProfileSignature
}

// PyHankoProfileSignature is the verdict on one signature.
type PyHankoProfileSignature struct {
	Field  string
	Error  string // why the signature is not of the profile
	Passed bool
	// Behind says that a document timestamp is before the signature. Then it cannot pass:
	// pyHanko looks for its revocation data where only what is older can be.
	Behind bool
}

// PyHankoProfile validates files by the profile pades-lta, offline. Revocation data is
// required for all but the authority of the last document timestamp. The version of pyHanko
// is the last that has the profile.
func PyHankoProfile(t testing.TB, roots []*x509.Certificate, files ...string) []PyHankoProfileReport {
	t.Helper()
	return runPyHanko[PyHankoProfileReport](t, "pyhanko-ltv/profile.py", roots, files)
}

// runPyHanko has a script below .ci judge files, with the pyHanko that is installed for
// its folder.
func runPyHanko[Report any](t testing.TB, script string, roots []*x509.Certificate, files []string) []Report {
	t.Helper()
	if len(files) == 0 {
		testenv.Absent(t, "pyHanko has nothing to judge: the tests that make its files were skipped")
	}
	lines := askPyHanko(t, script, append(rootArguments(t, roots), files...))
	return decodeLines[Report](t, "pyHanko", lines, len(files))
}

// askPyHanko runs a script below .ci.
func askPyHanko(t testing.TB, name string, arguments []string) []byte {
	t.Helper()
	return ask(t, filepath.Dir(name), servePyHanko(t, filepath.Dir(name)), append([]string{script(t, name)}, arguments...))
}

// servePyHanko is the command line of .ci/serve with an installed pyHanko.
func servePyHanko(t testing.TB, name string) []string {
	t.Helper()
	return []string{testenv.Tool(t, name+"/bin/python"), script(t, "serve/serve.py")}
}

// script returns the path of a program below .ci.
func script(t testing.TB, name string) string {
	t.Helper()
	return filepath.Join(testenv.Root(t), ".ci", filepath.FromSlash(name))
}
