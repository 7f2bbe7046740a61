package pades

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/internal/pki/tsp"
	"github.com/innsigli/innsigli/internal/pki/validation"
)

// embed appends the validation data that is missing.
func (e *extension) embed() error { return e.embedWith((*carried).nothingMore) }

// embedToStamp does so before a document timestamp that is to come. It will hardly be of
// another authority than the last one: by what is known about that one today the new
// timestamp can be judged, before its renewal brings what is said about itself.
func (e *extension) embedToStamp() error { return e.embedWith((*carried).outdatedAuthority) }

// embedWith appends what is missing, with more to ask about. What can be collected and
// would still not do, for validators or [Verify], is not level LT.
func (e *extension) embedWith(more func(*carried, *validation.Known) []validation.Target) error {
	c, err := e.carried()
	if err != nil {
		return err
	}
	known := validation.NewKnown(e.ctx, e.Sources, c.known...)
	found, err := validation.Complete(e.ctx, e.Sources, known, c.store.data, c.allTargets(), more(c, known)...)
	if err != nil {
		return err
	}
	r, err := e.embedded(c, known, found)
	if err == nil && len(r.Bytes) == 0 {
		r, err = e.embedAgain(c, known)
	}
	if err != nil || len(r.Bytes) == 0 {
		return err
	}
	e.grow(r)
	return nil
}

// embedAgain asks again about the last signer where the document had all validation data before the signature, as when
// the same person signed a moment ago: it cannot have been collected for the signature, and makes no level LT (EN 319
// 142-1 6.3). The revision is empty where validation data was added since, and where the sources have nothing newer, as
// authorities with CRLs alone have not: then all that there is is in the document.
func (e *extension) embedAgain(c *carried, known *validation.Known) (Revision, error) {
	last := slices.MaxFunc(c.signatures, func(a, b carriedSignature) int { return cmp.Compare(a.ranges.end, b.ranges.end) })
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
	return e.embedded(c, known, found)
}

func (c *carried) nothingMore(*validation.Known) []validation.Target { return nil }

// outdatedAuthority is that of the last timestamp, when no proof about it is in force any
// more.
func (c *carried) outdatedAuthority(known *validation.Known) []validation.Target {
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
func (c *carried) lastToken() (last *tsp.Token) {
	var tokens []*tsp.Token
	for _, s := range c.signatures {
		tokens = append(tokens, s.tokens...)
	}
	for _, s := range c.stamps {
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
func (c *carried) allTargets() []validation.Target {
	var all []validation.Target
	for _, s := range c.signatures {
		all = append(all, c.targets(s)...)
	}
	for _, s := range c.stamps {
		all = append(all, c.stampTarget(s))
	}
	return all
}

// targets are the certificates that are relied upon for one signature.
func (c *carried) targets(s carriedSignature) []validation.Target {
	all := []validation.Target{{Certificate: s.signer, BestSignatureTime: c.timeOf(s)}}
	for _, token := range s.tokens {
		all = append(all, c.authority(token, s.ranges))
	}
	return all
}

func (c *carried) stampTarget(s carriedStamp) validation.Target {
	return c.authority(s.token, s.ranges)
}

// authority is that of a timestamp, which the next document timestamp proves to have
// existed at its own time (EN 319 102-1 5.6.3).
func (c *carried) authority(token *tsp.Token, covered byteRange) validation.Target {
	times := validation.Times{SigningTime: token.Time}
	if i := slices.IndexFunc(c.stamps, func(s carriedStamp) bool { return s.ranges.end > covered.end }); i >= 0 {
		times.ValidationTime = c.stamps[i].token.Time
	}
	return validation.Target{Certificate: token.Certificate, Timestamp: true, Times: times}
}

// embedded returns the revision with what was found that the document does not have; an
// empty one when there is nothing.
func (e *extension) embedded(c *carried, known *validation.Known, found *validation.Data) (Revision, error) {
	update := c.file.NewUpdate()
	added := c.store.add(update, found)
	if added.empty() {
		return Revision{}, nil
	}
	if e.VRI {
		added.vri = c.relatedInformation(known, found)
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
	return c.doc.grown(appended)
}

// grown is the revision with bytes that nobody signs. It goes on with the hash that the
// document is known by, if there is one.
func (d Document) grown(appended []byte) (Revision, error) {
	for _, m := range d.Hashed {
		if m.Offset != d.Size {
			continue
		}
		if sum, err := restore(m.Hash, m.State); err == nil {
			return newRevision(d.Size, appended, m.Hash, sum)
		}
	}
	return Revision{Base: d.Size, Bytes: appended}, nil
}

// vriEntry is what is known about one signature.
type vriEntry struct {
	key    pdf.Name
	source []byte
}

// relatedInformation lists for each signature and document timestamp that has no entry in
// the VRI dictionary what the document, with what was found, has about it.
func (c *carried) relatedInformation(known *validation.Known, found *validation.Data) []vriEntry {
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
	for _, s := range c.stamps {
		list(s.vri, c.stampTarget(s))
	}
	return entries
}
