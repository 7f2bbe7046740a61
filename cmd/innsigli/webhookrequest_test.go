package main

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRequestsAsTheyWereReceived(t *testing.T) {
	want := http.Header{"Webhook-Id": {"1"}, "X": {"a", "b"}}
	const headers = "webhook-id: 1\nX: a\nx:b\n"
	for name, test := range map[string]struct {
		request string
		want    http.Header
		body    string
	}{
		"headers and body":          {headers + "\n{}", want, "{}"},
		"with a request line":       {"POST /hooks?a=b:c HTTP/1.1\n" + headers + "\n{}", want, "{}"},
		"of HTTP/2":                 {"POST /hooks HTTP/2\n" + headers + "\n{}", want, "{}"},
		"line ends of the wire":     {strings.ReplaceAll("POST / HTTP/1.1\n"+headers+"\n", "\n", "\r\n") + "{}", want, "{}"},
		"the body's own line ends":  {headers + "\n\n{\r\n}\n\n", want, "\n{\r\n}\n\n"},
		"bytes that are no text":    {headers + "\n\xff\x00", want, "\xff\x00"},
		"no body":                   {headers + "\n", want, ""},
		"no headers":                {"\n{}", http.Header{}, "{}"},
		"a body like a header":      {headers + "\na: b\n", want, "a: b\n"},
		"a line that is continued":  {"X: a\n  b\n\n", http.Header{"X": {"a b"}}, ""},
		"as much as there may be":   {headers + "\n" + strings.Repeat("a", maxRequest-len(headers)-1), want, strings.Repeat("a", maxRequest-len(headers)-1)},
		"more":                      {headers + "\n" + strings.Repeat("a", maxRequest), nil, ""},
		"nothing":                   {"", nil, ""},
		"no empty line":             {headers, nil, ""},
		"a body alone":              {`{"type":"a"}` + "\n", nil, ""},
		"a line that is no header":  {"webhook-id: 1\nhello\n\n{}", nil, ""},
		"two request lines":         {"POST / HTTP/1.1\nPOST / HTTP/1.1\n" + headers + "\n", nil, ""},
		"a request line at the end": {"X: a\nPOST / HTTP/1.1\n\n", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			header, body, err := readRequest(strings.NewReader(test.request))
			if diff := cmp.Diff(test.want, header); diff != "" || string(body) != test.body || (err == nil) != (test.want != nil) {
				t.Errorf("%v, %d bytes of body %s", err, len(body), diff)
			}
		})
	}
	if _, _, err := readRequest(io.MultiReader(strings.NewReader(headers), brokenPipe{})); err == nil {
		t.Error("no error of a request that breaks off")
	}
}

type brokenPipe struct{}

func (brokenPipe) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }

// What is foreign does nothing to a terminal, and is not endless.
func TestForeignTextIsShownSafely(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "",
		"process.completed":       "process.completed",
		"Jón":                     "Jón",
		"\x1b[2J\n\x00":           `\x1b[2J\n\x00`,
		"\u202e":                  `\u202e`,
		"\xff":                    `\xff`,
		`"quoted"`:                `\"quoted\"`,
		strings.Repeat("a", 1000): strings.Repeat("a", 256),
	} {
		if got := shown(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}
