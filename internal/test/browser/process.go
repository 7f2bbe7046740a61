package browser

import (
	"bufio"
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

//go:embed *.mjs
var program embed.FS

// unpack makes a folder of the program, with a way to the npm packages.
func unpack(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	err := os.CopyFS(folder, program)
	if err == nil {
		err = os.Symlink(testenv.Tool(t, "browser/node_modules"), filepath.Join(folder, "node_modules"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// output is what the program prints, one JSON value in each line.
type output struct {
	command *exec.Cmd
	lines   *bufio.Reader
	log     string
}

func start(t *testing.T, folder, screenshots string) *output {
	t.Helper()
	o := &output{log: filepath.Join(folder, "log")}
	log, err := os.Create(o.log)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	o.command = exec.Command(testenv.Tool(t, "openid/bin/node"), "main.mjs")
	o.command.Dir, o.command.Stderr = folder, log
	o.command.Env = append(os.Environ(), "INNSIGLI_SCREENSHOTS="+screenshots)
	out, err := o.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.command.StdinPipe(); err != nil { // the end of which ends it, and the browser
		t.Fatal(err)
	}
	o.lines = bufio.NewReader(out)
	if err := o.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if o.command.ProcessState == nil {
			o.command.Process.Kill()
			o.command.Wait()
		}
	})
	return o
}

func (o *output) next(value any) error {
	line, err := o.lines.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("the program ended: %w", err)
	}
	if err := json.Unmarshal(line, value); err != nil {
		return fmt.Errorf("%w in %q", err, line)
	}
	return nil
}

func (o *output) wait() error { return o.command.Wait() }

// talk is what the program wrote to stderr.
func (o *output) talk() string {
	text, err := os.ReadFile(o.log)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
