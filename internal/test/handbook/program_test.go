package handbook_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
)

func TestMain(m *testing.M) { postgrestest.Main(workshop{m}) }

// workshop has a folder for what is built for the tests.
type workshop struct{ *testing.M }

var builds string

func (w workshop) Run() int {
	folder, err := os.MkdirTemp("", "innsigli-handbook")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	builds = folder
	status := w.M.Run()
	if err := stopSandbox(); err != nil {
		fmt.Fprintln(os.Stderr, "the sandbox:", err)
		return 1
	}
	return status
}

// program is the path of the program, built once.
func program(t *testing.T) string {
	t.Helper()
	noticeChanges(t)
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var built = sync.OnceValues(func() (string, error) { return goBuilds("./cmd/innsigli") })

// goBuilds builds a program of the module.
func goBuilds(source string) (string, error) {
	path := filepath.Join(builds, filepath.Base(source))
	command := exec.Command("go", "build", "-o", path, source)
	command.Dir = filepath.Join("..", "..", "..")
	if said, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, said)
	}
	return path, nil
}

// noticeChanges looks at every Go file: what the go command reads for a test does not count when
// "go test" asks whether a result in its cache still holds.
func noticeChanges(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(testenv.Root(t), func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && len(entry.Name()) > 1 && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case strings.HasSuffix(path, ".go"):
			_, err = os.Stat(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// folder is a folder of a reader's own, with a document.pdf in it.
func folder(t *testing.T) string {
	t.Helper()
	path, err := os.MkdirTemp("", "innsigli") // not t.TempDir, whose path is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(path) })
	write(t, filepath.Join(path, "document.pdf"), pdftest.Build(pdftest.Options{}))
	return path
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// environment is that of a reader who has the program, and of whose settings none is left.
func environment(t *testing.T, more ...string) []string {
	t.Helper()
	out := []string{
		"PATH=" + filepath.Dir(program(t)) + string(filepath.ListSeparator) + os.Getenv("PATH"),
		"INNSIGLI_RENDERER_CACHE=" + testenv.RendererCache(),
	}
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "INNSIGLI_") && !strings.HasPrefix(variable, "PATH=") {
			out = append(out, variable)
		}
	}
	return append(out, more...)
}

// sandbox is what one says when it listens.
type sandbox struct {
	BaseURL         string
	ClientID        string
	ClientSecret    string
	RootCertificate string
}

// shared is the sandbox of all tests, which is started for the first of them and ends with the last.
var shared struct {
	sync.Once
	sandbox
	run *exec.Cmd
	err error
}

func theSandbox(t *testing.T) sandbox {
	t.Helper()
	path, environment := program(t), environment(t)
	shared.Do(func() {
		shared.run = exec.Command(path, "sandbox", "--json", "--listen", "127.0.0.1:0", "--insecure-allow-private-webhooks")
		shared.run.Dir, shared.run.Env, shared.run.Stderr = builds, environment, os.Stderr
		out, err := shared.run.StdoutPipe()
		if err == nil {
			err = shared.run.Start()
		}
		if err == nil {
			err = json.NewDecoder(out).Decode(&shared.sandbox)
		}
		shared.err = err
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.sandbox
}

// stopSandbox ends it as an operator does.
func stopSandbox() error {
	if shared.run == nil || shared.run.Process == nil {
		return nil
	}
	return errors.Join(shared.run.Process.Signal(os.Interrupt), shared.run.Wait())
}

func contents(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
