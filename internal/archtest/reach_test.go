package archtest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A program that signs or verifies documents takes on no module but golang.org/x by
// importing these.
func TestLibrariesReachNothingForeign(t *testing.T) {
	for _, name := range []string{"ades", "ades/online", "ades/report", "pades", "stamp", "idp", "storage"} {
		if diff := cmp.Diff([]string(nil), foreign(list(t, "./"+name))); diff != "" {
			t.Errorf("%s reaches (+):\n%s", name, diff)
		}
	}
	if foreign(list(t, "./storage/bolt")) == nil {
		t.Error("nothing foreign in storage/bolt either: the test sees nothing")
	}
}

// foreign are the packages that are neither the standard library's, nor golang.org/x,
// nor ours.
func foreign(packages map[string]listed) []string {
	var out []string
	for path, p := range packages {
		if !p.Standard && p.ours() == "" && !strings.HasPrefix(path, "golang.org/x/") {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out
}

// What only tests use is not in the program.
func TestProgramHasNoTestCode(t *testing.T) {
	reach := list(t, "./cmd/innsigli")
	for path, p := range reach {
		name := p.ours()
		if slices.Contains(strings.Split(path, "/"), "testing") || slices.ContainsFunc(slices.Concat(plan[0], plan[1], plan[2]), func(r room) bool { return r.name == name }) {
			t.Errorf("cmd/innsigli reaches %s", path)
		}
	}
	for _, path := range []string{house + "/pades", "net/http"} {
		if _, ok := reach[path]; !ok {
			t.Errorf("cmd/innsigli does not reach %s: the test sees nothing", path)
		}
	}
}

// Without its build tag a failpoint cannot do anything: the package imports nothing,
// not even the standard library.
func TestFailpointsNeedTheirTag(t *testing.T) {
	for _, test := range []struct {
		tags string
		want []string
	}{
		{"", nil},
		{"failpoints", []string{"os", "strconv", "strings", "syscall", "time"}},
	} {
		p := list(t, "-tags="+test.tags, "./internal/failpoint")[house+"/internal/failpoint"]
		if diff := cmp.Diff(test.want, p.Imports); diff != "" {
			t.Errorf("imports with -tags=%s: %s", test.tags, diff)
		}
	}
}
