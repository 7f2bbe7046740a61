package wiretest

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// examples are how many requests Schemathesis makes up for an operation.
func examples() int {
	if testenv.Full() {
		return 2000
	}
	return 10
}

// shard is what one Schemathesis asks of a server of its own, so that two processors have work. What belongs
// together stays together, as one request leads to the next.
type shard struct{ name, paths string }

// The paths of one shard, and those of the other. The latter is for Python, whose expressions look ahead; with
// all but these, Schemathesis would leave the document's own path out.
const (
	processes = `^/api/v1/(portal|sandbox/portal)/`
	allElse   = `^/(?!api/v1/(portal|sandbox/portal)/)`
)

func (s shard) has(path string) bool {
	return regexp.MustCompile(processes).MatchString(path) == (s.paths == processes)
}

// Whatever the server is asked, it answers what its document says; and what the document allows it takes, what
// it does not allow it refuses. .ci/schemathesis has the settings, and what the requests are about.
func TestSchemathesis(t *testing.T) {
	testenv.Slow(t, "thousands of calls")
	t.Parallel()
	settings := filepath.Join(testenv.Root(t), ".ci", "schemathesis")
	st := testenv.Tool(t, "schemathesis/bin/st")
	for _, part := range []shard{{"processes and webhooks", processes}, {"all else", allElse}} {
		t.Run(part.name, func(t *testing.T) {
			t.Parallel()
			server, folder := Sandbox(t, "--insecure-allow-private-webhooks"), t.TempDir()
			token, counts := server.token(t), filepath.Join(folder, "counts.json")
			command := exec.CommandContext(t.Context(), st, "--config-file", configuration(t, settings, folder), "run", server.BaseURL+"/openapi.json",
				"--include-path-regex", part.paths, "--max-examples", fmt.Sprint(examples()), "--no-color")
			command.Dir = folder
			command.Env = slices.Concat(os.Environ(), server.fixtures(t, token), []string{"INNSIGLI_COUNTS=" + counts,
				"SCHEMATHESIS_HOOKS=" + filepath.Join(settings, "hooks.py"), "PYTHONDONTWRITEBYTECODE=1"})
			output, err := command.CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, output)
			}
			t.Logf("figure: Schemathesis on %s: %s", part.name, testCases.Find(output))
			server.stillTakes(t, token)
			judge(t, asked(t, server.Fetch(t, "/openapi.json"), part), counts)
		})
	}
}

// configuration has as many sequences of requests as there are tens of examples, as each is of several requests; and
// two at least.
func configuration(t *testing.T, settings, folder string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(settings, "schemathesis.toml"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "schemathesis.toml")
	write(t, path, fmt.Appendf(content, "\n[phases.stateful.generation]\nmax-examples = %d\n", max(2, examples()/10)))
	return path
}

var testCases = regexp.MustCompile(`\d+ generated, .*`)

// asked are the operations of a document that a shard asks, and whether something of their requests can be
// made up.
func asked(t *testing.T, document []byte, shard shard) map[string]bool {
	t.Helper()
	var d struct {
		Paths map[string]map[string]struct {
			Parameters  []any
			RequestBody any
		}
	}
	if err := json.Unmarshal(document, &d); err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for path, methods := range d.Paths {
		for method, o := range methods {
			if shard.has(path) {
				all[strings.ToUpper(method)+" "+path] = len(o.Parameters) > 0 || o.RequestBody != nil
			}
		}
	}
	return all
}

// judge reads how often each operation was asked, and shows what it answered. Each has had its requests; one in
// which nothing can be made up has had at least one.
func judge(t *testing.T, asked map[string]bool, counts string) {
	t.Helper()
	var by map[string]map[string]int
	content, err := os.ReadFile(counts)
	if err == nil {
		err = json.Unmarshal(content, &by)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, operation := range slices.Sorted(maps.Keys(asked)) {
		all, line := 0, []string{}
		for _, status := range slices.Sorted(maps.Keys(by[operation])) {
			all += by[operation][status]
			line = append(line, fmt.Sprintf("%s: %d", status, by[operation][status]))
		}
		t.Logf("figure: %s: %d (%s)", operation, all, strings.Join(line, ", "))
		if least := examples(); all < 1 || asked[operation] && all < least {
			t.Errorf("%s was asked %d times", operation, all)
		}
	}
}
