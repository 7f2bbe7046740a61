package xades

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"sort"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/hashstate"
	"github.com/innsigli/innsigli/internal/pki/tsp"
	"github.com/innsigli/innsigli/internal/pki/validation"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
)

// errCanonicalization: the CanonicalizationMethod of a timestamp is unknown.
var errCanonicalization = errors.New("unknown canonicalization method of the timestamp")

// validatedTimestamp is a timestamp with its property and the report of its validation.
type validatedTimestamp struct {
	validation.Timestamp
	property xmldoc.Node
}

// imprintCache is a cache for the imprints of the archive timestamps of a signature. They are
// computed from the oldest to the newest. Each continues from the hash state of the last one of the
// same form, and digests only the properties between the two, and the Objects again.
type imprintCache struct {
	properties []xmldoc.Node  // the unsigned properties
	states     []imprintState // one for each form
}

// imprintForm is what two imprints need in common to share a hash state.
type imprintForm struct {
	c14n xmldoc.Canonicalization
	hash crypto.Hash
}

// imprintState is the state of a hash after the signed data, SignedInfo, SignatureValue, KeyInfo
// and the first unsigned properties.
type imprintState struct {
	imprintForm
	state []byte
	taken int // number of unsigned properties
}

// validateTimestamps reads and validates the timestamps of the signature, the archive timestamps
// from the newest to the oldest. A trusted archive timestamp is a POE of the timestamps before it,
// whose certificates are then validated at its time (EN 319 102-1 5.6.3). Every trusted timestamp
// is a POE of the signature. The only errors are those of the context.
func (v *signatureValidation) validateTimestamps() (err error) {
	v.validationData.ShareLimit(v.known)
	v.knownWithSignature = v.known.With(v.knownCertificates...)
	if v.validatedTimestamps, err = v.readAndCompare(ades.SignatureTimestamp, v.signatureTimestamps); err != nil {
		return err
	}
	if v.validatedArchiveTimestamps, err = v.readAndCompare(ades.ArchiveTimestamp, v.archiveTimestamps); err != nil {
		return err
	}
	for i := range slices.Backward(v.validatedArchiveTimestamps) { // poeTime uses the newer ones
		t := &v.validatedArchiveTimestamps[i]
		v.newValidator().Timestamp(&t.Timestamp, v.knownWithSignature, v.poeTime(t.property))
	}
	for i := range v.validatedTimestamps {
		t := &v.validatedTimestamps[i]
		v.newValidator().Timestamp(&t.Timestamp, v.knownWithSignature, v.poeTime(t.property))
	}
	v.noteTimestamps()
	return nil
}

// poeTime returns the earliest time for which there is a POE of a property, or else the validation
// time. An archive timestamp is over the properties before it; it is no POE of the properties after
// it (EN 319 132-1 5.5.2.2).
func (v *signatureValidation) poeTime(property xmldoc.Node) time.Time {
	at := v.options.Time
	for _, archive := range v.validatedArchiveTimestamps {
		if property.Precedes(archive.property) {
			at = archive.EarliestPOE(at)
		}
	}
	return at
}

// proofsOfExistence yields the validation data before each trusted archive timestamp, with the time
// of its POE.
func (v *signatureValidation) proofsOfExistence(yield func(validation.POE) bool) {
	at := v.options.Time
	for _, t := range slices.Backward(v.validatedArchiveTimestamps) {
		at = t.EarliestPOE(at)
		if !t.Report.Trusted {
			continue
		}
		data := v.dataBefore(t.property)
		data.ShareLimit(v.known)
		if !yield(validation.POE{Data: data, At: at}) {
			return
		}
	}
}

// noteTimestamps reports the timestamps, and the earliest time of a trusted one.
func (v *signatureValidation) noteTimestamps() {
	best := v.options.Time
	for _, t := range slices.Concat(v.validatedTimestamps, v.validatedArchiveTimestamps) {
		v.report.Timestamps = append(v.report.Timestamps, t.Report)
		best = t.EarliestPOE(best)
		if t.Report.Trusted {
			v.report.BestTime = best
		}
	}
}

// readable returns the timestamps whose token could be read.
func readable(timestamps []validatedTimestamp) []validation.Timestamp {
	var all []validation.Timestamp
	for _, t := range timestamps {
		all = append(all, t.Timestamp)
	}
	return validation.ReadableTimestamps(all)
}

// readAndCompare parses timestamps and compares them with their imprints.
func (v *signatureValidation) readAndCompare(kind ades.TimestampType, encapsulated []encapsulatedTimestamp) ([]validatedTimestamp, error) {
	var all []validatedTimestamp
	for _, e := range encapsulated {
		t := validation.Read(kind, e.der)
		t.Report.Name, _ = e.property.Attr("", "Id")
		if t.Token != nil {
			if err := v.compareImprint(&t, e); err != nil {
				return nil, err
			}
		}
		all = append(all, validatedTimestamp{t, e.property})
	}
	return all, nil
}

// compareImprint compares a timestamp, which was read from e, with its imprint, and writes the
// result to the timestamp's report.
func (v *signatureValidation) compareImprint(t *validation.Timestamp, e encapsulatedTimestamp) error {
	sum, err := v.timestampImprint(v.ctx, e, t.Token.Hash)
	switch {
	case v.ctx.Err() != nil:
		return v.ctx.Err()
	case err != nil:
		t.Report.Fail(err.Error())
	default:
		t.Check(sum, slices.Concat(v.knownCertificates, v.validationData.Certificates))
	}
	return nil
}

// verifyTimestamp compares a timestamp with its imprint, and verifies its value.
func (s *signature) verifyTimestamp(ctx context.Context, t encapsulatedTimestamp) error {
	if t.token == nil {
		return fmt.Errorf("%w: token", tsp.ErrFormat)
	}
	sum, err := s.timestampImprint(ctx, t, t.token.Hash)
	if err != nil {
		return err
	}
	t.token.AddCertificates(slices.Concat(s.knownCertificates, s.validationData.Certificates))
	return t.token.VerifyOver(sum)
}

// timestampVerifies reports whether a timestamp verifies. The error is [ErrLimit] if that would
// take too much work, or that of the context.
func (s *signature) timestampVerifies(ctx context.Context, t encapsulatedTimestamp) (bool, error) {
	err := s.verifyTimestamp(ctx, t)
	if errors.Is(err, xmldsig.ErrLimit) {
		return false, readError(err)
	}
	return err == nil, ctx.Err()
}

// timestampImprint returns the message imprint that a timestamp of the signature has to have.
func (s *signature) timestampImprint(ctx context.Context, t encapsulatedTimestamp, h crypto.Hash) ([]byte, error) {
	switch {
	case t.c14n.Method == 0:
		return nil, errCanonicalization
	case t.property.Is(ns141, "ArchiveTimeStamp"):
		return s.archiveTimestampImprint(ctx, t.c14n, h, t.property, nil)
	}
	return s.signatureTimestampImprint(ctx, t.c14n, h)
}

// signatureTimestampImprint returns the message imprint of a signature timestamp: the digest of the
// element SignatureValue (EN 319 132-1 5.3).
func (s *signature) signatureTimestampImprint(ctx context.Context, c xmldoc.Canonicalization, h crypto.Hash) ([]byte, error) {
	sum := h.New()
	if err := s.write(contextWriter{ctx, sum}, c, s.SignatureValue); err != nil {
		return nil, errCovered(err)
	}
	return sum.Sum(nil), ctx.Err()
}

// archiveTimestampImprint returns the message imprint of the archive timestamp in property (EN 319
// 132-1 5.5.2.2): the digest of all data that the signature signs, SignedInfo, SignatureValue and
// KeyInfo, the unsigned properties before property, and the Objects without the qualifying
// properties. For a timestamp that is to be added, property is none, and added is the canonical
// form of the properties that are to be added before it.
func (s *signature) archiveTimestampImprint(ctx context.Context, c xmldoc.Canonicalization, h crypto.Hash, property xmldoc.Node, added []byte) ([]byte, error) {
	sum, err := s.archiveTimestampHash(ctx, imprintForm{c, h}, property, added)
	if err != nil {
		return nil, errCovered(err)
	}
	return sum.Sum(nil), ctx.Err()
}

func errCovered(err error) error {
	return fmt.Errorf("reading what a timestamp covers: %w", err)
}

// archiveTimestampHash returns a hash of the input of an archive timestamp imprint.
func (s *signature) archiveTimestampHash(ctx context.Context, f imprintForm, property xmldoc.Node, added []byte) (hash.Hash, error) {
	properties := s.unsignedBefore(property)
	sum, taken, err := s.resumeHash(ctx, f, len(properties))
	if err != nil {
		return nil, err
	}
	w := contextWriter{ctx, sum}
	if err := s.write(w, f.c14n, properties[taken:]...); err != nil {
		return nil, err
	}
	if err := s.imprints.add(f, sum, len(properties)); err != nil {
		return nil, err
	}
	if _, err := w.Write(added); err != nil {
		return nil, err
	}
	err = s.write(w, f.c14n, s.otherObjects()...)
	return sum, err
}

// resumeHash returns the hash state of an earlier imprint that has digested at most limit unsigned
// properties, and how many it has digested. If there is none, it digests what comes before the
// unsigned properties.
func (s *signature) resumeHash(ctx context.Context, f imprintForm, limit int) (sum hash.Hash, taken int, err error) {
	for _, earlier := range s.imprints.states {
		if earlier.equal(f) && earlier.taken <= limit {
			sum, err = hashstate.Restore(f.hash, earlier.state)
			return sum, earlier.taken, err
		}
	}
	// Hash has the state in its cache if the reference was verified before.
	if sum, err = s.Hash(ctx, f.hash, s.References[0], f.c14n); err != nil {
		return nil, 0, err
	}
	w := contextWriter{ctx, sum}
	for _, r := range s.References[1:] {
		if err := s.Process(w, r, f.c14n); err != nil {
			return nil, 0, err
		}
	}
	err = s.write(w, f.c14n, s.SignedInfo, s.SignatureValue, s.KeyInfo)
	return sum, 0, err
}

// add keeps the state of a hash, instead of an earlier one of the same form.
func (c *imprintCache) add(f imprintForm, sum hash.Hash, taken int) error {
	state, err := hashstate.Save(sum)
	if err != nil {
		return err
	}
	c.states = slices.DeleteFunc(c.states, func(old imprintState) bool { return old.equal(f) })
	c.states = append(c.states, imprintState{f, state, taken})
	return nil
}

func (f imprintForm) equal(o imprintForm) bool {
	return f.hash == o.hash && f.c14n.Method == o.c14n.Method && f.c14n.Comments == o.c14n.Comments &&
		slices.Equal(f.c14n.Prefixes, o.c14n.Prefixes)
}

// write writes elements in canonical form, one after another. It skips elements that are the zero
// Node.
func (s *signature) write(w io.Writer, c xmldoc.Canonicalization, elements ...xmldoc.Node) error {
	for _, e := range elements {
		if e == none {
			continue
		}
		if err := s.Canonicalize(w, c, xmldoc.Subset{Apex: e}); err != nil {
			return err
		}
	}
	return nil
}

// otherObjects returns the Objects that do not have the qualifying properties.
func (s *signature) otherObjects() []xmldoc.Node {
	var all []xmldoc.Node
	for _, o := range s.Objects {
		if s.qualifying == none || o != s.qualifying.Parent() {
			all = append(all, o)
		}
	}
	return all
}

// unsignedBefore returns the unsigned properties before node, or all if node is none.
func (s *signature) unsignedBefore(node xmldoc.Node) []xmldoc.Node {
	if s.unsigned == none {
		return nil
	}
	if s.imprints.properties == nil {
		s.imprints.properties = slices.Collect(s.unsigned.Elements())
	}
	all := s.imprints.properties
	if node == none {
		return all
	}
	return all[:sort.Search(len(all), func(i int) bool { return !all[i].Precedes(node) })]
}
