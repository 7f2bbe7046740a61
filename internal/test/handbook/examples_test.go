package handbook_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// language is a folder of docs/examples: how its programs are run, in a folder where they may be built.
type language struct {
	name    string
	sign    func(t *testing.T, folder string) []string
	webhook func(t *testing.T, folder string) []string // nil: no server
}

var languages = []language{
	{"curl", func(t *testing.T, _ string) []string {
		for _, tool := range []string{"curl", "jq"} {
			testenv.Program(t, tool)
		}
		return []string{testenv.Program(t, "bash"), example(t, "curl/sign.sh")}
	}, nil},
	{"go", goExample("sign"), goExample("webhook")},
	{"python", pythonExample("sign.py"), pythonExample("webhook.py")},
	{"typescript", typeScript("sign"), typeScript("webhook")},
	{"csharp", cSharp("Sign"), cSharp("Webhook")},
}

func example(t *testing.T, name string) string {
	t.Helper()
	return filepath.Join(testenv.Root(t), "docs", "examples", filepath.FromSlash(name))
}

func goExample(name string) func(*testing.T, string) []string {
	return func(t *testing.T, _ string) []string {
		noticeChanges(t)
		path, err := goBuilds("./docs/examples/go/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return []string{path}
	}
}

func pythonExample(name string) func(*testing.T, string) []string {
	return func(t *testing.T, _ string) []string {
		return []string{testenv.Program(t, "python3"), example(t, "python/"+name)}
	}
}

// typeScript has tsc look at the examples, and runs the JavaScript that it makes of them.
func typeScript(name string) func(*testing.T, string) []string {
	return func(t *testing.T, _ string) []string {
		node, tools := testenv.Tool(t, "openid/bin/node"), testenv.Tool(t, "openapi/node_modules")
		if err := scripts(node, tools, example(t, "typescript")); err != nil {
			t.Fatal(err)
		}
		return []string{node, filepath.Join(builds, name+".js")}
	}
}

// scripts has tsc make JavaScript of all examples at once, the first time.
func scripts(node, tools, source string) error {
	compiled.Do(func() {
		said, err := exec.Command(node, filepath.Join(tools, "typescript", "lib", "tsc.js"), "--project", source,
			"--outDir", builds, "--typeRoots", filepath.Join(tools, "@types")).CombinedOutput()
		if err != nil {
			compiled.err = fmt.Errorf("tsc: %w\n%s", err, said)
			return
		}
		compiled.err = os.WriteFile(filepath.Join(builds, "package.json"), []byte(`{"type": "module"}`), 0o600)
	})
	return compiled.err
}

var compiled struct {
	sync.Once
	err error
}

// cSharp builds and runs an example with Mono.
func cSharp(name string) func(*testing.T, string) []string {
	return func(t *testing.T, folder string) []string {
		program := filepath.Join(folder, name+".exe")
		compile(t, folder, testenv.Program(t, "mcs"), "-warnaserror", "-langversion:7",
			"-r:System.Net.Http,System.Runtime.Serialization,System.Xml,System.Xml.Linq", "-out:"+program, example(t, "csharp/"+name+".cs"))
		return []string{testenv.Program(t, "mono"), program}
	}
}

func compile(t *testing.T, folder string, command ...string) {
	t.Helper()
	compiler := exec.CommandContext(t.Context(), command[0], command[1:]...)
	compiler.Dir = folder
	if said, err := compiler.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", command, err, said)
	}
}

// The example of each language signs a PDF, and another time, when the sandbox user is there.
func TestExamplesSign(t *testing.T) {
	testenv.Slow(t, "programs in each language are built and run")
	s := theSandbox(t)
	root := filepath.Join(folder(t), "root.pem")
	write(t, root, []byte(s.RootCertificate))
	for _, l := range languages {
		t.Run(l.name, func(t *testing.T) {
			work := folder(t)
			command := l.sign(t, work)
			sign := func(secret string) (string, error) {
				run := exec.CommandContext(t.Context(), command[0], append(command[1:], "document.pdf", "signed.pdf")...)
				run.Dir = work
				run.Env = environment(t, "INNSIGLI_URL="+s.BaseURL, "CLIENT_ID="+s.ClientID, "CLIENT_SECRET="+secret)
				said, err := run.CombinedOutput()
				return string(said), err
			}
			if said, err := sign(s.ClientSecret); err != nil || !strings.Contains(said, "The phone shows 1234.") {
				t.Fatalf("%v\n%s", err, said)
			}
			verify := exec.CommandContext(t.Context(), program(t), "verify", "signed.pdf", "--trust", root)
			verify.Dir = work
			if said, err := verify.CombinedOutput(); err != nil || !strings.Contains(string(said), "PAdES-BASELINE-LT") {
				t.Errorf("%v\n%s", err, said)
			}
			if said, err := sign("another"); err == nil {
				t.Errorf("it does not fail with another secret:\n%s", said)
			}
		})
	}
}
