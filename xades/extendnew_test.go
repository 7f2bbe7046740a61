package xades_test

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
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
	p := newPerson(t, catest.New(t), p256(t))
	for _, k := range packings {
		for number, encoded := range [][]byte{utf16(content, true), sign(t, utf16(content, true), p, signedFor(k))} {
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
					t.Errorf("%s, signed %d times, %v: read %.1f times", k.name, number, level, times)
				}
				report, err := xades.Verify(t.Context(), doc.With(r), ades.VerifyOptions{Roots: p.ca.Roots()})
				if err != nil || level >= ades.LT && number == 0 && !report.Passed() || !hasFormat(report.Signatures, level) {
					t.Errorf("%s, signed %d times, %v: %v, %+v", k.name, number, level, err, report)
				}
			}
		}
	}
}

// signedFor returns the options of an earlier signature in a document that is then signed with a packing.
func signedFor(k packing) xades.Options {
	if k.packing == xades.Enveloping {
		return xades.Options{Packing: xades.InternallyDetached} // one that signs the root would break
	}
	return k.options()
}

func hasFormat(reports []ades.SignatureReport, level ades.Level) bool {
	return slices.ContainsFunc(reports, func(r ades.SignatureReport) bool { return strings.HasSuffix(r.Format, "-"+level.String()) })
}

// TestSignAsExtendLast compares what Sign returns with the result of Prepare, Pending.Sign and ExtendLast,
// over a document without signatures and over one that has a signature: both have the same elements in
// the same order, and the same report but for times and identifiers.
func TestSignAsExtendLast(t *testing.T) {
	t.Parallel()
	p := newPerson(t, catest.New(t), p256(t))
	shape := func(b []byte) (tags, reports []string) {
		for _, r := range verify(t, b, p.ca) {
			reports = append(reports, fmt.Sprint(r.Format, r.Indication, r.SubIndication, r.Coverage, len(r.Timestamps), r.Problems, r.Warnings))
		}
		for _, tag := range regexp.MustCompile(`</?[\w:.-]+`).FindAll(b, -1) {
			tags = append(tags, string(tag))
		}
		return tags, reports
	}
	for _, k := range packings {
		for number, b := range [][]byte{[]byte(contract), sign(t, []byte(contract), p, signedFor(k))} {
			for _, level := range []ades.Level{ades.T, ades.LT, ades.LTA} {
				o := k.options()
				o.Level = level
				r, err := xades.Sign(t.Context(), document(b), p.key, p.signer, o, p.ca.Sources(nil))
				if err != nil {
					t.Fatal(err)
				}
				tags, reports := shape(apply(t, b, r))
				wantTags, wantReports := shape(mustExtend(t, signFor(t, b, p, level, o), level, p.ca.Sources(nil), xades.Extender.ExtendLast))
				if !slices.Equal(tags, wantTags) || !slices.Equal(reports, wantReports) {
					t.Errorf("%s, signed %d times, %v: Sign makes\n%q\n%q\nand ExtendLast\n%q\n%q", k.name, number, level, tags, reports, wantTags, wantReports)
				}
			}
		}
	}
}
