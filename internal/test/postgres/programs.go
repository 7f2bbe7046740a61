package postgres

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// programs returns the folder of the server's programs.
func programs(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"sh", "rm"} { // of reins
		testenv.Program(t, name)
	}
	folder, err := findPrograms()
	if err != nil {
		testenv.Absent(t, "%v", err)
	}
	return folder
}

var errNoPrograms = errors.New("no Postgres server: set INNSIGLI_TEST_POSTGRES to the URL of one, or install its programs (Debian package postgresql)")

// findPrograms returns the folder of the server's programs, or errNoPrograms.
func findPrograms() (string, error) {
	for _, folder := range candidates() {
		if isProgram(folder, "initdb") && isProgram(folder, "postgres") {
			return folder, nil
		}
	}
	return "", errNoPrograms
}

// candidates are the folders in which the server's programs may be. Debian keeps several
// versions beside each other; the newest comes first.
func candidates() []string {
	if folder := os.Getenv("INNSIGLI_POSTGRES_BIN"); folder != "" {
		return []string{folder}
	}
	var folders []string
	if program, err := exec.LookPath("initdb"); err == nil {
		folders = append(folders, filepath.Dir(program))
	}
	debian, _ := filepath.Glob("/usr/lib/postgresql/*/bin") // the pattern is a good one
	slices.SortFunc(debian, func(a, b string) int { return version(b) - version(a) })
	return append(folders, debian...)
}

// version is the one in the name of Debian's folder, 0 for those before 10.
func version(folder string) int {
	n, err := strconv.Atoi(filepath.Base(filepath.Dir(folder)))
	if err != nil {
		return 0
	}
	return n
}

func isProgram(folder, name string) bool {
	stat, err := os.Stat(filepath.Join(folder, name))
	return err == nil && stat.Mode().IsRegular() && stat.Mode()&0o111 != 0
}
