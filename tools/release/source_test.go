package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// A release is of the commit: what lies around in the checkout, changed or new, is in none.
func TestCheckOut(t *testing.T) {
	testenv.Program(t, "git")
	repository := t.TempDir()
	t.Chdir(repository)
	write := func(name, content string) {
		if err := os.WriteFile(filepath.Join(repository, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) {
		if _, err := output(t.Context(), repository, nil, "git", args...); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GIT_COMMITTER_DATE", "1767225600 +0200")
	write("committed", "first")
	git("init", "--quiet")
	git("add", ".")
	git("-c", "user.name=Tester", "-c", "user.email=tester@example.is", "commit", "--quiet", "--message", "First")
	git("tag", "v1.2.3")
	write("committed", "second")
	write("new", "")
	for _, revision := range []string{"HEAD", "v1.2.3"} {
		s, err := checkOut(t.Context(), revision, filepath.Join(t.TempDir(), "source"))
		if err != nil {
			t.Fatal(err)
		}
		if content, err := os.ReadFile(filepath.Join(s.folder, "committed")); err != nil || string(content) != "first" {
			t.Errorf("%s: %q, %v", revision, content, err)
		}
		if _, err := os.Stat(filepath.Join(s.folder, "new")); err == nil {
			t.Errorf("%s: an uncommitted file is there", revision)
		}
		if s.time.Unix() != 1767225600 || s.time.Location().String() != "UTC" {
			t.Errorf("%s: the time is %v", revision, s.time)
		}
	}
	if _, err := checkOut(t.Context(), "v9.9.9", filepath.Join(t.TempDir(), "source")); err == nil {
		t.Error("a version that is not there is released")
	}
}

// The six platforms of a release, and one at a time.
func TestChosen(t *testing.T) {
	if all, err := chosen(""); err != nil || len(all) != 6 {
		t.Errorf("%v, %v", all, err)
	}
	one, err := chosen("windows/arm64")
	if err != nil || !slices.Equal(one, []target{{"windows", "arm64"}}) || one[0].program() != "innsigli.exe" || one[0].extension() != ".zip" {
		t.Errorf("%v, %v", one, err)
	}
	if _, err := chosen("plan9/amd64"); err == nil || !strings.Contains(err.Error(), "linux/amd64") {
		t.Error(err)
	}
}

// sha256sum reads the checksums, of this release alone.
func TestSums(t *testing.T) {
	program := testenv.Program(t, "sha256sum")
	folder := t.TempDir()
	write := func(name string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("innsigli-v1-linux-amd64.tar.gz")
	if err := removeReleased(folder); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"innsigli-v2-linux-amd64.tar.gz", "innsigli-v2-linux-amd64.cdx.json", "innsigli-v2-windows-amd64.zip", "notes"} {
		write(name)
	}
	if err := writeSums(folder); err != nil {
		t.Fatal(err)
	}
	said, err := output(t.Context(), folder, nil, program, "--check", "--strict", sums)
	want := "innsigli-v2-linux-amd64.cdx.json: OK\ninnsigli-v2-linux-amd64.tar.gz: OK\ninnsigli-v2-windows-amd64.zip: OK"
	if err != nil || said != want {
		t.Errorf("%v\n%s", err, said)
	}
}
