package httpapi

import (
	"io"
	"net/http"
	"strings"
)

// idempotencyKey reads the header, as a structured-field string or bare
// (spec 1.8).
func idempotencyKey(r *http.Request) (string, error) {
	const name = "Idempotency-Key"
	values := r.Header.Values(name)
	if len(values) == 0 {
		return "", nil
	}
	key := values[0]
	if unquoted, ok := strings.CutPrefix(key, `"`); ok {
		key, ok = strings.CutSuffix(unquoted, `"`)
		if !ok {
			key = ""
		}
	}
	printable := strings.IndexFunc(key, func(c rune) bool { return c < ' ' || c > '~' }) < 0
	if len(values) > 1 || key == "" || len(key) > maxKey || !printable {
		return "", invalid(map[string][]string{name: {"Must be one key of 1 to 255 printable ASCII characters."}})
	}
	return key, nil
}

// teeBody hashes a body while it is read.
type teeBody struct {
	io.ReadCloser
	w io.Writer
}

func (t teeBody) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	t.w.Write(p[:n])
	return n, err
}
