package postgres

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// programs is the folder of the server's programs.
func programs(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"sh", "rm"} { // of reins
		testenv.Program(t, name)
	}
	for _, folder := range candidates() {
		if isProgram(folder, "initdb") && isProgram(folder, "postgres") {
			return folder
		}
	}
	testenv.Absent(t, "no Postgres server: set INNSIGLI_TEST_POSTGRES to the URL of one, or install its programs (Debian package postgresql)")
	return ""
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
