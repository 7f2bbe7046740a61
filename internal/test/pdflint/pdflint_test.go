package pdflint_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/internal/test/pdflint"
)

// row is an increment that breaks a rule, in the way that the fault's text says.
type row struct {
	rule  pdflint.Rule
	says  string
	file  fixture
	spoil func(*increment)
}

// Every rule finds the increment that breaks it, and a good one breaks none.
func TestRules(t *testing.T) {
	s := newSigner(t)
	untested := everyRule(t)
	delete(untested, pdflint.Store) // see TestStore
	for _, test := range slices.Concat(rulesOfFile, rulesOfContent) {
		delete(untested, test.rule)
		t.Run(string(test.rule)+"/"+test.says+"/"+test.file.name, func(t *testing.T) {
			base := test.file.base(t, s)
			i := &increment{t, base, s.sign(t, base, test.file.options)}
			if faults := pdflint.CheckAt(test.file.place(), i.base, i.whole); len(faults) > 0 {
				t.Errorf("before anything is spoilt: %v", faults)
			}
			test.spoil(i)
			faults := pdflint.CheckAt(test.file.place(), i.base, i.whole)
			found := slices.ContainsFunc(faults, func(f pdflint.Fault) bool {
				return f.Rule == test.rule && strings.Contains(f.Text, test.says)
			})
			if !found {
				t.Errorf("not found among %v", faults)
			}
		})
	}
	for rule := range untested {
		t.Errorf("no increment breaks the rule %q", rule)
	}
}

// everyRule reads the rules from where they are declared.
func everyRule(t *testing.T) map[pdflint.Rule]bool {
	t.Helper()
	source, err := os.ReadFile("pdflint.go")
	if err != nil {
		t.Fatal(err)
	}
	rules := make(map[pdflint.Rule]bool)
	for _, m := range regexp.MustCompile(`\sRule\s+= "([^"]+)"`).FindAllSubmatch(source, -1) {
		rules[pdflint.Rule(m[1])] = true
	}
	if len(rules) < 20 {
		t.Fatalf("%d rules found", len(rules))
	}
	return rules
}
