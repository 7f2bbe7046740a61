package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// The page of the configuration has each flag with its default, as the program has them.
func TestDocumentedFlags(t *testing.T) {
	for _, command := range []string{"serve", "sandbox"} {
		testenv.SameAsTable(t, "docs/configuration.md", "flags of "+command, flagTable(t, command))
	}
}

func flagTable(t *testing.T, command string) string {
	t.Helper()
	app, err := kong.New(&cli{}, kong.DefaultEnvars("INNSIGLI"))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(app.Model.Children, func(n *kong.Node) bool { return n.Name == command })
	var b strings.Builder
	b.WriteString("| Flag | Default | Meaning |\n|---|---|---|\n")
	for _, f := range app.Model.Children[i].Flags {
		name, otherwise := "--"+f.Name, ""
		if f.Name == "help" {
			continue
		}
		if !f.IsBool() {
			name += " " + strings.TrimPrefix(f.FormatPlaceHolder(), "=")
		}
		switch {
		case f.Required:
			otherwise = "required"
		case f.Default != "":
			otherwise = "`" + f.Default + "`"
		}
		help := regexp.MustCompile(` \(default \$?\{?[^)]*\)`).ReplaceAllStringFunc(f.Help, func(said string) string {
			if strings.Contains(said, f.Default) && f.Default != "" || strings.Contains(said, "${default}") {
				return ""
			}
			return said
		})
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, otherwise, strings.ReplaceAll(help, "|", `\|`))
	}
	return b.String()
}
