package pades

import (
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	"fmt"
	"slices"
	"time"

	"github.com/innsigli/innsigli/internal/cms"
	"github.com/innsigli/innsigli/internal/evidence"
	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/internal/tsp"
)

// carried is what a document has by way of signatures and evidence.
type carried struct {
	doc        Document
	signatures []carriedSignature
	stamps     []carriedStamp // document timestamps, oldest first
	data       *evidence.Data // of the document security store
	known      []*x509.Certificate
}

type carriedSignature struct {
	end    int64 // of what it covers
	signer *x509.Certificate
	tokens []*tsp.Token // over its value, those that verify
}

type carriedStamp struct {
	ranges byteRange
	token  *tsp.Token
}

// readCarried refuses a document with a signature that cannot be read: there would be no
// telling what it lacks.
func readCarried(doc Document) (*carried, error) {
	file, err := pdf.Open(doc, doc.Size)
	if err != nil {
		return nil, err
	}
	covers, err := newCoverage(doc, file)
	if err != nil {
		return nil, err
	}
	found, err := readFields(file)
	if err != nil {
		return nil, err
	}
	if err := checkLastSignature(doc, file, slices.Concat(found.signatures, found.timestamps)); err != nil {
		return nil, err
	}
	c := &carried{doc: doc, data: new(evidence.Data)}
	if c.data.Certificates, c.data.OCSP, c.data.CRLs, err = readDSS(file); err != nil {
		return nil, err
	}
	c.known = slices.Clone(c.data.Certificates)
	for _, f := range found.signatures {
		if err := c.addSignature(covers, f); err != nil {
			return nil, fmt.Errorf("%w: %q: %w", ErrBroken, f.name, err)
		}
	}
	for _, f := range found.timestamps {
		if err := c.addStamp(covers, f); err != nil {
			return nil, fmt.Errorf("%w: %q: %w", ErrBroken, f.name, err)
		}
	}
	slices.SortFunc(c.stamps, func(a, b carriedStamp) int { return cmp.Compare(a.ranges.end, b.ranges.end) })
	return c, nil
}

func (c *carried) addSignature(covers coverage, f signatureField) error {
	r, contents, problem := covers.read(f)
	if problem != "" {
		return fmt.Errorf("%s", problem)
	}
	signed, err := cms.Parse(contents)
	if err != nil {
		return err
	}
	s := carriedSignature{end: r.end}
	if s.signer, err = signed.Signer(); err != nil {
		return err
	}
	c.known = append(c.known, signed.Certificates...)
	for _, der := range signed.SignatureTimestamps() {
		token, err := tsp.ParseToken(der)
		if err != nil {
			continue // it proves nothing
		}
		h := token.Hash.New()
		h.Write(signed.Value)
		c.known = append(c.known, token.Certificates...)
		token.Supply(c.known)
		if bytes.Equal(h.Sum(nil), token.Sum) && token.Verify() == nil {
			s.tokens = append(s.tokens, token)
		}
	}
	c.signatures = append(c.signatures, s)
	return nil
}

func (c *carried) addStamp(covers coverage, f signatureField) error {
	r, contents, problem := covers.read(f)
	if problem != "" {
		return fmt.Errorf("%s", problem)
	}
	token, err := tsp.ParseToken(contents)
	if err != nil {
		return err
	}
	c.known = append(c.known, token.Certificates...)
	token.Supply(c.known)
	if err := token.Verify(); err != nil {
		return err
	}
	c.stamps = append(c.stamps, carriedStamp{r, token})
	return nil
}

// checkLastStamp compares the last document timestamp, which covers the others, with the
// document.
func (c *carried) checkLastStamp(ctx context.Context) error {
	if len(c.stamps) == 0 {
		return nil
	}
	last := c.stamps[len(c.stamps)-1]
	h := last.token.Hash.New()
	for _, part := range last.ranges.parts() {
		if err := hashPart(ctx, h, c.doc, part[0], part[1]); err != nil {
			return err
		}
	}
	if !bytes.Equal(h.Sum(nil), last.token.Sum) {
		return fmt.Errorf("%w: its document timestamp is over something else", ErrBroken)
	}
	return nil
}

// timeOf is when a signature existed at the latest, by the oldest timestamp over it; zero
// when there is none.
func (c *carried) timeOf(s carriedSignature) (oldest time.Time) {
	tokens := slices.Clone(s.tokens)
	for _, stamp := range c.stamps {
		if stamp.ranges.end > s.end {
			tokens = append(tokens, stamp.token)
		}
	}
	for _, token := range tokens {
		if oldest.IsZero() || token.Time.Before(oldest) {
			oldest = token.Time
		}
	}
	return oldest
}

// timestamped says whether every signature has level T.
func (c *carried) timestamped() bool {
	return !slices.ContainsFunc(c.signatures, func(s carriedSignature) bool { return c.timeOf(s).IsZero() })
}
