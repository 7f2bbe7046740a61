package validators

import (
	"path/filepath"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// serveJava is the command line of .ci/serve with a validator that is written in Java.
func serveJava(t testing.TB, name string) []string {
	t.Helper()
	jar := jar(t, name)
	return append(append([]string{testenv.Program(t, "java")}, quick(jar)...), "-cp", jar, "innsigli.Serve")
}

// jar returns where .ci/tools has put a validator that is written in Java.
func jar(t testing.TB, name string) string {
	t.Helper()
	return testenv.Tool(t, name+"/target/"+name+"-validate.jar")
}

// quick are options of Java for work on some files: code is compiled once and not again with
// more care, and one thread collects the garbage, which takes a third less processor time; the
// classes that .ci/tools has archived make the start quicker. An archive that does not fit is
// done without, and nothing is said of it where the results go.
func quick(jar string) []string {
	archive := filepath.Join(filepath.Dir(filepath.Dir(jar)), "classes.jsa")
	return []string{
		"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
		"-XX:SharedArchiveFile=" + archive, "-Xlog:disable", "-Xlog:all=error:stderr",
	}
}
