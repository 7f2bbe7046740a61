package pades_test

import (
	"fmt"
	"path/filepath"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/validators"
)

// Nothing passes here behind which EU DSS or pyHanko see a change, of which both see some. INNSIGLI_FULL=1 has them
// judge all documents, else those of proof and every third of the others.
func TestGrowthByJudges(t *testing.T) {
	t.Parallel()
	testenv.Slow(t, "others judge dozens of documents")
	p := newPerson(t, newAuthority(t), p256(t))
	folder := t.TempDir()
	var names, paths []string
	for kind, rows := range growthTable {
		for i, row := range rows {
			if !testenv.Full() && kind != "proof" && i%6 != 0 {
				continue
			}
			path := filepath.Join(folder, fmt.Sprintf("%02d.pdf", len(paths)))
			writeFile(t, path, row.document(t, p))
			names, paths = append(names, kind+"/"+row.name), append(paths, path)
		}
	}
	judge := func(t *testing.T, changed func(i int) bool) {
		seen := 0
		for i, path := range paths {
			if !changed(i) {
				continue
			}
			if seen++; grewByProof(t, readFile(t, path), p.ca) {
				t.Errorf("%s: taken for proof", names[i])
			}
		}
		t.Logf("figure: changes in %d of %d", seen, len(paths))
		if seen == 0 {
			t.Error("no change was seen")
		}
	}
	t.Run("EU DSS", func(t *testing.T) {
		reports := validators.DSS(t, validators.DSSOptions{}, paths...)
		judge(t, func(i int) bool {
			r := reports[i]
			return r.Error != "" || len(r.Signatures) != 1 || r.Signatures[0].Modified || r.Signatures[0].UndefinedChange > 0
		})
	})
	t.Run("pyHanko", func(t *testing.T) {
		reports := validators.PyHanko(t, nil, paths...)
		judge(t, func(i int) bool {
			harmless := "LTA_UPDATES"
			switch names[i] {
			case "proof/" + withAppearance: // which PDF/A-1 asks for
				harmless = "FORM_FILLING"
			case "proof/" + withType: // which it takes for the name of a signature, unlike EU DSS
				harmless = "OTHER"
			}
			r := reports[i]
			return r.Error != "" || len(r.Signatures) == 0 || r.Signatures[0].ModificationLevel != harmless
		})
	})
}
