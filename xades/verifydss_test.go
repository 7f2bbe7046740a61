package xades_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/internal/testenv"
	"github.com/innsigli/innsigli/internal/validators"
)

// dssVerdict is what EU DSS says about one signature.
type dssVerdict struct {
	id string // attribute Id
	verdict
	intact bool // what it refers to and the value
}

// verdictsFile is what EU DSS says of the corpus: file, sight, Id, format, indication, sub-indication, and
// whether it is intact, a line for each signature. It is written in full.
const verdictsFile = "testdata/dss.tsv"

// knownVerdicts are those of all files by file and sight. In full, EU DSS is asked about all and the file
// written; else about every twelfth file and, where nobody is trusted, attacks and counter-signatures, of which
// it has to say the same still.
func knownVerdicts(t *testing.T, paths []string, sights []sightsOfFiles) map[string][]dssVerdict {
	t.Helper()
	if testenv.Full() {
		lines := askDSS(t, paths, sights, func(int, string) bool { return true })
		writeFile(t, verdictsFile, []byte(lines))
		return parseVerdicts(t, lines)
	}
	stored := string(readFile(t, verdictsFile))
	t.Run("still the same", func(t *testing.T) {
		lines := askDSS(t, paths, sights, func(i int, sight string) bool {
			_, attack := attacks[filepath.Base(paths[i])]
			_, counter := counterSignatures[filepath.Base(paths[i])]
			return i%12 == 0 || sight == nobody && (attack || counter)
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

// askDSS asks about some of the files, in each sight. Files that are judged at once are asked about at once.
func askDSS(t *testing.T, paths []string, sights []sightsOfFiles, asked func(i int, sight string) bool) string {
	t.Helper()
	var lines strings.Builder
	for _, s := range sights {
		var together []string
		for i, path := range paths {
			switch {
			case !asked(i, s.name):
			case s.name == then:
				lines.WriteString(askInSight(t, s.name, s.of[i], path))
			default:
				together = append(together, path)
			}
		}
		if len(together) > 0 {
			lines.WriteString(askInSight(t, s.name, s.of[0], together...))
		}
	}
	return lines.String()
}

func askInSight(t *testing.T, name string, s sight, paths ...string) string {
	t.Helper()
	var lines strings.Builder
	options := validators.DSSOptions{Roots: s.roots, At: s.at, RevocationOptional: s.optional}
	for i, r := range validators.DSS(t, options, paths...) {
		for _, v := range r.Signatures {
			fmt.Fprintf(&lines, "%s\t%s\t%s\t%s\t%s\t%s\t%t\n", filepath.Base(paths[i]), name,
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
		if len(c) != 7 {
			t.Fatalf("%s: %q", verdictsFile, line)
		}
		key := c[0] + " " + c[1]
		all[key] = append(all[key], dssVerdict{c[2], verdict{c[3], c[4], c[5]}, c[6] == "true"})
	}
	return all
}
