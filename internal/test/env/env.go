// Package env finds what a test needs from outside the module: programs, the
// tools that .ci/tools builds, and folders of foreign files. Only tests import it, as testenv.
//
// What is absent makes a test skip with a sentence that says how to get it, so that
// "go test ./..." passes on a machine with Go alone. With INNSIGLI_NO_SKIP=1, as in
// .ci/run, the same absence fails the test: nothing is left unproved by accident.
//
//	func TestSignedFileIsWellFormed(t *testing.T) {
//		qpdf := testenv.Program(t, "qpdf")
//		folder := testenv.Corpus(t, "pdf")
//		...
//	}
//
// Environment:
//
//	INNSIGLI_NO_SKIP  "1": what is absent fails the test
//	INNSIGLI_FULL     "1": tests read whole corpora and write their tables (.ci/full)
//	INNSIGLI_GOLDEN   "1": golden files that do not exist are written
//	INNSIGLI_CORPUS   folder of foreign files; default ../shared/corpus, seen from the
//	                  repository's root, as is a relative value
//	INNSIGLI_TOOLS    folder of built tools; default innsigli-tools in the user's
//	                  cache folder
//
// Tests that need a Postgres get it from internal/test/postgres, and an OpenID provider from
// internal/test/openid.
package env

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Program returns the path of an installed program.
func Program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Absent(t, "program %s is not installed (Debian package %s)", name, cmp.Or(debianPackage[name], name))
	}
	return path
}

// debianPackage names the package of a program where the two differ.
var debianPackage = map[string]string{
	"certutil":        "libnss3-tools",
	"mcs":             "mono-mcs",
	"mono":            "mono-runtime",
	"mutool":          "mupdf-tools",
	"pdffonts":        "poppler-utils",
	"pdfinfo":         "poppler-utils",
	"pdfsig":          "poppler-utils",
	"pdftoppm":        "poppler-utils",
	"pdftotext":       "poppler-utils",
	"pg_dump":         "postgresql-client",
	"pk12util":        "libnss3-tools",
	"soffice":         "libreoffice-writer-nogui",
	"systemd-analyze": "systemd",
	"java":            "openjdk-17-jre-headless",
	"xmllint":         "libxml2-utils",
}

// Tool returns the path of something that .ci/run installs below the tools' folder,
// for example "pyhanko/bin/python". name has slashes on every system.
func Tool(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(toolsFolder(t), filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		Absent(t, "tool %s is not installed: run .ci/tools (%v)", name, err)
	}
	return path
}

func toolsFolder(t testing.TB) string {
	t.Helper()
	if folder := os.Getenv("INNSIGLI_TOOLS"); folder != "" {
		return fromRoot(t, folder)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		Absent(t, "no folder for tools: set INNSIGLI_TOOLS (%v)", err)
	}
	return filepath.Join(cache, "innsigli-tools")
}

// RendererCache is the folder where tests have the compiled page renderer, which takes seconds
// to compile; empty if the user has none for caches.
func RendererCache() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(cache, "innsigli-tools", "pdfium-test")
}

// Corpus returns a folder of foreign files, for example "pdf" or "signed/pdf". They
// belong to other projects and are no part of the repository.
func Corpus(t testing.TB, sub string) string {
	t.Helper()
	folder := cmp.Or(os.Getenv("INNSIGLI_CORPUS"), filepath.Join("..", "shared", "corpus"))
	path := filepath.Join(fromRoot(t, folder), filepath.FromSlash(sub))
	if stat, err := os.Stat(path); err != nil || !stat.IsDir() {
		Absent(t, "no folder of foreign files at %s: INNSIGLI_CORPUS names another", path)
	}
	return path
}

// Root returns the repository's root folder, absolute. It fails the test outside a module.
func Root(t testing.TB) string {
	t.Helper()
	folder, err := os.Getwd()
	if err != nil {
		t.Fatalf("working folder: %v", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder
		}
		above := filepath.Dir(folder)
		if above == folder {
			t.Fatalf("no go.mod above the working folder")
		}
		folder = above
	}
}

// fromRoot resolves a relative path against the root, because every test runs in the
// folder of its own package.
func fromRoot(t testing.TB, path string) string {
	t.Helper()
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(Root(t), path)
}

// Full reports whether tests should read whole corpora instead of a sample. It is no
// reason to skip: a test always has a sample to run.
func Full() bool { return os.Getenv("INNSIGLI_FULL") == "1" }

// WriteTable writes what a test measured over a whole corpus to docs/name, to be
// committed. Unless Full, it does nothing: a sample's figures are not the corpus's.
func WriteTable(t testing.TB, name string, content []byte) {
	t.Helper()
	if !Full() {
		return
	}
	path := filepath.Join(Root(t), "docs", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatalf("table %s: %v", name, err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatalf("table %s: %v", name, err)
	}
}

// Slow skips what takes seconds when go test has -short. The sentence says what takes them.
func Slow(t testing.TB, why string) {
	t.Helper()
	if testing.Short() {
		t.Skip("slow: " + why)
	}
}

// Absent ends a test for which something is missing: it is skipped, or fails with
// INNSIGLI_NO_SKIP=1. The sentence says how to get what is missing.
func Absent(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("INNSIGLI_NO_SKIP") == "1" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// NoError ends the test if there is an error.
func NoError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
