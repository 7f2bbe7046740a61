package pades

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha1"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/internal/pki/cms"
	"github.com/innsigli/innsigli/internal/pki/tsp"
	"github.com/innsigli/innsigli/pades/internal/form"
)

// signedFile is a document with its signature fields.
type signedFile struct {
	doc    Document
	file   *pdf.File
	covers coverage
	fields form.Fields
}

// openSignedFile opens a document. It refuses one whose last signature
// [coverage.checkLastSignature] refuses.
func openSignedFile(doc Document) (*signedFile, error) {
	file, err := pdf.Open(doc, doc.Size)
	if err != nil {
		return nil, err
	}
	covers, err := newCoverage(doc, file)
	if err != nil {
		return nil, err
	}
	found, err := form.Read(file)
	if err != nil {
		return nil, err
	}
	return &signedFile{doc, file, covers, found}, covers.checkLastSignature(slices.Concat(found.Signatures, found.Timestamps))
}

// signedDocument is a document with its signatures, document timestamps and validation data.
type signedDocument struct {
	*signedFile
	signatures []documentSignature
	timestamps []documentTimestamp // oldest first
	store      store
	known      []*x509.Certificate // certificates in the selected signatures, the timestamps and the store
}

// documentSignature is a signature of a document.
type documentSignature struct {
	name   string
	ranges byteRange
	vri    pdf.Name // key in the VRI dictionary
	signed *cms.SignedData
	signer *x509.Certificate
	tokens []*tsp.Token // signature timestamps that verify
}

// documentTimestamp is a document timestamp (ISO 32000-2 12.8.5).
type documentTimestamp struct {
	name   string
	ranges byteRange
	vri    pdf.Name
	token  *tsp.Token
}

// selection selects the signatures to extend, with the document timestamps to consider.
type selection func(coverage, form.Fields) form.Fields

func everySignature(_ coverage, f form.Fields) form.Fields { return f }

// lastSignature selects the last signature and the document timestamps after it.
func lastSignature(c coverage, f form.Fields) form.Fields {
	if len(f.Signatures) == 0 {
		return f
	}
	end := func(s form.SignatureField) int64 { r, _ := c.readRange(s.Signature); return r.end }
	byEnd := func(a, b form.SignatureField) int { return cmp.Compare(end(a), end(b)) }
	last := slices.MaxFunc(f.Signatures, byEnd)
	f.Signatures = []form.SignatureField{last}
	f.Timestamps = slices.DeleteFunc(slices.Clone(f.Timestamps), func(t form.SignatureField) bool { return end(t) < end(last) })
	return f
}

// readSignedDocument reads the signatures of a document that choose selects. It refuses a document
// with a selected signature that cannot be read: what such a signature lacks is not known.
func readSignedDocument(doc Document, choose selection) (*signedDocument, error) {
	opened, err := openSignedFile(doc)
	if err != nil {
		return nil, err
	}
	c := &signedDocument{signedFile: opened}
	if c.store, err = readStore(c.file); err != nil {
		return nil, err
	}
	selected := choose(c.covers, c.fields)
	for _, f := range selected.Signatures {
		if err := c.addSignature(f); err != nil {
			return nil, brokenError(f.Name, err)
		}
	}
	for _, f := range selected.Timestamps {
		if err := c.addTimestamp(f); err != nil {
			return nil, brokenError(f.Name, err)
		}
	}
	slices.SortFunc(c.timestamps, func(a, b documentTimestamp) int { return cmp.Compare(a.ranges.end, b.ranges.end) })
	c.known = append(c.known, c.store.data.Certificates...)
	return c, nil
}

func brokenError(name string, err error) error {
	return fmt.Errorf("%w: %q: %w", ades.ErrBroken, name, err)
}

// vriKey returns the key of a signature in the VRI dictionary: the SHA-1 digest of its Contents
// with all padding, in upper-case hexadecimal (ISO 32000-2 table 261).
func vriKey(contents []byte) pdf.Name {
	return pdf.Name(strings.ToUpper(fmt.Sprintf("%x", sha1.Sum(contents))))
}

func (c *signedDocument) addSignature(f form.SignatureField) error {
	r, contents, problem := c.covers.readContents(f)
	if problem != "" {
		return errors.New(problem)
	}
	signed, err := cms.Parse(contents)
	if err != nil {
		return err
	}
	s := documentSignature{name: f.Name, ranges: r, vri: vriKey(contents), signed: signed}
	if s.signer, err = signed.Signer(); err != nil {
		return err
	}
	c.known = append(c.known, signed.Certificates...)
	for _, der := range signed.SignatureTimestamps() {
		token, err := tsp.ParseToken(der)
		if err != nil {
			continue // no POE
		}
		h := token.Hash.New()
		h.Write(signed.Value)
		c.known = append(c.known, token.Certificates...)
		token.AddCertificates(slices.Concat(c.known, c.store.data.Certificates))
		if token.VerifyOver(h.Sum(nil)) == nil {
			s.tokens = append(s.tokens, token)
		}
	}
	c.signatures = append(c.signatures, s)
	return nil
}

func (c *signedDocument) addTimestamp(f form.SignatureField) error {
	r, contents, problem := c.covers.readContents(f)
	if problem != "" {
		return errors.New(problem)
	}
	token, err := tsp.ParseToken(contents)
	if err != nil {
		return err
	}
	c.known = append(c.known, token.Certificates...)
	token.AddCertificates(slices.Concat(c.known, c.store.data.Certificates))
	if err := token.Verify(); err != nil {
		return err
	}
	c.timestamps = append(c.timestamps, documentTimestamp{f.Name, r, vriKey(contents), token})
	return nil
}

// verify checks the signatures and document timestamps against the document. A revision that is
// appended after a broken signature would seem to confirm it.
func (c *signedDocument) verify(ctx context.Context) error {
	sums := newRangeHashes(c.doc, c.covers.ranges(c.fields)...)
	for _, s := range c.signatures {
		sum, err := sums.digest(ctx, s.signed.Algorithm().Hash, s.ranges)
		if err != nil {
			return err
		}
		if err := s.signed.Verify(sum); err != nil {
			return brokenError(s.name, err)
		}
	}
	for _, s := range c.timestamps {
		sum, err := sums.digest(ctx, s.token.Hash, s.ranges)
		if err != nil {
			return err
		}
		if !bytes.Equal(sum, s.token.Sum) {
			return brokenError(s.name, errors.New("the timestamp covers other data"))
		}
	}
	return nil
}

// bestSignatureTime returns the time of the oldest timestamp over a signature; zero when there is
// none.
func (c *signedDocument) bestSignatureTime(s documentSignature) (oldest time.Time) {
	tokens := slices.Clone(s.tokens)
	for _, t := range c.timestamps {
		if t.ranges.end > s.ranges.end {
			tokens = append(tokens, t.token)
		}
	}
	for _, token := range tokens {
		if oldest.IsZero() || token.Time.Before(oldest) {
			oldest = token.Time
		}
	}
	return oldest
}

// timestamped reports whether every signature has level T.
func (c *signedDocument) timestamped() bool {
	return !slices.ContainsFunc(c.signatures, func(s documentSignature) bool { return c.bestSignatureTime(s).IsZero() })
}
