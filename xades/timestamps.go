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

// errMethod: the CanonicalizationMethod of a timestamp is none that is known.
var errCanonicalization = errors.New("the canonicalization method of the timestamp is not known")

// archiveHashes are what was digested for archive timestamps of a signature. Each is over what the one before it is,
// and over more: with a hash that goes on, those of thirty years take little longer than the last of them.
type archiveHashes struct {
	unsigned []xmldoc.Node // the unsigned properties
	states   []archiveHash
}

// archiveForm is what imprints have to have in common.
type archiveForm struct {
	c14n xmldoc.Canonicalization
	hash crypto.Hash
}

// archiveHash is a hash that has taken what comes before the unsigned properties, and some of those.
type archiveHash struct {
	archiveForm
	state      hash.Cloner
	properties int
}

// checkTimestamps reads and judges the timestamps of the signature, the archive timestamps from the newest to
// the oldest: each that is trusted proves that those before it existed at its time, at which their certificates
// are judged in turn (EN 319 102-1 5.6.3). All of them prove that the signature existed. The error is one of the
// context.
func (v *verification) checkTimestamps() (err error) {
	v.validationData.ChargeTo(v.inspection.known)
	v.known = v.inspection.known.With(v.knownCertificates...)
	if v.validatedTimestamps, err = v.readTimestamps(ades.SignatureTimestamp, v.signatureTimestamps); err != nil {
		return err
	}
	if v.validatedArchiveTimestamps, err = v.readTimestamps(ades.ArchiveTimestamp, v.archiveTimestamps); err != nil {
		return err
	}
	for i := range slices.Backward(v.validatedArchiveTimestamps) {
		v.newJudge().Timestamp(&v.validatedArchiveTimestamps[i], v.known, v.poeTime(v.archiveTimestamps[i].property))
	}
	for i := range v.validatedTimestamps {
		v.newJudge().Timestamp(&v.validatedTimestamps[i], v.known, v.poeTime(v.signatureTimestamps[i].property))
	}
	v.noteTimestamps()
	return nil
}

// existed is when a property existed at the latest. An archive timestamp is over the properties before its own
// and proves nothing of what is put behind, though it is over the same signature (EN 319 132-1 5.5.2.2).
func (v *verification) poeTime(property xmldoc.Node) time.Time {
	at := v.options.Time
	for i, archive := range v.archiveTimestamps {
		if property.Precedes(archive.property) {
			at = v.validatedArchiveTimestamps[i].ProvenAt(at)
		}
	}
	return at
}

// pointsOfExistence goes through the validation data that archive timestamps prove: each is over what stands before it.
func (v *verification) proofsOfExistence(yield func(validation.POE) bool) {
	at := v.options.Time
	for i, t := range slices.Backward(v.validatedArchiveTimestamps) {
		at = t.ProvenAt(at)
		if !t.Report.Trusted {
			continue
		}
		data := v.dataBefore(v.archiveTimestamps[i].property).ChargeTo(v.inspection.known)
		if !yield(validation.POE{Data: data, At: at}) {
			return
		}
	}
}

func (v *verification) noteTimestamps() {
	best := v.options.Time
	for _, t := range slices.Concat(v.validatedTimestamps, v.validatedArchiveTimestamps) {
		v.report.Timestamps = append(v.report.Timestamps, t.Report)
		if best = t.ProvenAt(best); t.Report.Trusted {
			v.report.BestTime = best
		}
	}
}

// readTimestamps reads timestamps and compares them with what they are over.
func (v *verification) readTimestamps(kind ades.TimestampType, carried []encapsulatedTimestamp) ([]validation.Timestamp, error) {
	var all []validation.Timestamp
	for _, c := range carried {
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

func (v *verification) compare(t *validation.Timestamp, c encapsulatedTimestamp) error {
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

// checkTimestamp compares a timestamp with what it stands for, and verifies its value.
func (s *signature) checkTimestamp(ctx context.Context, t encapsulatedTimestamp) error {
	if t.token == nil {
		return fmt.Errorf("%w: token", tsp.ErrFormat)
	}
	sum, err := s.timestampImprint(ctx, t, t.token.Hash)
	if err != nil {
		return err
	}
	t.token.Supply(slices.Concat(s.knownCertificates, s.validationData.Certificates))
	return t.token.VerifyOver(sum)
}

// timestampedSum is the digest of what a timestamp of a signature is over.
func (s *signature) timestampImprint(ctx context.Context, t encapsulatedTimestamp, h crypto.Hash) ([]byte, error) {
	if t.property.Is(ns141, "ArchiveTimeStamp") {
		return s.archiveTimestampImprint(ctx, t.c14n, h, t.property, nil)
	}
	return s.signatureTimestampImprint(ctx, t.c14n, h)
}

// signedSum is the digest of what a signature timestamp is over: the element SignatureValue (EN 319 132-1
// 5.3).
func (s *signature) signatureTimestampImprint(ctx context.Context, c xmldoc.Canonicalization, h crypto.Hash) ([]byte, error) {
	begin := func() (hash.Hash, error) { return h.New(), nil }
	return digest(ctx, c, begin, func(w io.Writer) error { return s.write(w, c, s.SignatureValue) })
}

// archivedSum is the digest of what an archive timestamp is over that stands before a node, or behind all
// unsigned properties where that is zero, and some in canonical form that are to be added (EN 319 132-1
// 5.5.2.2): all that the signature signs, itself with its KeyInfo, the unsigned properties before, and the
// Objects other than that of the properties.
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
		return nil, fmt.Errorf("what a timestamp is over: %w", err)
	}
	return sum.Sum(nil), ctx.Err()
}

// archivedHash is a hash of what archive timestamps are over but for the Objects, which come last.
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

// begunHash goes on from an imprint that has taken so many unsigned properties at most, or begins.
func (s *signature) resumeHash(ctx context.Context, f archiveForm, unsigned int) (sum hash.Hash, taken int, err error) {
	for _, b := range s.hashes.states {
		if b.equal(f) && b.properties <= unsigned {
			sum, err = b.state.Clone()
			return sum, b.properties, err
		}
	}
	if sum, err = s.Hash(ctx, f.hash, s.References[0], f.c14n); err != nil { // is known, as a rule
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

// remember keeps the state of a hash, one of each form.
func (m *archiveHashes) remember(f archiveForm, sum hash.Hash, taken int) error {
	state, ok := sum.(hash.Cloner)
	if !ok {
		return nil // the next one begins anew
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

// write writes elements in canonical form, one after another.
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

// otherObjects are the Objects but that of the properties.
func (s *signature) otherObjects() []xmldoc.Node {
	var all []xmldoc.Node
	for _, o := range s.Objects {
		if s.qualifying == none || o != s.qualifying.Parent() {
			all = append(all, o)
		}
	}
	return all
}

// unsignedBefore are the unsigned properties before one of them, or (zero) all.
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
