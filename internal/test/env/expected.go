package env

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ForeignFile is a row of a corpus folder's expected.tsv.
type ForeignFile struct {
	Name, Path string
	Says       map[string]string // what other programs say of the file, by the table's head
}

// Expected returns the files of a folder of foreign files in the order of its table.
func Expected(t testing.TB, sub string) []ForeignFile {
	t.Helper()
	folder := Corpus(t, sub)
	table, err := os.ReadFile(filepath.Join(folder, "expected.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var head []string
	var files []ForeignFile
	for line := range strings.Lines(string(table)) {
		columns := strings.Split(strings.TrimRight(line, "\r\n"), "\t")
		if head == nil {
			head = columns
			continue
		}
		f := ForeignFile{Name: columns[0], Path: filepath.Join(folder, columns[0]), Says: make(map[string]string)}
		for i, column := range columns[:min(len(columns), len(head))] {
			f.Says[head[i]] = column
		}
		files = append(files, f)
	}
	if len(files) == 0 {
		t.Fatalf("no file in %s/expected.tsv", sub)
	}
	return files
}
