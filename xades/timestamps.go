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
	"github.com/innsigli/innsigli/internal/pki/tsp"
	"github.com/innsigli/innsigli/internal/pki/validation"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// errCanonicalization: the CanonicalizationMethod of a timestamp is unknown.
var errCanonicalization = errors.New("unknown canonicalization method of the timestamp")

// archiveHashes is a cache for the archive timestamps of a signature. The imprint of each begins
// with most of the imprint of the one before. With a hash state to continue from, thirty years of
// them take little longer than the last one.
type archiveHashes struct {
	unsigned []xmldoc.Node // the unsigned properties
	states   []archiveHash
}

// archiveForm is what two imprints need in common to share a hash state.
type archiveForm struct {
	c14n xmldoc.Canonicalization
	hash crypto.Hash
}

// archiveHash is the state of a hash after everything before the unsigned properties, and the first
// of those.
type archiveHash struct {
	archiveForm
	state      hash.Cloner
	properties int // how many unsigned properties it has digested
}

// checkTimestamps reads and validates the timestamps of the signature, the archive timestamps from
// the newest to the oldest. A trusted archive timestamp is a POE of the timestamps before it, whose
// certificates are then validated at its time (EN 319 102-1 5.6.3). Every trusted timestamp is a
// POE of the signature. The only errors are those of the context.
func (v *signatureValidation) checkTimestamps() (err error) {
	v.validationData.ShareLimit(v.inspection.known)
	v.known = v.inspection.known.With(v.knownCertificates...)
	if v.validatedTimestamps, err = v.readTimestamps(ades.SignatureTimestamp, v.signatureTimestamps); err != nil {
		return err
	}
	if v.validatedArchiveTimestamps, err = v.readTimestamps(ades.ArchiveTimestamp, v.archiveTimestamps); err != nil {
		return err
	}
	for i := range slices.Backward(v.validatedArchiveTimestamps) {
		v.newValidator().Timestamp(&v.validatedArchiveTimestamps[i], v.known, v.poeTime(v.archiveTimestamps[i].property))
	}
	for i := range v.validatedTimestamps {
		v.newValidator().Timestamp(&v.validatedTimestamps[i], v.known, v.poeTime(v.signatureTimestamps[i].property))
	}
	v.noteTimestamps()
	return nil
}

// poeTime returns the earliest time for which there is a POE of a property, or else the validation
// time. An archive timestamp is over the properties before it; it is no POE of the properties after
// it (EN 319 132-1 5.5.2.2).
func (v *signatureValidation) poeTime(property xmldoc.Node) time.Time {
	at := v.options.Time
	for i, archive := range v.archiveTimestamps {
		if property.Precedes(archive.property) {
			at = v.validatedArchiveTimestamps[i].POETime(at)
		}
	}
	return at
}

// proofsOfExistence yields the validation data before each trusted archive timestamp, with the time
// of its POE.
func (v *signatureValidation) proofsOfExistence(yield func(validation.POE) bool) {
	at := v.options.Time
	for i, t := range slices.Backward(v.validatedArchiveTimestamps) {
		at = t.POETime(at)
		if !t.Report.Trusted {
			continue
		}
		data := v.dataBefore(v.archiveTimestamps[i].property).ShareLimit(v.inspection.known)
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
		if best = t.POETime(best); t.Report.Trusted {
			v.report.BestTime = best
		}
	}
}

// readTimestamps parses timestamps and compares them with their imprints.
func (v *signatureValidation) readTimestamps(kind ades.TimestampType, encapsulated []encapsulatedTimestamp) ([]validation.Timestamp, error) {
	var all []validation.Timestamp
	for _, c := range encapsulated {
		t := validation.Read(kind, c.der)
		t.Report.Name, _ = c.property.Attr("", "Id")
		if t.Token != nil {
			if err := v.compare(&t, c); err != nil {
				return nil, err
			}
		}
		all = append(all, t)
	}
	return all, nil
}

func (v *signatureValidation) compare(t *validation.Timestamp, c encapsulatedTimestamp) error {
	sum, err := v.timestampImprint(v.ctx, c, t.Token.Hash)
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

// checkTimestamp compares a timestamp with its imprint, and verifies its value.
func (s *signature) checkTimestamp(ctx context.Context, t encapsulatedTimestamp) error {
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

// timestampImprint returns the message imprint that a timestamp of the signature has to have.
func (s *signature) timestampImprint(ctx context.Context, t encapsulatedTimestamp, h crypto.Hash) ([]byte, error) {
	if t.property.Is(ns141, "ArchiveTimeStamp") {
		return s.archiveTimestampImprint(ctx, t.c14n, h, t.property, nil)
	}
	return s.signatureTimestampImprint(ctx, t.c14n, h)
}

// signatureTimestampImprint returns the message imprint of a signature timestamp: the digest of the
// element SignatureValue (EN 319 132-1 5.3).
func (s *signature) signatureTimestampImprint(ctx context.Context, c xmldoc.Canonicalization, h crypto.Hash) ([]byte, error) {
	begin := func() (hash.Hash, error) { return h.New(), nil }
	return digest(ctx, c, begin, func(w io.Writer) error { return s.write(w, c, s.SignatureValue) })
}

// archiveTimestampImprint returns the message imprint of an archive timestamp in the property
// before (EN 319 132-1 5.5.2.2): the digest of all data that the signature signs, SignedInfo,
// SignatureValue and KeyInfo, the unsigned properties before it, and the Objects without the
// qualifying properties. For a timestamp that is to be added, before is none, and added is the
// canonical form of the properties that are to be added before it.
func (s *signature) archiveTimestampImprint(ctx context.Context, c xmldoc.Canonicalization, h crypto.Hash, before xmldoc.Node, added []byte) ([]byte, error) {
	begin := func() (hash.Hash, error) { return s.archiveTimestampHash(ctx, archiveForm{c, h}, before) }
	return digest(ctx, c, begin, func(w io.Writer) error {
		if _, err := w.Write(added); err != nil {
			return err
		}
		return s.write(w, c, s.otherObjects()...)
	})
}

func digest(ctx context.Context, c xmldoc.Canonicalization, begin func() (hash.Hash, error), write func(io.Writer) error) ([]byte, error) {
	if c.Method == 0 {
		return nil, errCanonicalization
	}
	sum, err := begin()
	if err == nil {
		err = write(contextWriter{ctx, sum})
	}
	if err != nil {
		return nil, fmt.Errorf("reading what a timestamp covers: %w", err)
	}
	return sum.Sum(nil), ctx.Err()
}

// archiveTimestampHash returns a hash of the input of an archive timestamp imprint without the
// Objects, which come last.
func (s *signature) archiveTimestampHash(ctx context.Context, f archiveForm, before xmldoc.Node) (hash.Hash, error) {
	unsigned := s.unsignedBefore(before)
	sum, taken, err := s.resumeHash(ctx, f, len(unsigned))
	if err != nil {
		return nil, err
	}
	if err := s.write(contextWriter{ctx, sum}, f.c14n, unsigned[taken:]...); err != nil {
		return nil, err
	}
	return sum, s.hashes.remember(f, sum, len(unsigned))
}

// resumeHash returns the hash state of an earlier imprint that has digested at most this number of
// unsigned properties, and how many it has. If there is none, it digests what comes before the
// unsigned properties.
func (s *signature) resumeHash(ctx context.Context, f archiveForm, unsigned int) (sum hash.Hash, taken int, err error) {
	for _, b := range s.hashes.states {
		if b.equal(f) && b.properties <= unsigned {
			sum, err = b.state.Clone()
			return sum, b.properties, err
		}
	}
	// The hash is usually remembered from verifying the reference.
	if sum, err = s.Hash(ctx, f.hash, s.References[0], f.c14n); err != nil {
		return nil, 0, err
	}
	w := contextWriter{ctx, sum}
	for _, r := range s.References[1:] {
		if err := s.Process(w, r, f.c14n); err != nil {
			return nil, 0, err
		}
	}
	return sum, 0, s.write(w, f.c14n, s.SignedInfo, s.SignatureValue, s.KeyInfo)
}

// remember keeps a hash state, one for each form.
func (m *archiveHashes) remember(f archiveForm, sum hash.Hash, taken int) error {
	state, ok := sum.(hash.Cloner)
	if !ok {
		return nil // the next imprint starts from the beginning
	}
	state, err := state.Clone()
	b := archiveHash{f, state, taken}
	if i := slices.IndexFunc(m.states, func(b archiveHash) bool { return b.equal(f) }); i >= 0 {
		m.states[i] = b
	} else {
		m.states = append(m.states, b)
	}
	return err
}

func (f archiveForm) equal(o archiveForm) bool {
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
	if s.hashes.unsigned == nil {
		s.hashes.unsigned = slices.Collect(s.unsigned.Elements())
	}
	all := s.hashes.unsigned
	if node == none {
		return all
	}
	return all[:sort.Search(len(all), func(i int) bool { return !all[i].Precedes(node) })]
}
