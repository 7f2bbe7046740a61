package validators

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// Exit statuses of qpdf.
const (
	qpdfClean    = 0
	qpdfWarnings = 3
)

// QPDFCheck returns what "qpdf --check" says about a file that it can read but would
// repair: nothing about a clean one. A file beyond its repair is an error.
func QPDFCheck(t testing.TB, file string) (warnings []string, err error) {
	t.Helper()
	got := run(t, testenv.Program(t, "qpdf"), "--check", file)
	switch got.status {
	case qpdfClean:
		return nil, nil
	case qpdfWarnings:
		return qpdfMessages(got.stderr), nil
	default:
		return nil, fmt.Errorf("qpdf: exit status %d: %s", got.status, bytes.TrimSpace(got.stderr))
	}
}

func qpdfMessages(stderr []byte) []string {
	var messages []string
	for line := range strings.Lines(string(stderr)) {
		if message, ok := strings.CutPrefix(line, "WARNING: "); ok {
			messages = append(messages, strings.TrimSpace(message))
		}
	}
	return messages
}
