package doc_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/innsigli/innsigli/internal/test/validators"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// singleBytes are the charsets in which each byte is a character, or none.
var singleBytes = []string{
	"US-ASCII", "ISO-8859-1", "ISO-8859-2", "ISO-8859-3", "ISO-8859-4", "ISO-8859-5", "ISO-8859-6", "ISO-8859-7", "ISO-8859-8",
	"ISO-8859-9", "ISO-8859-13", "ISO-8859-15", "ISO-8859-16", "windows-1250", "windows-1251", "windows-1252", "windows-1253",
	"windows-1254", "windows-1256", "windows-1257", "KOI8-R", "IBM866",
}

// TestCharsets holds every byte of every charset to the character that libxml2 finds in it. Only what
// libxml2 refuses is refused, and the control characters that some have from 0x80 on.
func TestCharsets(t *testing.T) {
	t.Parallel()
	form := validators.CanonicalForm{Method: "exclusive"}
	var names []string
	var controls []bool
	var requests []validators.CanonicalRequest
	for _, label := range singleBytes {
		for b := range 0x100 {
			source := []byte(declared(label, string([]byte{byte(b)})))
			names = append(names, fmt.Sprintf("%s %#x", label, b))
			controls = append(controls, 0x80 <= b && b < 0xA0)
			requests = append(requests, validators.CanonicalRequest{Document: source, Forms: []validators.CanonicalForm{form}})
		}
	}
	read := 0
	for i, report := range validators.LibXML2(t, requests...) {
		d, err := xmldoc.Parse(requests[i].Document)
		if err != nil {
			if report.Error == "" && !controls[i] {
				t.Errorf("%s: %v", names[i], err)
			}
			continue
		}
		read++
		got, err := canonical(d, form)
		if err != nil || report.Error != "" || !bytes.Equal(got, report.Forms[0]) {
			t.Errorf("%s: %q, %v; libxml2: %q %s", names[i], got, err, report.Forms, report.Error)
		}
	}
	t.Logf("%d of %d bytes are characters", read, len(requests))
}
