package pdf

import (
	"bytes"
	"regexp"
	"testing"

	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
)

// What is appended to a hybrid file is a table alone.
func TestHybrid(t *testing.T) {
	table, hybrid := tableFile(), hybridFile()
	section := int64(bytes.LastIndex(hybrid, []byte("\nxref\n")) + 1)
	for _, tt := range []struct {
		name    string
		content []byte
		offset  int64
		want    bool
	}{
		{"table", table, 0, false},
		{"hybrid", hybrid, 0, true},
		{"hybrid, from its table on", hybrid, section, true},
		{"hybrid, behind its table", hybrid, section + 1, false},
		{"update of a hybrid", updatedCatalog(t, hybrid), int64(len(hybrid)), false},
		{"update of a hybrid, from the start", updatedCatalog(t, hybrid), 0, true},
	} {
		if got := mustOpen(t, tt.content).Hybrid(tt.offset); got != tt.want {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
}

// 7.5.8.4: what the table calls free is hidden in its XRefStm, unless a later table says so.
func TestHiddenObjects(t *testing.T) {
	hidden := Ref{Num: 100}
	content := pdftest.Build(pdftest.Options{Kind: pdftest.Hybrid, Objects: []string{"(hidden)"}})
	update := mustOpen(t, content).NewUpdate()
	update.Set(hidden, []byte("(later)"))
	appended, _, err := update.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	later := append(bytes.Clone(content), appended...)
	freed := append(bytes.Clone(content), regexp.MustCompile(`(\d{10}) 00000 n`).ReplaceAll(appended, []byte("0000000000 00001 f"))...)
	for _, tt := range []struct {
		name    string
		content []byte
		want    Object
	}{{"hidden", content, String("hidden")}, {"replaced", later, String("later")}, {"freed", freed, nil}} {
		f := mustOpen(t, tt.content)
		got, err := f.Object(hidden)
		if err != nil || got != tt.want {
			t.Errorf("%s: %v, %v", tt.name, got, err)
		}
		if none, err := f.Object(Ref{Num: 50}); err != nil || none != nil {
			t.Errorf("%s: %v, %v where there is nothing", tt.name, none, err)
		}
	}
}
