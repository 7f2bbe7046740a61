// Package pades signs PDF documents and verifies their signatures: PAdES baseline signatures of
// ETSI EN 319 142-1, in incremental updates of ISO 32000-2 7.5.6.
//
// # Signing
//
// The signing key may be remote, so signing takes three steps:
//
//  1. [Prepare] lays out an incremental update with a signature field in which only the signature
//     itself is missing. [Pending.Digest] returns the digest to sign.
//  2. The signer signs the digest where the key is.
//  3. [Pending.Complete] checks the signature value and returns the bytes to append.
//
// Minutes, a restart or another machine may lie between the steps: [Pending.MarshalBinary] encodes
// a [Pending] for storage. [Sign] does all three steps with a crypto.Signer.
//
// This function signs a file in place with a key and a certificate in PEM. The certificates of the
// authorities between the signer and the root go to the Chain of the SignerIdentity:
//
//	func sign(ctx context.Context, path string) error {
//		pair, err := tls.LoadX509KeyPair("certificate.pem", "key.pem")
//		if err != nil {
//			return err
//		}
//		file, err := os.OpenFile(path, os.O_RDWR, 0)
//		if err != nil {
//			return err
//		}
//		defer file.Close()
//		info, err := file.Stat()
//		if err != nil {
//			return err
//		}
//		doc := pades.Document{ReaderAt: file, Size: info.Size()}
//		signer := ades.SignerIdentity{Certificate: pair.Leaf}
//		revision, err := pades.Sign(ctx, doc, pair.PrivateKey.(crypto.Signer), signer, pades.Options{}, ades.Sources{})
//		if err != nil {
//			return err
//		}
//		_, err = file.WriteAt(revision.Bytes, revision.Base)
//		return err
//	}
//
// The package reads a document through io.ReaderAt. It never copies the document and never changes
// a byte of it: a [Revision] holds the bytes to append. Earlier signatures of the document stay
// valid.
//
// # Levels
//
// [Options].Level is the level that the signature is to reach. From level T on, [Pending.Complete]
// gets a signature timestamp. An [Extender] then appends what is missing for levels LT and LTA: a
// document security store with the validation data (ISO 32000-2 12.8.4.3), and a document timestamp
// over it (12.8.5). When validation data or a timestamp cannot be had, the result is an error and
// never a lower level.
//
//	doc = doc.With(revision)
//	revisions, err := pades.Extender{Sources: sources}.ExtendLast(ctx, doc, ades.LTA)
//	if err != nil {
//		return err
//	}
//	for _, r := range revisions {
//		if _, err := file.WriteAt(r.Bytes, r.Base); err != nil {
//			return err
//		}
//	}
//
// [Extender.Extend] extends all signatures of a document, also those of other signers.
// [Extender.Renew] is for archives: it adds a document timestamp before the last one can no longer
// be validated.
//
// # Verifying
//
// [Verify] reports on each signature in the terms of EN 319 102-1, with the level that the
// signature really has. By default it works offline, with the roots that the caller passes and with
// the certificates, timestamps and revocation data that are embedded in the document.
//
//	report, err := pades.Verify(ctx, doc, ades.VerifyOptions{Roots: roots})
//	if err != nil {
//		return err
//	}
//	for _, s := range report.Signatures {
//		fmt.Println(s.Certificate.Subject, s.Passed(), s.Problems) // Certificate is nil if there is none
//	}
//	fmt.Println("the whole document:", report.Passed(), report.Problems())
//
// Passed accepts a signature that lacks only revocation data. A caller who requires that no
// certificate was revoked passes sources to Verify, or compares the Indication with
// [ades.TotalPassed].
//
// # What later revisions changed
//
// The report of a signature lists what each later revision changed, object by object. [Verify]
// compares each revision with the one before it along the references by which readers reach an
// object, so it does not matter how an object was replaced. An object that nothing referred to
// counts from the revision that refers to it. The certification, the signature itself and the
// signatures before it decide which changes are permitted (ISO 32000-2 12.8.2.2, 12.8.2.4):
//
//   - Always: validation data, document timestamps that are not visible, and the producer and date
//     that the last writer notes.
//   - Unless P is 1 or the field is locked: further signatures, values of form fields with the
//     appearances that show them, and metadata. Without a certification P counts as 2.
//   - If P is 3: annotations.
//   - Never: other changes of page content, of the list of pages, fields and their appearances,
//     actions, names, layers and structure, and whatever readers may understand differently.
//
// A signature with a later change that is not permitted has not passed, whatever its indication:
// the indication is about the revision that was signed. If pages were added or removed after the
// signature, it is INDETERMINATE with FORMAT_FAILURE, as in EU DSS.
//
// # What is written
//
// The signature has SubFilter ETSI.CAdES.detached. Its CMS has one signer, the
// signing-certificate-v2 attribute and no signing-time (EN 319 142-1 6.3). Its ByteRange covers
// everything but the signature. /M, /Name, /Reason, /Location and /ContactInfo come from the
// [Options]. The algorithms are RSA with 2048 to 4096 bits (RSASSA-PKCS1-v1_5, or RSASSA-PSS where
// the caller asks for it) and ECDSA on P-256, P-384 and P-521. For a provider that returns a whole
// CMS, [PrepareCMS] prepares a signature of ISO 32000-2 12.8.3.3 instead.
//
// The signature goes into an existing field ([Options].Field) or a new one. A new field is shown
// where [Options].Visible places it; otherwise it is invisible, on the first page. A certification
// ([Options].Certify) and the lock of a field become signature references.
//
// A new field of a tagged document gets its structure element (PDF/UA), unless the document is
// signed already: validators would report the element as a change of the document. In a PDF 1.7
// file the first signature also adds the developer extension ESIC. A PDF/A document stays PDF/A if
// the appearance is PDF/A. Encrypted documents stay encrypted.
//
// [Check] reports whether a document can be signed, before a person is asked to sign it.
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
	// ErrEncrypted: the document opens only with a password or with keys other than passwords, or
	// its encryption is unknown.
	ErrEncrypted = errors.New("pades: document needs a password or another key")
	// ErrPage: the document has no page of that number.
	ErrPage = errors.New("pades: document has no such page")
	// ErrRect: the rectangle is too small to be seen, or its coordinates are too large for PDF/A-1.
	ErrRect = errors.New("pades: signature cannot be shown in that rectangle")
)

// Document is a PDF file of Size bytes. All functions that read it return an error of ReaderAt as it
// is, and never as a fault of the document.
type Document struct {
	io.ReaderAt
	Size int64
	// Hashed caches hash states over the beginning of the document. A state that can be used saves
	// reading that part again. Without one the document is read from its start.
	Hashed []Midstate
}

// Midstate is the state of a hash after the first Offset bytes of a document, as the
// encoding.BinaryMarshaler of the hash encodes it.
type Midstate struct {
	Hash   crypto.Hash
	Offset int64
	State  []byte
}

// Revision is an incremental update of a document: Bytes to append at offset Base, which is the
// length of the document before it.
type Revision struct {
	Base   int64
	Bytes  []byte
	Hashed []Midstate // hash states after the last of Bytes

	before []Midstate // hash states after the last byte before Base
}

// Options are the properties of a signature other than its signer. The zero value makes an
// invisible approval signature of level B in a new field.
type Options struct {
	Name        string    // /Name: the name of the signer
	Reason      string    // /Reason
	Location    string    // /Location
	ContactInfo string    // /ContactInfo
	Time        time.Time // /M, the claimed signing time, within the validity of the certificate; zero: now

	// Level is the level that the signature is to reach. From level T on, Prepare reserves space
	// for the signature timestamp that [Pending.Complete] adds. An [Extender] adds the rest;
	// Prepare refuses a document to which an Extender could not add it.
	Level ades.Level

	// Field is the fully qualified name of the empty signature field to sign; if there is no such
	// field, the error is [ErrField]. The lock of the field becomes part of the signature. If the
	// signer or the options do not meet what the seed value of the field requires, the error is
	// [ades.ErrForbidden]: Prepare does not adapt them. "" makes a new field.
	Field string
	// Appearance is a PDF of one page to draw in the rectangle of Field. It must not be encrypted
	// and has at most 8 MiB with everything that the page uses; else [ErrAppearance]. Its fonts,
	// colours and transparency are copied unchanged, so a document that is to stay PDF/A needs an
	// appearance that is PDF/A. nil draws nothing, and an existing appearance of the field stays.
	Appearance []byte
	// Visible places a new field on a page and gives its appearance. It cannot be combined with
	// Field. nil makes a new field invisible, on the first page.
	Visible *Visible
	// Certify makes the signature a certification signature, and is what it permits to be done to
	// the document later. It has to be the first signature of the document; else
	// [ades.ErrForbidden]. 0 makes an approval signature.
	Certify Permission
}

// Sign signs a document with a key in this process, at the level of the options. It calls
// [Prepare], [Pending.Sign] with the timestamp authority of the sources, and [Extender.ExtendLast].
// The zero Sources are enough for level B.
//
// If ExtendLast fails, for example because validation data cannot be had, Sign returns the revision
// of [Pending.Sign] with the error: an [Extender] can continue from there.
func Sign(ctx context.Context, doc Document, key crypto.Signer, signer ades.SignerIdentity, options Options, sources ades.Sources) (Revision, error) {
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

// With returns the document with a revision appended. It copies neither: the result reads from
// both.
func (d Document) With(r Revision) Document {
	grown := appended{d, r.Bytes}
	return Document{ReaderAt: grown, Size: d.Size + int64(len(r.Bytes)), Hashed: slices.Concat(d.Hashed, r.before, r.Hashed)}
}

// join returns one revision with the bytes of r, followed by those of next.
func (r Revision) join(next Revision) Revision {
	return Revision{
		Base: r.Base, Bytes: slices.Concat(r.Bytes, next.Bytes), Hashed: next.Hashed,
		before: slices.Concat(r.before, r.Hashed, next.before),
	}
}

// appended is a document followed by more bytes.
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

// check returns an error when the options contradict each other or are out of range.
func (o Options) check() error {
	switch {
	case o.Visible != nil && o.Field != "":
		return errors.New("pades: Visible cannot be combined with Field")
	case o.Appearance != nil && o.Visible != nil:
		return errors.New("pades: Appearance cannot be combined with Visible, which has an Appearance of its own")
	case o.Appearance != nil && o.Field == "":
		return errors.New("pades: Appearance requires Field")
	case o.Certify < 0 || o.Certify > Annotations:
		return fmt.Errorf("pades: unknown permission %d of a certification", o.Certify)
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

// reading calls use with the document, and returns its results. If a read of the document fails, it returns that error
// instead, as [pdf.Reading] does. Every exported function that reads a document does so within reading, so that the checks
// inside may take a failed read for malformed content.
func reading[T any](doc Document, use func(Document) (T, error)) (T, error) {
	return pdf.Reading(doc.ReaderAt, func(r io.ReaderAt) (T, error) {
		doc.ReaderAt = r
		return use(doc)
	})
}

// readError turns an error of package pdf into an exported error of this package or of package
// ades. It returns errors of the underlying reader unchanged.
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
