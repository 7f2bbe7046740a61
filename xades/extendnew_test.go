package xades_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	"github.com/innsigli/innsigli/xades"
)

// countingReader counts the bytes that are read.
type countingReader struct {
	io.ReaderAt
	read int64
}

func (r *countingReader) ReadAt(b []byte, at int64) (int, error) {
	n, err := r.ReaderAt.ReadAt(b, at)
	r.read += int64(n)
	return n, err
}

// TestSignReadsOnce checks that Sign reads a document once at each level, except an enveloping signature
// of level LTA, whose archive timestamp is over the document again; and that the signature has its level.
func TestSignReadsOnce(t *testing.T) {
	t.Parallel()
	content := strings.Replace(contract, "UTF-8", "UTF-16", 1)
	content = strings.Replace(content, "</", "<text>"+strings.Repeat("æ", 100_000)+"</text></", 1)
	encoded := utf16(content, true)
	p := newPerson(t, catest.New(t), p256(t))
	for _, k := range packings {
		for level := ades.B; level <= ades.LTA; level++ {
			source := &countingReader{ReaderAt: bytes.NewReader(encoded)}
			doc := xades.Document{ReaderAt: source, Size: int64(len(encoded))}
			o := k.options()
			o.Level = level
			r, err := xades.Sign(t.Context(), doc, p.key, p.signer, o, p.ca.Sources(nil))
			if err != nil {
				t.Fatalf("%s, %v: %v", k.name, level, err)
			}
			times := float64(source.read) / float64(doc.Size)
			if again := k.packing == xades.Enveloping && level == ades.LTA; times > 1.5 && !again {
				t.Errorf("%s, %v: read %.1f times", k.name, level, times)
			}
			report, err := xades.Verify(t.Context(), doc.With(r), ades.VerifyOptions{Roots: p.ca.Roots()})
			if err != nil || level >= ades.LT && !report.Passed() || !strings.HasSuffix(report.Signatures[0].Format, "-"+level.String()) {
				t.Errorf("%s, %v: %v, %+v", k.name, level, err, report)
			}
		}
	}
}
