package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"runtime/debug"
	"strings"
	"time"
)

// A bill of materials in JSON: CycloneDX 1.6 (ECMA-424), as much of it as Go notes in a program.
type (
	bill struct {
		Format       string       `json:"bomFormat"`
		Spec         string       `json:"specVersion"`
		Version      int          `json:"version"`
		Metadata     metadata     `json:"metadata"`
		Components   []component  `json:"components"`
		Dependencies []dependency `json:"dependencies"`
	}
	metadata struct {
		Timestamp string    `json:"timestamp"`
		Component component `json:"component"`
	}
	component struct {
		Ref        string     `json:"bom-ref"`
		Type       string     `json:"type"`
		Name       string     `json:"name"`
		Version    string     `json:"version,omitempty"`
		Licences   []licence  `json:"licenses,omitempty"`
		Hashes     []sum      `json:"hashes,omitempty"`
		Package    string     `json:"purl,omitempty"`
		Properties []property `json:"properties,omitempty"`
	}
	licence struct {
		Expression string `json:"expression"` // SPDX
	}
	sum struct {
		Algorithm string `json:"alg"`
		Content   string `json:"content"`
	}
	property struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	dependency struct {
		Ref string   `json:"ref"`
		On  []string `json:"dependsOn"`
	}
)

// bill lists what is in the program: it is read from the program itself, not from what was meant to be built.
func (b built) bill(at time.Time) ([]byte, error) {
	program, err := os.ReadFile(b.path)
	if err != nil {
		return nil, err
	}
	own := module(b.info.Main)
	own.Type, own.Licences = "application", []licence{{"Apache-2.0"}}
	own.Hashes = []sum{{"SHA-256", fmt.Sprintf("%x", sha256.Sum256(program))}}
	for _, s := range b.info.Settings {
		own.Properties = append(own.Properties, property{"go:build:" + s.Key, s.Value})
	}
	parts := []component{module(debug.Module{Path: "std", Version: strings.TrimPrefix(b.info.GoVersion, "go")})}
	for _, m := range b.info.Deps {
		parts = append(parts, module(*m))
	}
	parts = append(parts, inside...)
	on := dependency{Ref: own.Ref}
	for _, p := range parts {
		on.On = append(on.On, p.Ref)
	}
	text := new(bytes.Buffer)
	encoder := json.NewEncoder(text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err = encoder.Encode(bill{
		Format: "CycloneDX", Spec: "1.6", Version: 1,
		Metadata:   metadata{at.Format(time.RFC3339), own},
		Components: parts, Dependencies: []dependency{on},
	})
	return text.Bytes(), err
}

// inside is what Go does not know of: docs/licences.md.
var inside = []component{
	{Ref: "noto-sans", Type: "file", Name: "Noto Sans", Licences: []licence{{"OFL-1.1"}}},
	{Ref: "pdfium", Type: "library", Name: "PDFium", Licences: []licence{{"Apache-2.0 AND BSD-3-Clause"}}},
}

// module is a component, named as the specification of package URLs has it for Go.
func module(m debug.Module) component {
	name := "pkg:golang/" + m.Path + "@" + url.QueryEscape(m.Version)
	c := component{Ref: name, Type: "library", Name: m.Path, Version: m.Version, Package: name}
	// A checksum of go.sum is a SHA-256, of the list of the files with theirs.
	if raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:")); err == nil && len(raw) == sha256.Size {
		c.Hashes = []sum{{"SHA-256", hex.EncodeToString(raw)}}
	}
	return c
}
