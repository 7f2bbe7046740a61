package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/rogpeppe/go-internal/testscript"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// TestMain makes the program a command of its own in the path of the tests, so that
// they run what a user runs: arguments, streams, signals and exit status.
//
// Tests that are parallel wait for servers that start, for leases of those that were killed, and for
// people on the phone, far more than they compute: unless told otherwise, five at a time keep two
// cores busy.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "5"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	testscript.Main(warmed{m}, map[string]func(){"innsigli": main})
}

// warmed has the page renderer compiled before any test, for all programs that the tests
// start: each on a store of its own would compile it again. It has a folder for these programs, too.
type warmed struct{ *testing.M }

func (w warmed) Run() int {
	os.Unsetenv("NOTIFY_SOCKET") // of a service that runs the tests, which is none of their servers' business
	folder, err := os.MkdirTemp("", "innsigli-built")
	if err == nil {
		defer os.RemoveAll(folder)
		built.folder = folder
		err = warmTools()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return described(w.M.Run())
}

// warmTools keeps the renderer with the tools of the tests, apart from what the user has.
func warmTools() error {
	cache := testenv.RendererCache()
	if err := errors.Join(os.Setenv(cacheVariable, cache), os.Setenv("INNSIGLI_LOG_FORMAT", "text")); err != nil {
		return err
	}
	renderer := rendererFlag{cache}.renderer()
	err := renderer.WarmNotify(context.Background(), func(text string) { fmt.Fprintln(os.Stderr, text) })
	return errors.Join(err, renderer.Close())
}

const cacheVariable = "INNSIGLI_RENDERER_CACHE"

// --help of every command says what it does, its defaults and an example, and every flag can be an environment variable.
func TestHelp(t *testing.T) {
	parser, err := kong.New(&cli{}, kong.DefaultEnvars("INNSIGLI"))
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range parser.Model.Leaves(true) {
		words := strings.Fields(strings.Join(commandPath(command), " "))
		t.Run(strings.Join(words, " "), func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if status := run(t.Context(), append(words, "--help"), &stdout, &stderr); status != done || stderr.Len() > 0 {
				t.Fatalf("exit status %d, stderr %q", status, &stderr)
			}
			help := strings.Join(strings.Fields(stdout.String()), " ") // without line breaks
			wanted := []string{command.Help, "Example: innsigli " + strings.Join(words, " ")}
			for _, flag := range command.Flags {
				wanted = append(wanted, "--"+flag.Name, "$"+flagVariable(flag.Name))
				if flag.Default != "" {
					wanted = append(wanted, "(default "+flag.Default+")")
				}
			}
			for _, text := range wanted {
				if !strings.Contains(help, text) {
					t.Errorf("no %q in the help:\n%s", text, &stdout)
				}
			}
		})
	}
}

// commandPath is how a command is called: "client create".
func commandPath(n *kong.Node) (words []string) {
	for ; n.Type == kong.CommandNode; n = n.Parent {
		words = append(words, n.Name)
	}
	slices.Reverse(words)
	return words
}

// flagVariable is the environment variable of a flag: INNSIGLI_BASE_URL for --base-url.
func flagVariable(flag string) string {
	return "INNSIGLI_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}
