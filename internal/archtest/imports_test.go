package archtest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// faults says in what the packages depart from the plan, and the plan from its own
// rule that imports go down.
func faults(plan []floor, packages map[string]listed) []string {
	level, rooms := make(map[string]int), make(map[string]room)
	for i, floor := range plan {
		for _, r := range floor {
			level[r.name], rooms[r.name] = i, r
		}
	}
	var out []string
	for name, r := range rooms {
		if _, ok := packages[house+"/"+name]; !ok {
			out = append(out, fmt.Sprintf("%s is in the plan and does not exist", name))
		}
		for _, below := range strings.Fields(r.ours) {
			if l, ok := level[below]; !ok || l <= level[name] {
				out = append(out, fmt.Sprintf("the plan lets %s import %s, which is not below it", name, below))
			}
		}
	}
	for _, p := range packages {
		name := p.ours()
		if name == "" {
			continue
		}
		r, ok := rooms[name]
		if !ok {
			out = append(out, fmt.Sprintf("%s has no room in the plan", name))
			continue
		}
		for _, path := range p.Imports {
			if !r.mayImport(packages[path]) {
				out = append(out, fmt.Sprintf("%s imports %s", name, strings.TrimPrefix(path, house+"/")))
			}
		}
	}
	slices.Sort(out)
	return out
}

func (r room) mayImport(p listed) bool {
	if p.Standard {
		return true
	}
	if name := p.ours(); name != "" {
		return slices.Contains(strings.Fields(r.ours), name)
	}
	return slices.ContainsFunc(strings.Fields(r.others), func(short string) bool {
		return p.Module != nil && p.Module.Path == modules[short]
	})
}

// Imports go down the drawing only, and a domain never imports a sibling.
func TestImportsFollowThePlan(t *testing.T) {
	if diff := cmp.Diff([]string(nil), faults(plan, list(t, "./..."))); diff != "" {
		t.Errorf("departures from the plan of plan_test.go (+):\n%s", diff)
	}
}

// Each departure that the rule is there for is one that it finds.
func TestDeparturesAreFound(t *testing.T) {
	small := []floor{
		{{"wire", "left right leaf", ""}},
		{{"left", "leaf", "uuid"}, {"right", "leaf", ""}},
		{{"leaf", "", ""}},
	}
	for _, test := range []struct {
		name     string
		from, to string
		want     string
		plan     []floor // nil: small
	}{
		{name: "up", from: "leaf", to: house + "/left", want: "leaf imports left"},
		{name: "to a sibling", from: "left", to: house + "/right", want: "left imports right"},
		{name: "another floor's module", from: "leaf", to: "github.com/google/uuid", want: "leaf imports github.com/google/uuid"},
		{name: "an unknown module", from: "left", to: "example.com/other", want: "left imports example.com/other"},
		{name: "a package without a room", from: "attic", to: "fmt", want: "attic has no room in the plan"},
		{name: "a room without a package", plan: append(slices.Clone(small), floor{{"cellar", "", ""}}), want: "cellar is in the plan and does not exist"},
		{name: "a plan that goes up", plan: append(slices.Clone(small), floor{{"cellar", "leaf", ""}}), from: "cellar", to: house + "/leaf",
			want: "the plan lets cellar import leaf, which is not below it"},
		{name: "a plan with siblings", plan: append(slices.Clone(small[:2]), floor{{"leaf", "", ""}, {"cellar", "leaf", ""}}), from: "cellar", to: house + "/leaf",
			want: "the plan lets cellar import leaf, which is not below it"},
	} {
		t.Run(test.name, func(t *testing.T) {
			packages := smallHouse()
			if test.from != "" {
				p := packages[house+"/"+test.from]
				packages[house+"/"+test.from] = ourPackage(test.from, append(p.Imports, test.to)...)
			}
			drawn := small
			if test.plan != nil {
				drawn = test.plan
			}
			if diff := cmp.Diff([]string{test.want}, faults(drawn, packages)); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		if diff := cmp.Diff([]string(nil), faults(small, smallHouse())); diff != "" {
			t.Error(diff)
		}
	})
}

// The same against the real house: an import that is forbidden there is found there.
func TestDeparturesOfTheHouseAreFound(t *testing.T) {
	packages := list(t, "./...")
	for from, to := range map[string]string{
		"pades":      "storage",
		"ades":       "internal/pdf",
		"storage":    "account",
		"busysignal": "signing",
		"account":    "sandbox",
		"signing":    "httpapi",
		"httpapi":    "storage/bolt",
	} {
		p := packages[house+"/"+from]
		changed := map[string]listed{p.ImportPath: ourPackage(from, append(slices.Clone(p.Imports), house+"/"+to)...)}
		for path, p := range packages {
			if _, ok := changed[path]; !ok {
				changed[path] = p
			}
		}
		if want := from + " imports " + to; !slices.Contains(faults(plan, changed), want) {
			t.Errorf("not found: %s", want)
		}
	}
}

func smallHouse() map[string]listed {
	packages := map[string]listed{
		"fmt":                    {ImportPath: "fmt", Standard: true},
		"github.com/google/uuid": foreignPackage("github.com/google/uuid"),
		"example.com/other":      foreignPackage("example.com/other"),
	}
	for _, p := range []listed{
		ourPackage("wire", "fmt", house+"/left", house+"/right"),
		ourPackage("left", "github.com/google/uuid", house+"/leaf"),
		ourPackage("right", house+"/leaf"),
		ourPackage("leaf", "fmt"),
	} {
		packages[p.ImportPath] = p
	}
	return packages
}

func ourPackage(name string, imports ...string) listed {
	p := foreignPackage(house + "/" + name)
	p.Module.Path, p.Imports = house, imports
	return p
}

func foreignPackage(path string) listed {
	return listed{ImportPath: path, Module: &struct{ Path string }{path}}
}
