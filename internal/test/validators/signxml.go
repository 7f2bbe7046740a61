package validators

import (
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// SignXML signs XML files of different names with signxml, at level B, enveloped.
func SignXML(t testing.TB, options SignOptions, files ...string) []SignedFile {
	t.Helper()
	return signing(t, "signxml", options.arguments(t), files, func(arguments []string) []byte {
		return mustRun(t, testenv.Tool(t, "signxml/bin/python"), append([]string{script(t, "signxml/sign.py")}, arguments...)...)
	})
}
