package pades

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/internal/pki/tsp"
	"github.com/innsigli/innsigli/internal/pki/validation"
)

// Extender raises documents to a level. Nothing of what was signed changes, and no
// certification forbids it (ISO 32000-2 table 257). All methods return the revisions to
// append, in their order; there are none when the document has all of it already.
//
// Whoever was revoked, or cannot be shown not to have been, is an error, as is a missing
// timestamp: never a lower level. Errors of all methods: [ades.ErrUnsigned]; [ades.ErrBroken], also for
// a signature or a document timestamp whose value or digest is wrong; [ades.ErrUnreadable],
// [ErrEncrypted], [ades.ErrForbidden]; [ades.ErrTimestamp], [ades.ErrNoRevocation] and
// [ades.ErrNoChain], with [ades.ErrUnavailable] when it may work later; [ades.RevokedError].
// Whether signers are to be trusted is for [Verify] to say.
type Extender struct {
	Sources ades.Sources
	// VRI lists validation data for each signature too (ISO 32000-2 table 262), whenever
	// there is some to append. Validators need no such lists (EN 319 142-1 5.4.2.3).
	VRI bool
}

// Extend raises all signatures of a document to a level, ours and others' (EN 319 142-1 5.4
// to 5.6): for T by a document timestamp, if a signature has no timestamp; for LT by the
// validation data that is missing; for LTA by a document timestamp over that.
func (x Extender) Extend(ctx context.Context, doc Document, level ades.Level) ([]Revision, error) {
	return x.extend(ctx, doc, level, everySignature)
}

// ExtendLast raises the last signature of a document and leaves the others as they are:
// whoever has just signed answers for that one, while earlier signers may lead to roots that
// nobody here trusts.
func (x Extender) ExtendLast(ctx context.Context, doc Document, level ades.Level) ([]Revision, error) {
	return x.extend(ctx, doc, level, lastSignature)
}

// Renew puts a further document timestamp over a document of level LTA, before the
// certificate or the algorithms of the last one lose their force, and the validation data
// of that one before it (EN 319 142-1 5.5). A document of a lower level is extended to LTA.
func (x Extender) Renew(ctx context.Context, doc Document) ([]Revision, error) {
	e := extension{Extender: x, ctx: ctx, doc: doc, choose: everySignature}
	err := e.augment(ades.LTA)
	if err == nil && len(e.revisions) == 0 {
		err = e.addArchiveTimestamp()
	}
	return e.result(err)
}

func (x Extender) extend(ctx context.Context, doc Document, level ades.Level, choose selection) ([]Revision, error) {
	if err := checkLevel(level); err != nil {
		return nil, err
	}
	e := extension{Extender: x, ctx: ctx, doc: doc, choose: choose}
	return e.result(e.augment(level))
}

// extension is the work on one document, which grows.
type extension struct {
	Extender
	ctx       context.Context
	doc       Document
	choose    selection
	cached    *signedDocument // of doc as it is now; nil: not read yet
	revisions []Revision
}

func (e *extension) result(err error) ([]Revision, error) {
	if err != nil {
		return nil, readError(err)
	}
	return e.revisions, nil
}

func (e *extension) augment(level ades.Level) error {
	c, err := e.current()
	if err != nil {
		return err
	}
	if len(c.signatures) == 0 {
		return ades.ErrUnsigned
	}
	if err := c.verify(e.ctx); err != nil {
		return err
	}
	if done, err := e.hasLTA(c); done || err != nil {
		return err
	}
	if level >= ades.T && !c.timestamped() {
		if err := e.addTimestamp(); err != nil {
			return err
		}
	}
	switch level {
	case ades.LT:
		return e.addValidationData()
	case ades.LTA:
		return e.addArchiveTimestamp()
	}
	return nil
}

// archive puts a timestamp over everything, including the validation data of the last.
func (e *extension) addArchiveTimestamp() error {
	if err := e.addDataBeforeTimestamp(); err != nil {
		return err
	}
	return e.addTimestamp()
}

// archived reports whether the last document timestamp covers the signatures with all of
// their validation data, so that they have level LTA. Its own comes later.
func (e *extension) hasLTA(c *signedDocument) (bool, error) {
	if len(c.timestamps) == 0 {
		return false, nil
	}
	last := c.timestamps[len(c.timestamps)-1]
	covered, err := readSignedDocument(Document{ReaderAt: e.doc, Size: last.ranges.end}, e.choose)
	if err != nil || len(covered.signatures) < len(c.signatures) || !covered.timestamped() {
		return false, err
	}
	covered.timestamps = covered.timestamps[:len(covered.timestamps)-1]
	known := validation.NewKnown(e.ctx, e.Sources, covered.known...)
	lacking, _ := covered.store.data.Lacking(known, covered.allTargets()...)
	return len(lacking) == 0, e.ctx.Err()
}

// carried reads what the document has by now.
func (e *extension) current() (_ *signedDocument, err error) {
	if e.cached == nil {
		e.cached, err = readSignedDocument(e.doc, e.choose)
	}
	return e.cached, err
}

// signedFile is the document as it is by now, where it does not matter what its signatures
// carry.
func (e *extension) signedFile() (*signedFile, error) {
	if e.cached != nil {
		return e.cached.signedFile, nil
	}
	return openSignedFile(e.doc)
}

func (e *extension) append(r Revision) {
	e.revisions = append(e.revisions, r)
	e.doc, e.cached = e.doc.With(r), nil
}

// embed appends the validation data that is missing.
func (e *extension) addValidationData() error {
	return e.addMissingData((*signedDocument).noMoreTargets)
}

// embedBeforeTimestamp does so before a document timestamp that is to come. It will hardly be of
// another authority than the last one: by what is known about that one today the new
// timestamp can be judged, before its renewal brings what is said about itself.
func (e *extension) addDataBeforeTimestamp() error {
	return e.addMissingData((*signedDocument).lastAuthorityIfOutdated)
}

// embedWith appends what is missing, with more to ask about. What can be collected and
// would still not do, for validators or [Verify], is not level LT.
func (e *extension) addMissingData(more func(*signedDocument, *validation.Known) []validation.Target) error {
	c, err := e.current()
	if err != nil {
		return err
	}
	known := validation.NewKnown(e.ctx, e.Sources, c.known...)
	found, err := validation.Complete(e.ctx, e.Sources, known, c.store.data, c.allTargets(), more(c, known)...)
	if err != nil {
		return err
	}
	r, err := e.dataRevision(c, known, found)
	if err == nil && len(r.Bytes) == 0 {
		r, err = e.collectAgain(c, known)
	}
	if err != nil || len(r.Bytes) == 0 {
		return err
	}
	e.append(r)
	return nil
}

// embedAgain asks again about the last signer where the document had all validation data before the signature, as when
// the same person signed a moment ago: it cannot have been collected for the signature, and makes no level LT (EN 319
// 142-1 6.3). The revision is empty where validation data was added since, and where the sources have nothing newer, as
// authorities with CRLs alone have not: then all that there is is in the document.
func (e *extension) collectAgain(c *signedDocument, known *validation.Known) (Revision, error) {
	last := slices.MaxFunc(c.signatures, func(a, b documentSignature) int { return cmp.Compare(a.ranges.end, b.ranges.end) })
	file, err := c.file.Earlier(last.ranges.end)
	if err != nil {
		return Revision{}, err
	}
	before, err := readStore(file)
	if err != nil || len(before.streams) < len(c.store.streams) {
		return Revision{}, err
	}
	found, err := validation.Collect(e.ctx, e.Sources, known, validation.Target{Certificate: last.signer, BestSignatureTime: time.Now()})
	if err != nil {
		return Revision{}, err
	}
	return e.dataRevision(c, known, found)
}

func (c *signedDocument) noMoreTargets(*validation.Known) []validation.Target { return nil }

// outdatedTimestampAuthority is that of the last timestamp, when no proof about it is in force any
// more.
func (c *signedDocument) lastAuthorityIfOutdated(known *validation.Known) []validation.Target {
	last := c.lastToken()
	if last == nil {
		return nil
	}
	today := validation.Target{Certificate: last.Certificate, Timestamp: true, Times: validation.Times{SigningTime: time.Now()}}
	if outdated, _ := c.store.data.Lacking(known, today); len(outdated) == 0 {
		return nil
	}
	return []validation.Target{{Certificate: last.Certificate, Timestamp: true, Times: validation.Times{SigningTime: last.Time}}}
}

// lastToken is the newest timestamp of all; nil when there is none.
func (c *signedDocument) lastToken() (last *tsp.Token) {
	var tokens []*tsp.Token
	for _, s := range c.signatures {
		tokens = append(tokens, s.tokens...)
	}
	for _, s := range c.timestamps {
		tokens = append(tokens, s.token)
	}
	for _, token := range tokens {
		if last == nil || token.Time.After(last.Time) {
			last = token
		}
	}
	return last
}

// allTargets are the certificates that are relied upon: those of signers and of the
// authorities of timestamps.
func (c *signedDocument) allTargets() []validation.Target {
	var all []validation.Target
	for _, s := range c.signatures {
		all = append(all, c.targets(s)...)
	}
	for _, s := range c.timestamps {
		all = append(all, c.timestampTarget(s))
	}
	return all
}

// targets are the certificates that are relied upon for one signature.
func (c *signedDocument) targets(s documentSignature) []validation.Target {
	all := []validation.Target{{Certificate: s.signer, BestSignatureTime: c.bestSignatureTime(s)}}
	for _, token := range s.tokens {
		all = append(all, c.authorityTarget(token, s.ranges))
	}
	return all
}

func (c *signedDocument) timestampTarget(s documentTimestamp) validation.Target {
	return c.authorityTarget(s.token, s.ranges)
}

// authority is that of a timestamp, which the next document timestamp proves to have
// existed at its own time (EN 319 102-1 5.6.3).
func (c *signedDocument) authorityTarget(token *tsp.Token, covered byteRange) validation.Target {
	times := validation.Times{SigningTime: token.Time}
	if i := slices.IndexFunc(c.timestamps, func(s documentTimestamp) bool { return s.ranges.end > covered.end }); i >= 0 {
		times.ValidationTime = c.timestamps[i].token.Time
	}
	return validation.Target{Certificate: token.Certificate, Timestamp: true, Times: times}
}

// embedded returns the revision with what was found that the document does not have; an
// empty one when there is nothing.
func (e *extension) dataRevision(c *signedDocument, known *validation.Known, found *validation.Data) (Revision, error) {
	update := c.file.NewUpdate()
	added := c.store.add(update, found)
	if added.empty() {
		return Revision{}, nil
	}
	if e.VRI {
		added.vri = c.vriEntries(known, found)
	}
	if err := c.store.write(c.file, update, added); err != nil {
		return Revision{}, fmt.Errorf("adding validation data: %w", err)
	}
	if err := declareExtension(c.file, update); err != nil {
		return Revision{}, err
	}
	appended, _, err := update.Bytes()
	if err != nil {
		return Revision{}, err
	}
	return c.doc.unsignedRevision(appended)
}

// vriEntries lists for each signature and document timestamp that has no entry in
// the VRI dictionary what the document, with what was found, has about it.
func (c *signedDocument) vriEntries(known *validation.Known, found *validation.Data) []vriEntry {
	all := validation.Merge(c.store.data, found).ChargeTo(known)
	var entries []vriEntry
	list := func(key pdf.Name, targets ...validation.Target) {
		if c.store.vri[key] == nil {
			about := all.Of(known, targets...)
			entries = append(entries, vriEntry{key, c.store.vriSource(about)})
		}
	}
	for _, s := range c.signatures {
		list(s.vri, c.targets(s)...)
	}
	for _, s := range c.timestamps {
		list(s.vri, c.timestampTarget(s))
	}
	return entries
}
