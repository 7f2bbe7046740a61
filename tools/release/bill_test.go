package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// program is what Go notes in one that consists of the modules of cmd/innsigli.
func program(t *testing.T) (source, built) {
	t.Helper()
	s := source{folder: testenv.Root(t)}
	printed, err := output(t.Context(), s.folder, nil, "go", "list", "-deps",
		"-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}", "./cmd/innsigli")
	if err != nil {
		t.Fatal(err)
	}
	info := &debug.BuildInfo{
		GoVersion: "go1.26.0",
		Main:      debug.Module{Path: "github.com/innsigli/innsigli", Version: "v1.2.3"},
		Settings:  []debug.BuildSetting{{Key: "GOOS", Value: "linux"}},
	}
	seen := make(map[string]bool)
	for line := range strings.Lines(printed) {
		path, version, _ := strings.Cut(strings.TrimSpace(line), " ")
		if path != "" && !seen[path] {
			seen[path] = true
			info.Deps = append(info.Deps, &debug.Module{Path: path, Version: version, Sum: "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="})
		}
	}
	if len(info.Deps) < 10 {
		t.Fatalf("%d modules", len(info.Deps))
	}
	path := filepath.Join(t.TempDir(), "innsigli")
	if err := os.WriteFile(path, []byte("a program"), 0o600); err != nil {
		t.Fatal(err)
	}
	return s, built{target{"linux", "amd64"}, path, info}
}

// Everything in the program comes with its licence. A module without one ends the release.
func TestNotices(t *testing.T) {
	s, b := program(t)
	text, err := s.notices(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range b.info.Deps {
		if !bytes.Contains(text, []byte("\n"+m.Path+" "+m.Version+": ")) {
			t.Errorf("nothing about %s", m.Path)
		}
	}
	for _, words := range []string{"Go 1.26.0: LICENSE", "The Go Authors", "SIL OPEN FONT LICENSE", "PDFium"} {
		if !bytes.Contains(text, []byte(words)) {
			t.Errorf("nothing about %s", words)
		}
	}
	if err := notice(new(bytes.Buffer), "a module", t.TempDir()); err == nil || !strings.Contains(err.Error(), "a module has no licence") {
		t.Error(err)
	}
}

// The schema of CycloneDX takes the bill of materials, and not one with a fault.
func TestBill(t *testing.T) {
	_, b := program(t)
	text, err := b.bill(time.Date(2026, 3, 1, 12, 30, 10, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range b.info.Deps {
		if !bytes.Contains(text, []byte(`"pkg:golang/`+m.Path+"@")) {
			t.Errorf("nothing about %s", m.Path)
		}
	}
	if !bytes.Contains(text, []byte("0e0d1b1c")) == bytes.Contains(text, []byte(`"content": ""`)) {
		t.Error("a checksum is empty")
	}
	schema := cycloneDX(t)
	if err := valid(t, schema, text); err != nil {
		t.Error(err)
	}
	for _, fault := range [][2]string{{`"SHA-256"`, `"SHA-257"`}, {`"library"`, `"books"`}, {`"name"`, `"names"`}, {`2026-03-01T`, `2026-03-01 `}} {
		if err := valid(t, schema, bytes.Replace(text, []byte(fault[0]), []byte(fault[1]), 1)); err == nil {
			t.Errorf("with %s it is valid as well", fault[1])
		}
	}
}

// cycloneDX is the schema, of a package of those who keep it.
func cycloneDX(t *testing.T) *jsonschema.Schema {
	t.Helper()
	folder := filepath.Dir(testenv.Tool(t, "sbom/node_modules/@cyclonedx/cyclonedx-library/res/schema/bom-1.6.SNAPSHOT.schema.json"))
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	for _, name := range []string{"spdx.SNAPSHOT.schema.json", "jsf-0.82.SNAPSHOT.schema.json", "bom-1.6.SNAPSHOT.schema.json"} {
		content, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(content))
		if err == nil {
			err = c.AddResource("http://cyclonedx.org/schema/"+name, document)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	schema, err := c.Compile("http://cyclonedx.org/schema/bom-1.6.SNAPSHOT.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func valid(t *testing.T, schema *jsonschema.Schema, text []byte) error {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return schema.Validate(document)
}
