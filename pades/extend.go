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

// Extender extends the signatures of documents to a baseline level (T, LT or LTA, EN 319 142-1 6). It
// changes nothing that was signed. Certified documents may be extended too, whatever their
// certification permits (ISO 32000-2 table 257). Each method returns the revisions to append, in order.
// There are none if the document already has everything, or if the method returns an error.
//
// A revoked certificate, one of unknown status, or a missing timestamp is an error: a method never
// settles for a lower level. All methods return these errors:
//
//   - [ades.ErrUnsigned]: the document has no signature.
//   - [ades.ErrBroken]: a signature cannot be read, or the value or digest of a signature or
//     document timestamp is wrong.
//   - [ades.ErrUnreadable], [ErrEncrypted], [ades.ErrForbidden]: as for [Prepare].
//   - [ades.ErrTimestamp], [ades.ErrNoRevocation], [ades.ErrNoChain]: a timestamp, revocation
//     data or a chain is not available; together with [ades.ErrUnavailable] if a later attempt
//     may succeed.
//   - [ades.RevokedError]: a certificate is revoked.
//
// An Extender does not decide whether signers are trusted: [Verify] does.
type Extender struct {
	Sources ades.Sources
	// VRI also writes a VRI dictionary for each signature (ISO 32000-2 table 262) when there is
	// validation data to append. Validators do not need it (EN 319 142-1 5.4.2.3).
	VRI bool
}

// Extend extends all signatures of a document to a level, including those of other signers (EN 319
// 142-1 5.4 to 5.6). It appends what the level and those below it need:
//
//   - T: a document timestamp, if a signature has no timestamp.
//   - LT: the missing validation data.
//   - LTA: a document timestamp over the validation data.
func (x Extender) Extend(ctx context.Context, doc Document, level ades.Level) ([]Revision, error) {
	return x.extend(ctx, doc, level, everySignature)
}

// ExtendLast extends the last signature of a document and leaves the others as they are. It is for
// a caller that has just made this signature: the certificates of earlier signers may lead to roots
// that the sources do not trust.
func (x Extender) ExtendLast(ctx context.Context, doc Document, level ades.Level) ([]Revision, error) {
	return x.extend(ctx, doc, level, lastSignature)
}

// Renew appends a further document timestamp to a document of level LTA, before the certificate or
// the algorithms of the last one can no longer be relied upon. Before it, Renew appends the
// validation data of the last document timestamp (EN 319 142-1 5.5). A document of a lower level is
// extended to LTA.
func (x Extender) Renew(ctx context.Context, doc Document) ([]Revision, error) {
	return x.revise(ctx, doc, everySignature, func(e *extension) error {
		err := e.augment(ades.LTA)
		if err == nil && len(e.revisions) == 0 {
			err = e.addArchiveTimestamp()
		}
		return err
	})
}

func (x Extender) extend(ctx context.Context, doc Document, level ades.Level, choose selection) ([]Revision, error) {
	if err := checkLevel(level); err != nil {
		return nil, err
	}
	return x.revise(ctx, doc, choose, func(e *extension) error { return e.augment(level) })
}

// revise returns the revisions that add appends to a document, or none if it returns an error.
func (x Extender) revise(ctx context.Context, doc Document, choose selection, add func(*extension) error) ([]Revision, error) {
	return reading(doc, func(doc Document) ([]Revision, error) {
		e := extension{Extender: x, ctx: ctx, doc: doc, choose: choose}
		if err := add(&e); err != nil {
			return nil, readError(err)
		}
		return e.revisions, nil
	})
}

// extension is the work of an Extender on one document, to which it appends revisions.
type extension struct {
	Extender
	ctx       context.Context
	doc       Document
	choose    selection
	cached    *signedDocument // the current doc with its signatures; nil: not read yet
	revisions []Revision
}

// augment appends the revisions with which all chosen signatures reach the level. It appends none
// if they have it.
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
	if done, err := e.hasLTA(c); done || err != nil { // LTA has what the lower levels need
		return err
	}
	if level >= ades.T && !c.timestamped() {
		if err := e.addTimestamp(); err != nil {
			return err
		}
	}
	switch level {
	case ades.LT:
		return e.addMissingData(false)
	case ades.LTA:
		return e.addArchiveTimestamp()
	}
	return nil
}

// addArchiveTimestamp appends a document timestamp over the whole document. Before it, it appends
// the missing validation data, also that of the last timestamp.
func (e *extension) addArchiveTimestamp() error {
	if err := e.addMissingData(true); err != nil {
		return err
	}
	return e.addTimestamp()
}

// hasLTA reports whether the signatures have level LTA: the last document timestamp covers them and
// all of their validation data.
func (e *extension) hasLTA(c *signedDocument) (bool, error) {
	if len(c.timestamps) == 0 {
		return false, nil
	}
	last := c.timestamps[len(c.timestamps)-1]
	covered, err := readSignedDocument(Document{ReaderAt: e.doc, Size: last.ranges.end}, e.choose)
	if err != nil || len(covered.signatures) < len(c.signatures) || !covered.timestamped() {
		return false, err
	}
	// The data about the last timestamp itself is not required before its renewal.
	covered.timestamps = covered.timestamps[:len(covered.timestamps)-1]
	known := validation.NewKnown(e.ctx, e.Sources, covered.known...)
	lacking, _ := covered.store.data.Lacking(known, covered.allTargets()...)
	return len(lacking) == 0, e.ctx.Err() // Lacking finds no chain once the context has ended
}

// current returns the current document with its signatures and validation data.
func (e *extension) current() (_ *signedDocument, err error) {
	if e.cached == nil {
		e.cached, err = readSignedDocument(e.doc, e.choose)
	}
	return e.cached, err
}

// currentFile returns the current document with its signature fields. It does not read the
// signatures and the validation data.
func (e *extension) currentFile() (*signedFile, error) {
	if e.cached != nil {
		return e.cached.signedFile, nil
	}
	return openSignedFile(e.doc)
}

func (e *extension) addRevision(r Revision) {
	e.revisions = append(e.revisions, r)
	e.doc, e.cached = e.doc.With(r), nil
}

// addMissingData appends the missing validation data of all targets. If a document timestamp
// follows, it will most likely come from the same authority as the last one, so addMissingData also
// renews outdated data about that authority: a verifier can then validate the new timestamp by it
// until the next renewal. It returns an error when the data that the sources have is not enough for
// validators or [Verify]: the document would not reach level LT.
func (e *extension) addMissingData(timestampFollows bool) error {
	c, err := e.current()
	if err != nil {
		return err
	}
	known := validation.NewKnown(e.ctx, e.Sources, c.known...)
	var renewed []validation.Target
	if timestampFollows {
		renewed = c.lastAuthorityIfOutdated(known)
	}
	found, err := validation.Complete(e.ctx, e.Sources, known, c.store.data, c.allTargets(), renewed...)
	if err != nil {
		return err
	}
	r, err := e.dataRevision(c, known, found)
	if err == nil && len(r.Bytes) == 0 {
		r, err = e.renewLastSignerData(c, known)
	}
	if err != nil || len(r.Bytes) == 0 {
		return err
	}
	e.addRevision(r)
	return nil
}

// renewLastSignerData returns a revision with newer data about the last signer for a document that
// lacks none, if no data was added after that signature. Then the document had all of it before, for
// example because the same person signed a moment ago. Such data cannot have been collected for the
// signature, and does not count for level LT (EN 319 142-1 6.3). The revision is empty if the sources
// have nothing newer, as is common for authorities that have only CRLs: the document then contains
// all the data that exists.
func (e *extension) renewLastSignerData(c *signedDocument, known *validation.Known) (Revision, error) {
	last := slices.MaxFunc(c.signatures, func(a, b documentSignature) int { return cmp.Compare(a.ranges.end, b.ranges.end) })
	file, err := c.file.EarlierRevision(last.ranges.end)
	if err != nil {
		return Revision{}, err
	}
	atSigning, err := readStore(file)
	if err != nil || len(atSigning.streams) < len(c.store.streams) { // data was added since
		return Revision{}, err
	}
	found, err := validation.Collect(e.ctx, e.Sources, known, validation.Target{Certificate: last.signer, BestSignatureTime: time.Now()})
	if err != nil {
		return Revision{}, err
	}
	return e.dataRevision(c, known, found)
}

// lastAuthorityIfOutdated returns the authority of the newest timestamp as a target if the document
// has no current revocation data about it.
func (c *signedDocument) lastAuthorityIfOutdated(known *validation.Known) []validation.Target {
	last := c.newestToken()
	if last == nil {
		return nil
	}
	authority := validation.Target{Certificate: last.Certificate, Timestamp: true, Times: validation.Times{SigningTime: time.Now()}}
	if lacking, _ := c.store.data.Lacking(known, authority); len(lacking) == 0 {
		return nil
	}
	// Data that was in force at the last timestamp is enough if the sources have nothing newer.
	authority.Times.SigningTime = last.Time
	return []validation.Target{authority}
}

// newestToken returns the newest timestamp of the document; nil when there is none.
func (c *signedDocument) newestToken() (last *tsp.Token) {
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

// allTargets returns what there has to be validation data about: all signers and timestamp
// authorities.
func (c *signedDocument) allTargets() []validation.Target {
	var all []validation.Target
	for _, s := range c.signatures {
		all = append(all, c.signatureTargets(s)...)
	}
	for _, s := range c.timestamps {
		all = append(all, c.timestampTarget(s))
	}
	return all
}

// signatureTargets returns the targets of one signature: the signer and the authorities of its
// signature timestamps.
func (c *signedDocument) signatureTargets(s documentSignature) []validation.Target {
	all := []validation.Target{{Certificate: s.signer, BestSignatureTime: c.bestSignatureTime(s)}}
	for _, token := range s.tokens {
		all = append(all, c.authorityTarget(token, s.ranges))
	}
	return all
}

func (c *signedDocument) timestampTarget(s documentTimestamp) validation.Target {
	return c.authorityTarget(s.token, s.ranges)
}

// authorityTarget returns the authority of a timestamp as a target. own is the byte range of the
// signature or document timestamp that has the token. The first document timestamp after it is its
// proof of existence (POE), whose time is the time of validation (EN 319 102-1 5.6.3).
func (c *signedDocument) authorityTarget(token *tsp.Token, own byteRange) validation.Target {
	times := validation.Times{SigningTime: token.Time}
	if i := slices.IndexFunc(c.timestamps, func(s documentTimestamp) bool { return s.ranges.end > own.end }); i >= 0 {
		times.ValidationTime = c.timestamps[i].token.Time // timestamps are oldest first
	}
	return validation.Target{Certificate: token.Certificate, Timestamp: true, Times: times}
}

// dataRevision returns the revision that adds to the document security store what was found and is
// not in it yet; an empty revision when there is nothing to add.
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

// vriEntries returns a VRI dictionary for each signature and document timestamp that has none. It
// lists the validation data about that signature, from the document and from what was found.
func (c *signedDocument) vriEntries(known *validation.Known, found *validation.Data) []vriEntry {
	all := validation.Merge(c.store.data, found).ShareLimit(known)
	var entries []vriEntry
	list := func(key pdf.Name, targets ...validation.Target) {
		if c.store.vri[key] == nil {
			about := all.ForTargets(known, targets...)
			entries = append(entries, vriEntry{key, c.store.vriSource(about)})
		}
	}
	for _, s := range c.signatures {
		list(s.vri, c.signatureTargets(s)...)
	}
	for _, s := range c.timestamps {
		list(s.vri, c.timestampTarget(s))
	}
	return entries
}
