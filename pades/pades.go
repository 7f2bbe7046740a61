// Package pades signs PDF documents and verifies their signatures: PAdES baseline
// signatures of ETSI EN 319 142-1, in incremental updates of ISO 32000-2 7.5.6.
//
// # Signing
//
// The signing key may be remote, so signing takes three steps: [Prepare]
// appends a signature field in which only the signature itself is missing and
// says which digest to sign, the digest is signed wherever the key is, and
// [Pending.Complete] checks the value and returns the bytes to append. Minutes,
// a restart or another machine may lie between the steps: a [Pending] is encoded
// with MarshalBinary. [Sign] is all three in one, for a crypto.Signer.
//
// Documents are read through io.ReaderAt and never copied, and no byte of them
// changes: a [Revision] is what they grow by. Signatures that a document already
// has stay valid.
//
// # Levels
//
// [Options].Level says what a signature is to become. From T on Complete gets a timestamp
// over it, and an [Extender] appends what is missing for LT and LTA: a document security
// store with the validation data, and a document timestamp over that (ISO 32000-2 12.8.4.3
// and 12.8.5). No evidence means an error and never a lower level.
//
//	doc = doc.With(revision)
//	revisions, err := pades.Extender{Sources: sources}.ExtendLast(ctx, doc, ades.LTA)
//
// [Extend] raises all signatures, those of others too, and [Extender.Renew] is for
// archives, before the last timestamp loses its force.
//
// # Verifying
//
// [Verify] reports on each signature in the terms of EN 319 102-1, with the level that it
// really has. It is offline: it goes by the roots it is handed and by what the document
// carries, which is certificates, timestamps and proofs of revocation status.
//
// # What later revisions changed
//
// Each signature's report lists what every later revision did to what it covers, object by
// object: revisions are compared with the one before each along the ways on which readers
// come to an object, so that it does not matter how another one was put in its place. An object
// that nothing led to counts where something leads to it. What is permitted is what the
// certification, the signature itself and those before it permit (ISO 32000-2 12.8.2.2, 12.8.2.4):
//
//   - Validation data, document timestamps that are not seen, and who wrote the document last:
//     always.
//   - Further signatures, values of form fields with what is seen of them, and metadata: unless P
//     is 1 or the field is locked. Without a certification it is as if P were 2.
//   - Annotations: if P is 3.
//   - What pages show, which pages there are, fields and their appearances, actions, names,
//     layers, structure, and what readers do not agree on: never.
//
// A signature that has a change which is not permitted has not passed, whatever its indication,
// which is about the revision that was signed. Where there are more or fewer pages than were
// signed, it is INDETERMINATE with FORMAT_FAILURE, as EU DSS has it.
//
// # What is written
//
// SubFilter ETSI.CAdES.detached; a CMS with one signer, the signing-certificate-v2
// attribute and no signing-time (EN 319 142-1 6.3); a ByteRange over everything
// but the signature; /M, /Name, /Reason, /Location, /ContactInfo as given. RSA of
// 2048 to 4096 bits (RSASSA-PKCS1-v1_5, or RSASSA-PSS where that is asked for), ECDSA on
// P-256, P-384 and P-521. Of a provider who returns a whole CMS, [PrepareCMS]
// makes a signature of ISO 32000-2 12.8.3.3 instead.
//
// The field is one that is there ([Options].Field), or a new one: with an appearance where
// [Options].Visible says, or else invisible, on the first page. A certification
// ([Options].Certify) and the lock of a field become references of the signature. A new
// field of a tagged document has its structure element (PDF/UA), but not behind earlier
// signatures, of which validators would say that somebody changed the document. With the
// first signature comes, in PDF 1.7, the developer extension ESIC. PDF/A stays what it was,
// if an appearance is. Encrypted documents stay encrypted.
//
// Whether a document takes a signature can be asked before anybody is: [Check].
package pades

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
)

var (
	// ErrEncrypted: the document does not open without a password, or with keys that
	// are no passwords, or is encrypted in an unknown way.
	ErrEncrypted = errors.New("pades: document needs a password or another key")
	// ErrPage: the document has no page of that number.
	ErrPage = errors.New("pades: document has no such page")
	// ErrRect: nobody sees what is shown in a rectangle like that, or not every file can say it.
	ErrRect = errors.New("pades: signature cannot be shown in that rectangle")
)

// Document is a PDF file of Size bytes.
type Document struct {
	io.ReaderAt
	Size int64
	// Hashed are hash states over beginnings of the document. They are a cache:
	// one that fits saves reading that part again, and any doubt leads to reading.
	Hashed []Midstate
}

// Midstate is the state of a hash after the first Offset bytes of a document, as
// its encoding.BinaryMarshaler gives it.
type Midstate struct {
	Hash   crypto.Hash
	Offset int64
	State  []byte
}

// Revision is what a document grows by: Bytes appended at offset Base, which is
// the document's length.
type Revision struct {
	Base   int64
	Bytes  []byte
	Hashed []Midstate // after the last of Bytes

	before []Midstate // after the document that it is appended to
}

// join returns the revision that appends what both append, the next one behind this one.
func (r Revision) join(next Revision) Revision {
	return Revision{
		Base: r.Base, Bytes: slices.Concat(r.Bytes, next.Bytes), Hashed: next.Hashed,
		before: slices.Concat(r.before, r.Hashed, next.before),
	}
}

// With returns the document with a revision appended, without a copy of either: it reads
// from both.
func (d Document) With(r Revision) Document {
	grown := appended{d, r.Bytes}
	return Document{ReaderAt: grown, Size: d.Size + int64(len(r.Bytes)), Hashed: slices.Concat(d.Hashed, r.before, r.Hashed)}
}

// appended reads a document and the bytes behind it as one.
type appended struct {
	base Document
	tail []byte
}

// ReadAt implements [io.ReaderAt].
func (a appended) ReadAt(p []byte, at int64) (int, error) {
	n := 0
	if at < a.base.Size {
		part := p[:min(int64(len(p)), a.base.Size-at)]
		var err error
		if n, err = a.base.ReadAt(part, at); n < len(part) {
			return n, err
		}
	}
	from := min(at+int64(n)-a.base.Size, int64(len(a.tail)))
	if n < len(p) {
		n += copy(p[n:], a.tail[from:])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// readError turns an error of reading a PDF into one that callers tell apart.
// Errors of the underlying reader stay what they are.
func readError(err error) error {
	switch {
	case errors.Is(err, pdf.ErrEncrypted):
		return fmt.Errorf("%w: %w", ErrEncrypted, err)
	case errors.Is(err, pdf.ErrNotPDF), errors.Is(err, pdf.ErrDamaged), errors.Is(err, pdf.ErrNoPages),
		errors.Is(err, pdf.ErrNoPage), errors.Is(err, pdf.ErrLimit), errors.Is(err, pdf.ErrUnsupported):
		return fmt.Errorf("%w: %w", ades.ErrUnreadable, err)
	}
	return err
}

// Options are what a signature says beside who signed. The zero value is right.
type Options struct {
	Name        string    // /Name: who signs
	Reason      string    // /Reason
	Location    string    // /Location
	ContactInfo string    // /ContactInfo
	Time        time.Time // /M, the claimed signing time, within the signer's certificate; zero: now

	// Level is what the signature is to become. From T on there is room in it for the
	// timestamp that [Pending.Complete] puts in; the rest is for an [Extender]. A document that
	// does not take the rest is refused at once.
	Level ades.Level

	// Field is the fully qualified name of the empty signature field to sign, else
	// [ErrField]. Its lock becomes part of the signature, and what its seed value
	// requires is [ades.ErrForbidden] unless it is so: nothing is chosen in its favour.
	// "": a new field.
	Field string
	// Appearance is a PDF of one page that is drawn in Field's rectangle, else
	// [ErrAppearance]: not encrypted, at most 8 MiB with all that the page uses. Its
	// fonts, colours and transparency come along as they are, so that what is to stay
	// PDF/A needs a page that is. nil: nothing is drawn, and what the author has drawn
	// there stays.
	Appearance []byte
	// Visible is where a new field is shown, and what is drawn there. It goes with no
	// Field. nil: a new field is invisible, on the first page.
	Visible *Visible
	// Certify makes the signature a certification: it says what may be done to the
	// document later, and has to be its first signature, else [ades.ErrForbidden]. 0: an
	// approval signature.
	Certify Permission
}

// Sign signs a document with a key that is at hand, at the level of the options: [Prepare], [Pending.Sign] with the
// timestamp authority of the sources, and [Extender.ExtendLast]. The zero Sources are enough for level B.
//
// Where the signature and its timestamp were made and the validation data for levels LT and LTA could not be had, Sign
// returns that revision beside the error: an [Extender] can continue from there.
func Sign(ctx context.Context, doc Document, key crypto.Signer, signer ades.Signer, options Options, sources ades.Sources) (Revision, error) {
	p, err := Prepare(ctx, doc, signer, options)
	if err != nil {
		return Revision{}, err
	}
	r, err := p.Sign(ctx, key, sources.Time)
	if err != nil || options.Level == ades.B {
		return r, err
	}
	further, err := Extender{Sources: sources}.ExtendLast(ctx, doc.With(r), options.Level)
	if err != nil {
		return r, err
	}
	for _, next := range further {
		r = r.join(next)
	}
	return r, nil
}

// check refuses options that contradict themselves.
func (o Options) check() error {
	switch {
	case o.Visible != nil && o.Field != "":
		return errors.New("pades: an existing field is where it is, and a place for a new one is given")
	case o.Appearance != nil && o.Visible != nil:
		return errors.New("pades: what is drawn in a place is Visible.Appearance")
	case o.Appearance != nil && o.Field == "":
		return errors.New("pades: an appearance is drawn in an existing field, and none is named")
	case o.Certify < 0 || o.Certify > Annotations:
		return fmt.Errorf("pades: certifying with the unknown permission %d", o.Certify)
	}
	if o.Visible != nil {
		if err := o.Visible.Rect.check(); err != nil {
			return err
		}
	}
	return checkLevel(o.Level)
}

func checkLevel(l ades.Level) error {
	if l < ades.B || l > ades.LTA {
		return fmt.Errorf("pades: unknown level %v", l)
	}
	return nil
}
