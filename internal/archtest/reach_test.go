package archtest_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A program that signs or verifies documents takes on no module but golang.org/x by
// importing these.
func TestLibrariesReachNothingForeign(t *testing.T) {
	for _, name := range []string{"webhook", "xades", "sandbox/ca", "ades", "ades/online", "ades/report", "pades", "stamp", "idp", "storage"} {
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
		if slices.Contains(strings.Split(path, "/"), "testing") || slices.ContainsFunc(slices.Concat(layers[:testLayers]...), func(e entry) bool { return e.path == name }) {
			t.Errorf("cmd/innsigli reaches %s", path)
		}
	}
	for _, path := range []string{modulePath + "/pades", "net/http"} {
		if _, ok := reach[path]; !ok {
			t.Errorf("cmd/innsigli does not reach %s: the test sees nothing", path)
		}
	}
}

// A package that the program does not reach is for tests, for CI and releases, or for readers, as its
// path says.
func TestPathsTellPackagesOfTests(t *testing.T) {
	program := list(t, "./cmd/innsigli")
	for importPath, p := range list(t, "./...") {
		path := p.ours()
		if _, ok := program[importPath]; ok || path == "" {
			continue
		}
		if !regexp.MustCompile(`^(internal/test|tools|docs/examples)/|/(arch|idp|storage)test$`).MatchString(path) {
			t.Errorf("%s is reached by tests alone", path)
		}
	}
}

// Receivers of webhooks take on nothing of the service by importing webhook.
func TestWebhookReachesNothingOfOurs(t *testing.T) {
	for path, p := range list(t, "./webhook") {
		if name := p.ours(); name != "" && name != "webhook" {
			t.Errorf("webhook reaches %s", path)
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
		p := list(t, "-tags="+test.tags, "./internal/failpoint")[modulePath+"/internal/failpoint"]
		if diff := cmp.Diff(test.want, p.Imports); diff != "" {
			t.Errorf("imports with -tags=%s: %s", test.tags, diff)
		}
	}
}
