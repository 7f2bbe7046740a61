package xades

import (
	"bytes"
	"crypto/elliptic"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
)

// TestExtendNewLimits extends new signatures at the limits of what [Prepare] reserves: with more tags ok is
// false, and a longer document than can be read is refused.
func TestExtendNewLimits(t *testing.T) {
	t.Parallel()
	ca, key := catest.New(t), certtest.NewKey(t, elliptic.P256())
	signer := catest.IssueSigner(t, ca, key, time.Now())
	o := Options{Level: ades.LT}
	const property = `<p:a xmlns:p="urn:p"></p:a>` // two tags
	for _, test := range []struct {
		name       string
		properties int   // that are added
		size       int64 // of the document; 0: as it is
		ok         bool
		err        error
	}{
		{"ordinary", 0, 0, true, nil},
		{"many tags", 30_000, 0, true, nil},
		{"too many tags", reservedNodes / 2, 0, false, nil},
		{"too long", 0, MaxSize, false, ErrLimit},
	} {
		doc := Document{ReaderAt: strings.NewReader("<a></a>"), Size: int64(len("<a></a>"))}
		p, dataHash, err := prepare(t.Context(), doc, signer, o)
		if err != nil {
			t.Fatal(err)
		}
		made, err := p.Sign(t.Context(), key, ca.Sources(nil).Time)
		if err != nil {
			t.Fatal(err)
		}
		end := []byte("</xades:UnsignedSignatureProperties>")
		for i := range made.Pieces {
			made.Pieces[i].Bytes = bytes.Replace(made.Pieces[i].Bytes, end, append([]byte(strings.Repeat(property, test.properties)), end...), 1)
		}
		if test.size > 0 {
			p.frame.before[0].To = test.size // it is not read
		}
		if _, ok, err := p.extendNew(t.Context(), made, o, dataHash, ca.Sources(nil)); ok != test.ok || !errors.Is(err, test.err) {
			t.Errorf("%s: got %v, %v, want %v, %v", test.name, ok, err, test.ok, test.err)
		}
	}
}
