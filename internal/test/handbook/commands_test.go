package handbook_test

import (
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// docs/reference/commands.md has what --help says of each command.
func TestCommandsAreThoseOfTheProgram(t *testing.T) {
	var page strings.Builder
	for _, name := range commands(t) {
		fmt.Fprintf(&page, "## innsigli %s\n\n```\n%s```\n\n", name, help(t, name))
	}
	made(t, "docs/reference/commands.md", "commands", strings.TrimSuffix(page.String(), "\n"))
}

// commands are the names of all of them, such as "account create".
func commands(t *testing.T) (names []string) {
	t.Helper()
	_, list, _ := strings.Cut(help(t, ""), "Commands:\n")
	for _, m := range regexp.MustCompile(`(?m)^  ([a-z-]+(?: [a-z-]+)*)(?:  |$)`).FindAllStringSubmatch(list, -1) {
		names = append(names, m[1])
	}
	if len(names) < 25 {
		t.Fatalf("%d commands", len(names))
	}
	return names
}

var helps struct {
	sync.Mutex
	of map[string]string
}

// help is what --help says of a command.
func help(t *testing.T, name string) string {
	t.Helper()
	helps.Lock()
	defer helps.Unlock()
	if said, ok := helps.of[name]; ok {
		return said
	}
	out, err := exec.CommandContext(t.Context(), program(t), append(strings.Fields(name), "--help")...).Output()
	if err != nil {
		t.Fatalf("%s --help: %v", name, err)
	}
	if helps.of == nil {
		helps.of = map[string]string{}
	}
	helps.of[name] = string(out)
	return helps.of[name]
}

// Every command that a paper has typed is one of the program's, with flags that it takes, also where
// no test runs it.
func TestPapersTypeWhatThereIs(t *testing.T) {
	names, typed := commands(t), 0
	for _, p := range pages(t) {
		if p.path == "CHANGELOG.md" {
			continue // it speaks of versions before
		}
		for _, b := range p.blocks {
			if language := b.language(); language != "sh" && language != "shell" {
				continue
			}
			for _, line := range typedCommands(b.text) {
				typed++
				if fault := judge(t, names, line); fault != "" {
					t.Errorf("%s: %s: %s", p.path, line, fault)
				}
			}
		}
	}
	if typed < 50 {
		t.Errorf("%d commands found", typed)
	}
}

// typedCommands are the lines of shell that run the program, without its name.
func typedCommands(shell string) (lines []string) {
	shell = strings.ReplaceAll(shell, "\\\n", " ")
	for _, m := range regexp.MustCompile(`(?m)(?:^|[(|;&] *|go run \./cmd/|sudo |-u innsigli )innsigli +([^#|)\n]*)`).FindAllStringSubmatch(shell, -1) {
		lines = append(lines, strings.TrimSpace(m[1]))
	}
	return lines
}

// judge says what is wrong with a command line.
func judge(t *testing.T, names []string, line string) string {
	t.Helper()
	command := ""
	for _, name := range names {
		if (line == name || strings.HasPrefix(line, name+" ")) && len(name) > len(command) {
			command = name
		}
	}
	if command == "" {
		return "there is no such command"
	}
	said := help(t, command)
	for _, m := range regexp.MustCompile(`(?:^| )(--?[a-z][a-z-]*)`).FindAllStringSubmatch(line, -1) {
		if !regexp.MustCompile(`(?m)(^|[\s,])` + m[1] + `([=\s,]|$)`).MatchString(said) {
			return "there is no " + m[1]
		}
	}
	return ""
}

// What is not there is found.
func TestStrayCommandsAreFound(t *testing.T) {
	shell := "innsigli serve --environment sandbox \\\n  --nothing 1\nID=$(innsigli account create X)\necho innsigli\ninnsigli go --here\nX=1 | innsigli verify a.pdf -x"
	names, faults := commands(t), 0
	for _, line := range typedCommands(shell) {
		if judge(t, names, line) != "" {
			faults++
		}
	}
	if lines := typedCommands(shell); len(lines) != 4 || faults != 3 {
		t.Errorf("%d faults in %q", faults, lines)
	}
}
