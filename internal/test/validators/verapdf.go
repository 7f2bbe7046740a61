package validators

import (
	"fmt"
	"testing"
)

// VeraPDFClaim is a file and a profile that it claims to conform to, as veraPDF names
// them: "1b", "2a", "3b", "4", "ua1".
type VeraPDFClaim struct{ Profile, File string }

// VeraPDFReport is what veraPDF says about one claim.
type VeraPDFReport struct {
	File, Profile string
	Error         string // the exception on a file that veraPDF could not read; empty otherwise
	Compliant     bool
	Failures      []VeraPDFFailure // one for each rule and object
}

// VeraPDFFailure is a rule of the profile's standard that an object of the file breaks.
type VeraPDFFailure struct {
	Clause string // "7.18.4"
	Test   int    // of the clause, from 1
	Text   string // English
	Object string // the way to it from the root
}

func (f VeraPDFFailure) String() string {
	return fmt.Sprintf("%s-%d: %s at %s", f.Clause, f.Test, f.Text, f.Object)
}

// VeraPDF checks files against profiles of PDF/A and PDF/UA with veraPDF, offline.
func VeraPDF(t testing.TB, claims ...VeraPDFClaim) []VeraPDFReport {
	t.Helper()
	args := []string{"Conform"}
	for _, claim := range claims {
		args = append(args, claim.Profile, claim.File)
	}
	return decodeLines[VeraPDFReport](t, "veraPDF", ask(t, "verapdf", serveJava(t, "verapdf"), args), len(claims))
}
