package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// suites are the packages whose tests look for faults, the ones with the fewest dependencies first.
var suites = []string{
	"ades", "internal/pki/der", "internal/pki/cms", "internal/pki/ocsp", "internal/pki/crl", "internal/pki/tsp",
	"internal/pki/validation", "internal/xml/doc", "internal/xml/dsig", "internal/pdf", "ades/online", "ades/report",
	"stamp", "stamp/pdfium", "pades/internal/diff", "pades/internal/form", "pades", "xades", "internal/test/agreement",
	"internal/netguard", "internal/admission", "internal/queue", "internal/mail", "portal/process", "busysignal", "account", "webhook",
	"idp/ciba", "idp/login", "idp/audkenni", "idp/simulated", "sandbox", "storage/sealed", "storage/bolt", "storage/postgres",
	"webhook/delivery", "server/internal/front", "server/internal/notify", "signing", "portal", "portal/page", "httpapi",
}

// fault is a passage in a file of a package, and what takes its place.
type fault struct {
	folder   string // of the package, from the root of the repository
	what     string // is wrong then
	old, new string
}

func (f fault) heading() string { return f.folder + ": " + f.what }

// read reads the faults of the files that a pattern matches.
func read(pattern string) (all []fault, err error) {
	paths, err := filepath.Glob(pattern)
	if err == nil && len(paths) == 0 {
		err = fmt.Errorf("no file %s: run it in the root of the repository", pattern)
	}
	for _, path := range paths {
		text, readErr := os.ReadFile(path)
		faults, parseErr := parse(string(text))
		if err = cmp.Or(readErr, parseErr); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, faults...)
	}
	return all, err
}

// parse reads faults. Each has a line "== FOLDER: WHAT", then the lines of the passage after "-", and those that take
// its place after "+". Lines that begin with "#" are comments.
func parse(text string) ([]fault, error) {
	var all []fault
	for i, line := range strings.Split(text, "\n") {
		switch {
		case line == "", line[0] == '#':
		case strings.HasPrefix(line, "== "):
			folder, what, ok := strings.Cut(line[len("== "):], ": ")
			if !ok {
				return nil, fmt.Errorf("line %d: no folder and colon", i+1)
			}
			all = append(all, fault{folder: folder, what: what})
		case len(all) > 0 && line[0] == '-':
			all[len(all)-1].old += line[1:] + "\n"
		case len(all) > 0 && line[0] == '+':
			all[len(all)-1].new += line[1:] + "\n"
		default:
			return nil, fmt.Errorf("line %d: it begins with none of ==, -, + and #", i+1)
		}
	}
	for _, f := range all {
		if f.old == "" || f.old == f.new {
			return nil, fmt.Errorf("%s: nothing changes", f.heading())
		}
	}
	return all, nil
}

// apply returns the file below root that has the passage, and its content with the fault. The passage stands once in the
// package; lines are compared without the space around them.
func (f fault) apply(root string) (path string, content []byte, err error) {
	files, err := filepath.Glob(filepath.Join(root, f.folder, "*.go"))
	if err != nil {
		return "", nil, err
	}
	old := trimmed(f.old)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		b, err := os.ReadFile(file)
		if err != nil {
			return "", nil, err
		}
		lines := strings.SplitAfter(string(b), "\n")
		for i := range lines {
			if i+len(old) > len(lines) || !slices.Equal(trimmed(strings.Join(lines[i:i+len(old)], "")), old) {
				continue
			}
			if path != "" {
				return "", nil, errors.New("the passage stands twice")
			}
			path = file
			content = []byte(strings.Join(lines[:i], "") + f.new + strings.Join(lines[i+len(old):], ""))
		}
	}
	if path == "" {
		return "", nil, errors.New("the passage stands in no file of the package")
	}
	return path, content, nil
}

// trimmed returns the lines of a text without the space around them.
func trimmed(text string) []string {
	var lines []string
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}

// seed runs the suites on the code with the fault, that of its package first, until one fails. It returns the suite and the
// test that failed first; "" if all pass.
func (f fault) seed(ctx context.Context, root string) (suite, test string, err error) {
	folder, err := os.MkdirTemp("", "mutation-")
	if err != nil {
		return "", "", err
	}
	defer os.RemoveAll(folder)
	overlay, err := f.build(ctx, root, folder)
	if err != nil {
		return "", "", err
	}
	if test, err = f.failing(ctx, overlay, f.folder); test != "" || err != nil {
		return f.folder, test, err
	}
	users, err := f.users(ctx)
	if err != nil {
		return "", "", err
	}
	for _, suite := range users {
		if test, err = f.failing(ctx, overlay, suite); test != "" || err != nil {
			return suite, test, err
		}
	}
	return "", "", nil
}

// failing runs a suite on the code with the fault, and returns the test that failed first; "" if all pass.
func (f fault) failing(ctx context.Context, overlay, suite string) (test string, err error) {
	out, err := command(ctx, "go", "test", "-short", "-failfast", "-count=1", "-vet=off", "-timeout=20m", "-overlay", overlay, "./"+suite)
	if err == nil || ctx.Err() != nil {
		return "", ctx.Err()
	}
	m := failure.FindStringSubmatch(out)
	if m == nil {
		return "", fmt.Errorf("%s failed without a failing test: %s", suite, out)
	}
	return cmp.Or(m[1], m[2]), nil
}

var failure = regexp.MustCompile(`(?m)^ *--- FAIL: (\S+)|^(panic: .*)`)

// build writes the overlay with the fault into a folder and builds the package with it.
func (f fault) build(ctx context.Context, root, folder string) (overlay string, err error) {
	path, content, err := f.apply(root)
	if err != nil {
		return "", err
	}
	if overlay, err = f.overlay(folder, path, content); err != nil {
		return "", err
	}
	if out, err := command(ctx, "go", "build", "-overlay", overlay, "./"+f.folder); err != nil {
		return "", fmt.Errorf("the code with the fault does not build: %s", out)
	}
	return overlay, nil
}

// overlay writes the file with the fault, and the list by which the go command finds it.
func (f fault) overlay(folder, path string, content []byte) (string, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	faulty, list := filepath.Join(folder, "faulty.go"), filepath.Join(folder, "overlay.json")
	b, err := json.Marshal(map[string]map[string]string{"Replace": {absolute: faulty}})
	return list, cmp.Or(err, os.WriteFile(faulty, content, 0o600), os.WriteFile(list, b, 0o600))
}

// users returns the other suites whose tests depend on the package.
func (f fault) users(ctx context.Context) (users []string, err error) {
	for _, suite := range suites {
		out, err := command(ctx, "go", "list", "-deps", "-test", "./"+suite)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", out, err)
		}
		if suite != f.folder && slices.Contains(strings.Fields(out), "github.com/innsigli/innsigli/"+f.folder) {
			users = append(users, suite)
		}
	}
	return users, nil
}

// command runs a program and returns all that it printed.
func command(ctx context.Context, name string, arguments ...string) (string, error) {
	c := exec.CommandContext(ctx, name, arguments...)
	c.WaitDelay = 1 << 30 // nanoseconds; what a test has started may keep its output open
	out, err := c.CombinedOutput()
	return string(out), err
}
