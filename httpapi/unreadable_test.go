package httpapi_test

import (
	"bytes"
	"strings"
	"testing"

	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
)

// lockedPage needs a password that nobody knows.
var lockedPage = pdftest.Build(pdftest.Options{Trailer: "/Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /P -4 /O <" + strings.Repeat("00", 32) + "> /U <" + strings.Repeat("00", 32) + "> >> /ID [<00> <00>]"})

// spec 3.10: without signatureImage, a file that cannot be read starts, and fails at a poll with
// UnableToHandleGivenData.
func TestFileThatCannotBeRead(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	c.user(person)
	noPages := bytes.Replace(page, []byte("/Kids [10 0 R ] /Count 1"), []byte("/Kids [        ] /Count 0"), 1)
	if len(noPages) == len(page) && bytes.Equal(noPages, page) {
		t.Fatal("the page is still there")
	}
	for name, content := range map[string][]byte{
		"not a PDF":             []byte("This is no PDF."),
		"one byte":              {0},
		"the header alone":      []byte("%PDF-1.7\n"),
		"truncated":             page[:len(page)/2],
		"without its beginning": page[len(page)/2:],
		"0 pages":               noPages,
		"encrypted":             lockedPage,
		"a megabyte of nothing": make([]byte, 1<<20),
	} {
		for _, method := range methods {
			t.Run(name+" "+method, func(t *testing.T) {
				c := c.in(t)
				id := c.begin(startBody(method).with(fields{"file.contentB64": content}))
				a := c.poll(id)
				if bytes.Contains(a.body, []byte("AuthorizationPending")) {
					a = c.poll(id)
				}
				c.wantFailure(a, unreadable)
				c.leaksNothing(a, startBody(method))
				c.wantFinished(id)
				c.wantDocuments(0)
			})
		}
	}
	c.signature(c.sign(startBody(idpApp)))
}
