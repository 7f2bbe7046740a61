package xades_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/validators"
)

// dssVerdict is what EU DSS says about one signature.
type dssVerdict struct {
	id string // attribute Id
	verdict
	intact bool // what it refers to and the value
}

// verdictsFile is what EU DSS says of the corpus in the sights of its files: file, Id, format, indication,
// sub-indication, and whether it is intact, a line for each signature. It is written in full.
const verdictsFile = "testdata/dss.tsv"

// knownVerdicts are those of all files. In full, EU DSS is asked about all and the file written; else about every
// twelfth file, the attacks and the counter-signatures, of which it has to say the same still.
func knownVerdicts(t *testing.T, paths []string, sights []sight) map[string][]dssVerdict {
	t.Helper()
	if testenv.Full() {
		lines := askDSS(t, paths, sights, func(int) bool { return true })
		writeFile(t, verdictsFile, []byte(lines))
		return parseVerdicts(t, lines)
	}
	stored := string(readFile(t, verdictsFile))
	t.Run("still the same", func(t *testing.T) {
		lines := askDSS(t, paths, sights, func(i int) bool {
			_, attack := attacks[filepath.Base(paths[i])]
			_, counter := counterSignatures[filepath.Base(paths[i])]
			return i%12 == 0 || attack || counter
		})
		was := parseVerdicts(t, stored)
		for key, now := range parseVerdicts(t, lines) {
			if diff := cmp.Diff(was[key], now, cmp.AllowUnexported(dssVerdict{})); diff != "" {
				t.Errorf("%s of %s (-stored +EU DSS):\n%s", verdictsFile, key, diff)
			}
		}
	})
	return parseVerdicts(t, stored)
}

// askDSS asks about some of the files, each in its sight.
func askDSS(t *testing.T, paths []string, sights []sight, asked func(int) bool) string {
	t.Helper()
	var lines strings.Builder
	for i, path := range paths {
		if !asked(i) {
			continue
		}
		options := validators.DSSOptions{Roots: sights[i].roots, At: sights[i].at, RevocationOptional: true}
		for _, v := range validators.DSS(t, options, path)[0].Signatures {
			fmt.Fprintf(&lines, "%s\t%s\t%s\t%s\t%s\t%t\n", filepath.Base(path),
				v.ID, v.Format, v.Indication, v.SubIndication, v.Intact && v.Valid)
		}
	}
	return lines.String()
}

func parseVerdicts(t *testing.T, lines string) map[string][]dssVerdict {
	t.Helper()
	all := make(map[string][]dssVerdict)
	for line := range strings.Lines(lines) {
		c := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(c) != 6 {
			t.Fatalf("%s: %q", verdictsFile, line)
		}
		all[c[0]] = append(all[c[0]], dssVerdict{c[1], verdict{c[2], c[3], c[4]}, c[5] == "true"})
	}
	return all
}
