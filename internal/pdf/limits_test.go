package pdf

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// Few bytes cannot claim much memory or time.
func TestBounds(t *testing.T) {
	claims := func() []byte { // a cross-reference stream with entries of no bytes to speak of
		b := newBuilder()
		b.object(1, "<< /Type /Catalog >>")
		at := b.here()
		fmt.Fprintf(b, "9 0 obj\n<< /Type /XRef /Size 4000000 /W [1 0 0] /Root 1 0 R /Length 4 >>\nstream\n0000\nendstream\nendobj\nstartxref\n%d\n%%%%EOF\n", at)
		return bytes.Clone(b.Bytes())
	}()
	long := func() []byte { // a trailer with a file's worth of text
		b := newBuilder()
		b.object(1, "<< /Type /Catalog >>")
		return b.table(2, "/Root 1 0 R /Junk ("+strings.Repeat("x", 2<<20)+")")
	}()
	for name, content := range map[string][]byte{"entries": claims, "trailer": long} {
		if _, err := Open(bytes.NewReader(content), int64(len(content))); !errors.Is(err, ErrLimit) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
