// Package xades signs XML documents and verifies their signatures: XAdES baseline signatures of
// ETSI EN 319 132-1, which are XML Signatures (W3C xmldsig-core1) with qualifying properties. Its
// functions have the names of those in package pades; it does not import pades.
//
// # Signing
//
// The signing key may be remote, so signing takes three steps. [Prepare] makes the signature
// without its value and returns the digest to sign. The caller has the digest signed where the key
// is. [Pending.Complete] verifies the value and returns the revision that makes the signed
// document. Between the steps, minutes may pass, the program may restart, and another machine may
// take over: MarshalBinary encodes a [Pending], and Complete does not need the document. [Sign]
// does all three steps with a crypto.Signer.
//
// This function signs a file with a key and a certificate in PEM, and writes the signed document. The
// certificates of the authorities between the signer and the root go to the Chain of the
// SignerIdentity:
//
//	func sign(ctx context.Context, path string, out io.Writer) error {
//		pair, err := tls.LoadX509KeyPair("certificate.pem", "key.pem")
//		if err != nil {
//			return err
//		}
//		file, err := os.Open(path)
//		if err != nil {
//			return err
//		}
//		defer file.Close()
//		info, err := file.Stat()
//		if err != nil {
//			return err
//		}
//		doc := xades.Document{ReaderAt: file, Size: info.Size()}
//		signer := ades.SignerIdentity{Certificate: pair.Leaf}
//		revision, err := xades.Sign(ctx, doc, pair.PrivateKey.(crypto.Signer), signer, xades.Options{}, ades.Sources{})
//		if err != nil {
//			return err
//		}
//		signed := doc.With(revision)
//		_, err = io.Copy(out, io.NewSectionReader(signed, 0, signed.Size))
//		return err
//	}
//
// This package signs a document by inserting bytes. It never rewrites the document: a [Revision]
// only refers to the bytes of the document. [Document.With] reads the signed document without a
// copy. If the signature has to go into an empty-element tag, the tag becomes a start tag and an
// end tag.
//
// # Packings
//
// [Enveloped] puts the signature before the end tag of the root element. It signs the whole
// document except the signatures in it: the elements, and the processing instructions around the
// root. [Enveloping] puts the document into an Object of the signature, after the XML declaration:
// as elements or, with [Options].Base64, as an unchanged file. [InternallyDetached] puts the
// document and the signature side by side into a new root element:
//
//	<internally-detached><signed-document Id="…">…</signed-document><ds:Signature>…</ds:Signature></internally-detached>
//
// Only Base64 signs comments: references of XML Signature leave comments out (xmldsig-core1
// 4.4.3.3).
//
// A signed document can be signed again. Enveloped signatures are siblings in the root. The
// signatures of a container are siblings too, over the same document. An enveloping signature signs
// the file with all signatures in it, so none of them may change afterwards.
//
// Prepare checks the existing signatures. If one is not valid as far as the document shows, Prepare
// returns [ades.ErrBroken]. If the new signature would break one, it returns [ades.ErrForbidden];
// to find that out, it follows the references of the existing signatures in the new document. It
// treats a signature that it cannot fully read as one that would break, except in Base64. It does
// not read signed data outside of the document. If an existing signature has content that it does
// not sign, a new sibling would not cover that content either, so Prepare returns
// [ades.ErrForbidden] for it; an enveloping signature covers it.
//
// # Levels
//
// [Options].Level is the level to reach. From level T on, Complete gets a signature timestamp. An
// [Extender] adds what levels LT and LTA need: validation data, and an archive timestamp over all
// of it (EN 319 132-1 5.4 and 5.5). If a timestamp or validation data is not available, the result
// is an error and never a lower level.
//
//	doc = doc.With(revision)
//	revisions, err := xades.Extender{Sources: sources}.ExtendLast(ctx, doc, ades.LTA)
//
// [Extender.Extend] extends all signatures, also those that other software made. [Extender.Renew]
// is for archives: it adds an archive timestamp before the last one can no longer be validated.
//
// # Verifying
//
// [Verify] reports on each signature in the terms of EN 319 102-1, with the level that the
// signature really has. References are resolved in the document alone. Verify is offline, unless
// its options have sources: it uses the roots in the options, and the certificates, timestamps and
// revocation data in the document.
//
// # What is written
//
// Canonicalization is always exclusive. A reference to the whole document lists the prefixes that
// the document declares, because attribute values may use them. A signature has a reference to the
// document and one to the signed properties: SigningTime, SigningCertificateV2,
// SignatureProductionPlaceV2 with city and country, DataObjectFormat, and a
// CommitmentTypeIndication with the reason as its Description. KeyInfo has only certificates. Keys
// are RSA of 2048 to 4096 bits (RSASSA-PKCS1-v1_5, or RSASSA-PSS on request) and ECDSA on P-256,
// P-384 and P-521. The markup of the signature is ASCII, so that it has the same meaning in every
// encoding; other characters are written as character references.
//
// # What is read
//
// Documents of at most 256 MiB (240 MiB with the new signature, to leave space for timestamps and
// validation data). They are well-formed XML 1.0 with namespaces, in UTF-8, UTF-16 or a single-byte
// charset that Java and libxml2 decode alike, and without a document type declaration. While a
// document is read, it is in memory with a tree of its elements. That takes about one and a half
// times the size of the document, or six times if the document is nothing but tags. The same
// identifier (Id, ID, id, xml:id) may occur twice if no signature refers to it.
//
// [Check] reports whether a document can be signed, before a signer is known.
package xades

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/innsigli/innsigli/ades"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

var (
	// ErrDoctype: the document has a document type declaration.
	ErrDoctype = xmldoc.ErrDoctype
	// ErrEncoding: this package does not read the document's encoding, or the document is not in
	// the encoding that it declares.
	ErrEncoding = xmldoc.ErrEncoding
	// ErrLimit: the document, or the signed document, would exceed a limit.
	ErrLimit = xmldoc.ErrLimit
	// ErrNamespace: the data to sign has a namespace name that is a relative reference, so that it
	// has no canonical form.
	ErrNamespace = xmldoc.ErrNamespace
)

// Document is an XML document of Size bytes.
type Document struct {
	io.ReaderAt
	Size int64
}

// Packing is the position of a signature relative to the data that it signs (EN 319 132-1 4.2). The
// numbers are stored and must not change.
type Packing int

const (
	Enveloped          Packing = iota // the signature is in the root element of the document
	Enveloping                        // the document is in an Object of the signature
	InternallyDetached                // the document and the signature are in a new root
)

var packingNames = [...]string{Enveloped: "Enveloped", Enveloping: "Enveloping", InternallyDetached: "InternallyDetached"}

// String returns the name that the service's API uses.
func (p Packing) String() string {
	if p < Enveloped || p > InternallyDetached {
		return fmt.Sprintf("Packing(%d)", int(p))
	}
	return packingNames[p]
}

// ParsePacking returns the packing that has the name s, as String returns it.
func ParsePacking(s string) (Packing, error) {
	for p, name := range packingNames {
		if s == name {
			return Packing(p), nil
		}
	}
	return Enveloped, fmt.Errorf("xades: unknown packing %q (Enveloped, Enveloping, InternallyDetached)", s)
}

// Options are what the caller chooses for a signature, beside the signer. The zero value makes an
// enveloped signature of level B at the current time.
type Options struct {
	Packing Packing
	// Base64 makes Enveloping embed the file unchanged, in Base64, instead of its elements. The
	// signature is then over the bytes of the file. It is not permitted with another packing.
	Base64 bool

	// Time is the SigningTime, written in seconds. It has to be within the validity period of the
	// signer's certificate. Zero means now.
	Time    time.Time
	City    string // of SignatureProductionPlaceV2
	Country string // of SignatureProductionPlaceV2
	Reason  string // Description of a CommitmentTypeIndication for all signed data objects

	// Level is the level that the signature is prepared for. From level T on, [Pending.Complete]
	// adds the signature timestamp; an [Extender] adds the rest.
	Level ades.Level
}

// check returns an error for options that contradict each other or that XAdES cannot express.
func (o Options) check() error {
	switch {
	case o.Packing < Enveloped || o.Packing > InternallyDetached:
		return fmt.Errorf("xades: unknown packing %v", o.Packing)
	case o.Base64 && o.Packing != Enveloping:
		return fmt.Errorf("xades: Base64 is only for packing Enveloping, not %v", o.Packing)
	case o.Time.UTC().Year() > 9999 || o.Time.UTC().Year() < 1: // SigningTime is written in UTC
		return errors.New("xades: signing time outside of the years 1 to 9999")
	}
	return checkLevel(o.Level)
}

func checkLevel(l ades.Level) error {
	if l < ades.B || l > ades.LTA {
		return fmt.Errorf("xades: unknown level %v", l)
	}
	return nil
}
