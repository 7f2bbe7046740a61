package pdf

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
)

// An empty update that some readers take for damaged is the same to those that rebuild the
// cross-reference, unless there is something to find that no section lists.
func TestPlainlyLeadsTo(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		object, trailer, startxref string
		want                       bool
	}{
		"to the letter":                     {"<< >>", "/Prev PREV", "\nAT", true},
		"a fraction":                        {"<< >>", "/Prev PREV.0", "\nAT", true},
		"a comment":                         {"<< >>", "/Prev PREV", " % x\nAT", true},
		"a fraction and a hidden object":    {"(1 0 obj)", "/Prev PREV.0", "\nAT", false},
		"a comment and a hidden object":     {"(1 0 obj)", "/Prev PREV", " % x\nAT", false},
		"a sign and a hidden object":        {"(1 0 obj)", "/Prev PREV", "\n+AT", false},
		"a fraction and a hidden trailer":   {"(trailer << /Root 1 0 R >>)", "/Prev PREV.0", "\nAT", false},
		"a fraction and a word":             {"(trailers)", "/Prev PREV.0", "\nAT", true},
		"the letter, and a hidden object":   {"(1 0 obj)", "/Prev PREV", "\nAT", true},
		"a key twice":                       {"<< >>", "/Prev 5 /Prev PREV", "\nAT", false},
		"another key twice, and no objects": {"<< >>", "/Prev PREV /X 1 /X 2", "\nAT", false},
	} {
		t.Run(name, func(t *testing.T) {
			b := pdftest.Build(pdftest.Options{Objects: []string{tt.object}})
			before := opened(t, b)
			tail := "xref\n0 0\ntrailer\n<< /Size 500 /Root 1 0 R " + tt.trailer + " >>\nstartxref" + tt.startxref + "\n%%EOF\n"
			tail = strings.NewReplacer("PREV", fmt.Sprint(before.startxref), "AT", fmt.Sprint(len(b))).Replace(tail)
			got, err := opened(t, append(bytes.Clone(b), tail...)).LeadsStrictlyTo(before)
			if got != tt.want || err != nil {
				t.Errorf("%t, %v", got, err)
			}
		})
	}
}
