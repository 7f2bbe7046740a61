package form

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/innsigli/innsigli/internal/pdf"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
)

// TestPermission reads P of DocMDP transforms (ISO 32000-2 table 257): 1, 2 or 3, and 2 if it is absent. Any other value
// is returned as -1.
func TestPermission(t *testing.T) {
	for parameters, want := range map[string]Permission{
		"": FormFilling, "/P 1": NoChanges, "/P 2": FormFilling, "/P 3": Annotations, "/P 3.0": Annotations,
		"/P 0": -1, "/P 4": -1, "/P -1": -1, "/P 0.5": -1, "/P 2.9": -1, "/P 1000000": -1,
	} {
		b := pdftest.Build(pdftest.Options{
			Catalog: "/Perms << /DocMDP 100 0 R >>",
			Objects: []string{fmt.Sprintf("<< /Type /Sig /Reference [<< /TransformMethod /DocMDP /TransformParams << %s >> >>] >>", parameters)},
		})
		file, err := pdf.Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		var got []Permission
		if err := EachCertificationLock(file, func(l Lock) error { got = append(got, l.Permission); return nil }); err != nil {
			t.Fatal(err)
		}
		if len(got) != 1 || got[0] != want {
			t.Errorf("%q: got %v, want %d", parameters, got, want)
		}
	}
}
