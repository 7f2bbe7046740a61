package handbook_test

import (
	"fmt"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
)

// What the tutorial and the how-tos have typed does what they say. The blocks of a page run one after
// another in one shell, in a folder with a document.pdf:
//
//	sh             as it stands there
//	sh server      in the background, in place of a server before it at the same address; what follows
//	               waits until it is ready
//	sh unrun: why  not here, for the reason given
//	output         lines that are printed in this order, or begin so, with … for what varies
//
// Ports of 127.0.0.1 and databases of 'postgres://innsigli@db.example/NAME?sslmode=verify-full' are the test's own.
func TestPagesDoWhatTheySay(t *testing.T) {
	testenv.Slow(t, "what the pages type is run")
	for _, p := range pages(t) {
		if p.isRun() {
			t.Run(p.path, func(t *testing.T) {
				t.Parallel()
				p.run(t)
			})
		}
	}
}

// isRun says whether the blocks of a page are run here: of the tutorial, the how-tos, and the older pages that are
// as good as how-tos.
func (p page) isRun() bool {
	_, older := given[p.path]
	return p.path == "docs/tutorial.md" || older || path.Dir(p.path) == "docs/how-to" && p.path != severalServers
}

// severalServers is a page whose blocks are for several machines; see .ci/full.
const severalServers = "docs/how-to/several-servers.md"

// given is what older pages take to be there.
var given = map[string]string{
	"docs/production.md": "",
	"docs/stamps.md":     "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=Jóna -addext basicConstraints=critical,CA:FALSE -addext keyUsage=critical,nonRepudiation -keyout key.pem -out chain.pem 2>/dev/null\nmv document.pdf contract.pdf\n",
}

// Shell in docs/ is run, here or by a test of the package that the page is about, or listed with the reason why not.
func TestShellIsRunOrSaysWhyNot(t *testing.T) {
	others := map[string]string{
		severalServers:     ".ci/full",
		"docs/webhooks.md": "packages webhook and cmd/innsigli",
		"docs/xml.md":      "cmd/innsigli",
	}
	for _, p := range pages(t) {
		if !strings.HasPrefix(p.path, "docs/") || p.isRun() || others[p.path] != "" {
			continue
		}
		for _, b := range p.blocks {
			kind, reason, _ := strings.Cut(b.rest(), ":")
			if l := b.language(); (l == "sh" || l == "shell") && (kind != "unrun" || len(strings.TrimSpace(reason)) <= 10) {
				t.Errorf("%s: nothing runs, and nothing says why not:\n%s", p.path, b.text)
			}
		}
	}
}

// run runs the shell of a page.
func (p page) run(t *testing.T) {
	t.Helper()
	script, want := p.script(t)
	if script == preamble {
		return // it has Go alone
	}
	for _, tool := range []string{"curl", "jq", "openssl", "pg_dump"} {
		if strings.Contains(script, tool) {
			testenv.Program(t, tool)
		}
	}
	command := exec.CommandContext(t.Context(), testenv.Program(t, "bash"), "-c", script)
	command.Dir, command.Env, command.WaitDelay = folder(t), environment(t), time.Minute
	output, err := command.CombinedOutput()
	if err != nil {
		logs, _ := filepath.Glob(filepath.Join(command.Dir, "*.server"))
		t.Fatalf("%v\n%s\n--- printed:\n%s\n--- servers:\n%s", err, script, output, read(t, logs...))
	}
	rest := string(output)
	for _, line := range want {
		expression := regexp.MustCompile(strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*"))
		found := expression.FindStringIndex(rest)
		if found == nil {
			t.Fatalf("it printed\n%s\nwithout %q, or too early", output, line)
		}
		rest = rest[found[1]:]
	}
}

// script is what the blocks of a page come to, and the lines that it prints.
func (p page) script(t *testing.T) (script string, prints []string) {
	t.Helper()
	var out strings.Builder
	out.WriteString(preamble + given[p.path])
	for _, b := range p.blocks {
		kind, reason, _ := strings.Cut(b.rest(), ":")
		switch {
		case b.language() == "output":
			prints = append(prints, strings.Split(strings.TrimSpace(b.text), "\n")...)
		case b.language() != "sh":
		case kind == "":
			out.WriteString(b.text)
		case kind == "server":
			fmt.Fprintf(&out, "serve %s <<'END'\n%sEND\n", b.address(), b.text)
		case kind == "unrun" && len(strings.TrimSpace(reason)) > 10:
			t.Logf("not run, because%s:\n%s", reason, b.text)
		default:
			t.Errorf("a block of %q", b.info)
		}
	}
	return p.ours(t, out.String()), prints
}

// preamble begins each script. serve ADDRESS starts the server that is on standard input.
const preamble = `set -euo pipefail
declare -A servers
trap 'kill "${servers[@]}" 2>/dev/null || true; wait' EXIT
serve() {
	if [[ -n ${servers[$1]:-} ]]; then kill "${servers[$1]}"; wait "${servers[$1]}"; fi
	bash -c "exec $(cat)" >"$1.server" 2>&1 & servers[$1]=$!
	until curl --silent --fail --output /dev/null "http://$1/readyz"; do kill -0 "${servers[$1]}"; sleep 0.05; done
}
`

// address is where a server listens.
func (b block) address() string {
	if m := regexp.MustCompile(`--listen[ =](\S+)`).FindStringSubmatch(b.text); m != nil {
		return m[1]
	}
	return "127.0.0.1:8080" // the sandbox's default, which gets a flag
}

// limits are settings of a URL that pg_dump does not know.
var limits = regexp.MustCompile(`&(statement|lock|idle_in_transaction_session)_timeout=\d+`)

// ours is a script with addresses of the test's own.
func (p page) ours(t *testing.T, script string) string {
	t.Helper()
	own := map[string]string{}
	script = regexp.MustCompile(`(innsigli sandbox)( |\n)`).ReplaceAllString(script, "$1 --listen 127.0.0.1:8080$2")
	script = regexp.MustCompile(`(127\.0\.0\.1|localhost):80\d\d`).ReplaceAllStringFunc(script, func(address string) string {
		port := address[strings.Index(address, ":"):]
		if own[port] == "" {
			own[port] = testenv.Address(t)
		}
		return own[port]
	})
	database := regexp.MustCompile(`'postgres://innsigli@db\.example/(\w+)\?sslmode=verify-full'`)
	return database.ReplaceAllStringFunc(script, func(quoted string) string {
		name := database.FindStringSubmatch(quoted)[1]
		if own[name] == "" {
			own[name] = "'" + limits.ReplaceAllString(postgrestest.Database(t), "") + "'"
		}
		return own[name]
	})
}

func read(t *testing.T, paths ...string) (all string) {
	t.Helper()
	for _, path := range paths {
		all += string(contents(t, path))
	}
	return all
}
