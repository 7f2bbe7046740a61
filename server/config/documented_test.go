package config

import (
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

const configurationPage = "docs/configuration.md"

// documentedKey is a row of a section's table.
type documentedKey struct{ section, name, kind string }

// documentedKeys are those of the page.
func documentedKeys(t *testing.T) (keys []documentedKey) {
	t.Helper()
	section, table := "", regexp.MustCompile("^\\| `([a-z-]+)` \\| ([^|]*) \\|")
	for line := range strings.Lines(string(testenv.ReadFile(t, filepath.Join(testenv.Root(t), configurationPage)))) {
		if heading, ok := strings.CutPrefix(line, "### "); ok {
			section = strings.TrimSpace(heading)
		}
		if row := table.FindStringSubmatch(line); row != nil && section != "" {
			keys = append(keys, documentedKey{section, row[1], row[2]})
		}
	}
	return keys
}

// Each key that the page has is one of its section, and of its type.
func TestDocumentedKeys(t *testing.T) {
	keys := documentedKeys(t)
	if len(keys) < 100 {
		t.Fatalf("%d keys", len(keys))
	}
	for _, key := range append(keys, documentedKey{"[trust]", "invented", "string"}) {
		kind, ok := map[string]string{"number": "a whole number", "yes/no": "true or false", "strings": "an array of strings", "files": "an array of strings"}[key.kind]
		if !ok {
			kind = "a string"
		}
		name, parent := strings.Trim(key.section, "[]"), ""
		if of, _, nested := strings.Cut(name, "."); nested {
			parent = "[" + of + "]\n"
		}
		if name == "login.endpoints" {
			parent += "[login.phone]\n" // one of them is for that
		}
		_, found := fileOf(t, fmt.Sprintf("%s%s\n%s = 2026-01-01\n", parent, key.section, key.name))
		where := name
		if strings.HasPrefix(key.section, "[[") {
			where += "[0]"
		}
		want := fmt.Sprintf("%s.%s: must be %s", where, key.name, kind)
		if key.name == "invented" {
			want = "trust.invented: is unknown: check its spelling"
		}
		if !slices.Contains(found, want) {
			t.Errorf("%s %s: no fault %q among\n%s", key.section, key.name, want, strings.Join(found, "\n"))
		}
	}
}

// Each key of the file is on the page, under its section.
func TestKeysAreDocumented(t *testing.T) {
	page := documentedKeys(t)
	checked := 0
	var check func(section string, of reflect.Type)
	check = func(section string, of reflect.Type) {
		for i := range of.NumField() {
			field := of.Field(i)
			key, kind := field.Tag.Get("toml"), field.Type
			if kind.Kind() == reflect.Pointer {
				kind = kind.Elem()
			}
			table := kind.Kind() == reflect.Struct && !reflect.PointerTo(kind).Implements(reflect.TypeFor[interface{ UnmarshalText([]byte) error }]())
			switch name := strings.TrimPrefix(section+"."+key, "."); {
			case key == "" && field.Anonymous:
				check(section, kind)
			case key == "":
			case table:
				check(name, kind)
			case kind.Kind() == reflect.Slice && kind.Elem().Kind() == reflect.Struct:
				check("["+name+"]", kind.Elem())
			case kind.Kind() == reflect.Map: // which has any key
			default:
				checked++
				one := key
				if name == "identity-provider.endpoints.authorization" { // which is of [login.endpoints] alone
					continue
				}
				if !slices.ContainsFunc(page, func(k documentedKey) bool { return k.name == one && k.section == "["+section+"]" }) {
					t.Errorf("%s has no %s in [%s]", configurationPage, one, section)
				}
			}
		}
	}
	check("", reflect.TypeFor[File]())
	if checked < 80 {
		t.Errorf("the test sees %d keys", checked)
	}
}
