package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// systemd understands all of the unit, and finds hardly anything that the service could do to the machine. What
// is left has its reason in the unit.
func TestUnit(t *testing.T) {
	analyze := testenv.Program(t, "systemd-analyze")
	unit := read(t, filepath.Join(testenv.Root(t), "deploy", "innsigli.service"))
	check := func(unit string, limit string) error {
		folder := t.TempDir()
		path := filepath.Join(folder, "innsigli.service")
		program := filepath.Join(folder, "innsigli")
		for name, content := range map[string]string{path: strings.ReplaceAll(unit, "/usr/local/bin/innsigli", program), program: ""} {
			if err := os.WriteFile(name, []byte(content), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := output(t.Context(), "", nil, analyze, "verify", "--recursive-errors=no", path); err != nil {
			return err
		}
		_, err := output(t.Context(), "", nil, analyze, "security", "--offline=yes", "--no-pager", "--threshold="+limit, path)
		return err
	}
	if err := check(unit, "12"); err != nil { // tenths
		t.Error(err)
	}
	for _, line := range []string{"CapabilityBoundingSet=\n", "SystemCallFilter=@system-service\n", "RestrictNamespaces=yes\n"} {
		if err := check(strings.Replace(unit, line, "", 1), "12"); err == nil {
			t.Errorf("without %q the service can do no more", line)
		}
	}
	if err := check(strings.Replace(unit, "Type=notify", "Type=notified", 1), "12"); err == nil {
		t.Error("a unit that systemd does not understand is taken")
	}
}

// What the unit executes beside the program is outside of the sandbox, in which nothing else can be executed.
func TestUnitExecutes(t *testing.T) {
	const program = "/usr/local/bin/innsigli"
	unit := read(t, filepath.Join(testenv.Root(t), "deploy", "innsigli.service"))
	if !strings.Contains(unit, "NoExecPaths=/\nExecPaths="+program+"\n") {
		t.Error("more than the program can be executed")
	}
	commands := 0
	for line := range strings.Lines(unit) {
		name, command, _ := strings.Cut(line, "=")
		if !strings.HasPrefix(name, "Exec") || name == "ExecPaths" {
			continue
		}
		commands++
		if !strings.HasPrefix(command, program+" ") && !strings.HasPrefix(command, "+") {
			t.Errorf("%s cannot be executed", strings.TrimSpace(line))
		}
	}
	if commands < 2 {
		t.Errorf("the unit has %d commands", commands)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
