package pades_test

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/cms"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
)

// forgery is a document whose signer is dishonest: the digest is right, and something else is
// wrong. The zero value has nothing wrong.
type forgery struct {
	ranges  string // what the dictionary has for ByteRange, of the gap, its end, and the length of what follows
	entries string // further ones of the dictionary
	objects []string
	// built is what becomes of the document before it is signed.
	built func([]byte) []byte
	// gap is what is left out, where the string of Contents is.
	gap func(start, end int) (int, int)
	// contents are what stands in the place of the hexadecimal string of Contents.
	contents func(cms []byte, room int) []byte
	seal     func(s *scene, covered []byte) []byte
	// value is that of the field.
	value string
}

func (f forgery) made(s *scene) []byte {
	s.Helper()
	f = f.complete()
	const room = 100
	b := pdftest.Build(pdftest.Options{
		Catalog: "/AcroForm << /Fields [100 0 R] /SigFlags 3 >>", Page: "/Annots [100 0 R]",
		Objects: append([]string{
			"<< /Type /Annot /Subtype /Widget /FT /Sig /T (Sig) /Rect [0 0 0 0] /F 132 /P 10 0 R /V " + f.value + " >>",
			"<< /Type /Sig /Filter /Adobe.PPKLite /SubFilter /ETSI.CAdES.detached /M (" + time.Now().UTC().Format("D:20060102150405Z") + ") " +
				strings.Repeat("@", room) + f.entries + " /Contents <" + strings.Repeat("ff", roomForCMS) + "> >>",
		}, f.objects...),
	})
	if f.built != nil {
		b = f.built(b)
	}
	at := regexp.MustCompile(`<(ff)+>`).FindIndex(b)
	start, end := f.gap(at[0], at[1])
	ranges := fmt.Appendf(nil, "%-*s", room, fmt.Sprintf(f.ranges, start, end, len(b)-end))
	if len(ranges) != room {
		s.Fatalf("no room for %s", ranges)
	}
	b = bytes.Replace(b, bytes.Repeat([]byte("@"), room), ranges, 1)
	value := f.seal(s, append(bytes.Clone(b[:start]), b[end:]...))
	if copy(b[at[0]:at[1]], f.contents(value, at[1]-at[0])) != at[1]-at[0] {
		s.Fatal("Contents are shorter than the room for them")
	}
	return b
}

// complete has what an honest signer does where nothing else is said.
func (f forgery) complete() forgery {
	if f.ranges == "" {
		f.ranges = "/ByteRange [0 %d %d %d]"
	}
	if f.gap == nil {
		f.gap = func(start, end int) (int, int) { return start, end }
	}
	if f.contents == nil {
		f.contents = hexadecimal
	}
	if f.seal == nil {
		f.seal = honest
	}
	if f.value == "" {
		f.value = "101 0 R"
	}
	return f
}

func hexadecimal(value []byte, room int) []byte {
	return fmt.Appendf(nil, "<%s>", hex.EncodeToString(append(bytes.Clone(value), make([]byte, (room-2)/2-len(value))...)))
}

// literal is the same as a literal string.
func literal(value []byte, room int) []byte {
	escaped := regexp.MustCompile(`[()\\\r]`).ReplaceAllFunc(value, func(c []byte) []byte { return fmt.Appendf(nil, `\%03o`, c[0]) })
	return fmt.Appendf(nil, "(%s)", append(escaped, make([]byte, room-2-len(escaped))...))
}

// honest is the signer's signature over what is covered.
func honest(s *scene, covered []byte) []byte { return s.marshal(s.parts(covered)) }

// parts are those of the signer's signature over something.
func (s *scene) parts(covered []byte) cms.Parts {
	s.Helper()
	algorithm := ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.ECDSA}
	attributes, err := cms.SignedAttributes(s.signer.signer.Certificate, algorithm, digestOf(covered))
	if err != nil {
		s.Fatal(err)
	}
	return cms.Parts{
		Certificate: s.signer.signer.Certificate, Chain: s.signer.signer.Chain, Algorithm: algorithm,
		SignedAttributes: attributes, Value: s.value(attributes),
	}
}

// value is the signer's over something.
func (s *scene) value(b []byte) []byte {
	s.Helper()
	value, err := s.signer.key.Sign(rand.Reader, digestOf(b), crypto.SHA256)
	if err != nil {
		s.Fatal(err)
	}
	return value
}

func digestOf(b []byte) []byte {
	h := crypto.SHA256.New()
	h.Write(b)
	return h.Sum(nil)
}

func (s *scene) marshal(p cms.Parts) []byte {
	s.Helper()
	der, err := cms.Marshal(p)
	if err != nil {
		s.Fatal(err)
	}
	return der
}
