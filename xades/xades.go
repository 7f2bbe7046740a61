// Package xades signs XML documents and verifies their signatures: XAdES baseline signatures of ETSI
// EN 319 132-1, which are XML Signatures (W3C xmldsig-core1) with properties. It has the verbs of package
// pades and does not need it.
//
// # Signing
//
// The signing key may be remote, so signing takes three steps: [Prepare] writes the signature but for
// its value and says which digest to sign, the digest is signed wherever the key is, and [Pending.Complete]
// checks the value and returns what the document becomes. Minutes, a restart or another machine may lie
// between the steps: a [Pending] is encoded with MarshalBinary, and Complete does not need the document.
// [Sign] is all three in one, for a crypto.Signer.
//
// A document is signed by putting bytes between its bytes: nothing of it is written anew, and what a
// [Revision] has of it are references. [Document.With] reads the result without a copy. An empty-element
// tag that has to take a signature becomes a start tag and an end tag.
//
// # Packings
//
// [Enveloped] puts the signature before the root's end tag and signs the whole document but for the
// signatures in it: its elements, and the processing instructions around the root. [Enveloping] puts the
// document into an object of the signature, behind its XML declaration: as elements or, with
// [Options].Base64, as the file that it is. [InternallyDetached] puts the document and the signature side by
// side into a new root:
//
//	<internally-detached><signed-document Id="…">…</signed-document><ds:Signature>…</ds:Signature></internally-detached>
//
// Comments are signed in Base64 alone: references of XML Signature leave them out (xmldsig-core1 4.4.3.3).
//
// A document that is signed takes further signatures. Enveloped ones stand beside one another; so do those
// of a container, over the same document; an enveloping signature signs the file with all signatures in it,
// of which nothing may change then. Prepare makes sure that those which are there are right by what the document
// says, else [ades.ErrBroken], and stay so, else [ades.ErrForbidden]: it looks at what their references lead to in the document
// that would be made. One that cannot be read in full is taken for one that would break, but in Base64. What they sign
// outside of the document is not looked at. Where one carries something that it does not sign, only an enveloping
// signature would cover that, and another packing is [ades.ErrForbidden].
//
// # Levels
//
// [Options].Level says what a signature is to become. From T on Complete gets a timestamp over it, and an
// [Extender] adds what is missing for LT and LTA: the validation data, and a timestamp over all of that
// (EN 319 132-1 5.4 and 5.5). No evidence means an error and never a lower level.
//
//	doc = doc.With(revision)
//	revisions, err := xades.Extender{Sources: sources}.ExtendLast(ctx, doc, ades.LTA)
//
// [Extend] raises all signatures, those of others too, and [Extender.Renew] is for archives, before the last
// timestamp loses its force.
//
// # Verifying
//
// [Verify] reports on each signature in the terms of EN 319 102-1, with the level that it really has. It is
// offline: references are resolved in the document alone, and it goes by the roots it is handed and by what
// the document carries.
//
// # What is written
//
// Exclusive canonicalization throughout, with a list of the document's prefixes where all of it is signed,
// for values may have them; a reference to the document and one to the signed properties: SigningTime,
// SigningCertificateV2, SignatureProductionPlaceV2 of city and country, DataObjectFormat, and a
// CommitmentTypeIndication that a reason describes; KeyInfo with certificates alone. RSA of 2048 to 4096
// bits (RSASSA-PKCS1-v1_5, or RSASSA-PSS where that is asked for), ECDSA on P-256, P-384 and
// P-521. The signature is in ASCII, so that it says the same in each encoding: what is beyond that is
// written as character references.
//
// # What is read
//
// Documents of at most 256 MiB (240 MiB with the signature, to leave room for evidence) that are well-formed
// XML 1.0 with namespaces, in UTF-8, UTF-16 or a charset of single bytes that all read alike, and without a document type
// declaration. A document is in memory while it is read, with a tree of its elements, which is some
// two and a half times its size, or seven times if it is nothing but tags. Identifiers (Id, ID, id, xml:id) may occur twice if
// no signature refers to them.
//
// Whether a document takes a signature can be asked before anybody is: [Check].
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
	// ErrEncoding: the document is in an encoding that is not read, or not in the one that it says.
	ErrEncoding = xmldoc.ErrEncoding
	// ErrLimit: the document, or what it would become, exceeds a bound.
	ErrLimit = xmldoc.ErrLimit
	// ErrNamespace: what is to be signed has a namespace whose name is a relative reference, and no
	// canonical form.
	ErrNamespace = xmldoc.ErrNamespace
)

// Document is an XML document of Size bytes.
type Document struct {
	io.ReaderAt
	Size int64
}

// Packing is how a signature and what it signs stand to one another (EN 319 132-1 4.2). The numbers
// are stored, and stay what they are.
type Packing int

const (
	Enveloped          Packing = iota // the signature is in the root of the document
	Enveloping                        // the document is in the signature
	InternallyDetached                // both are beside each other in a new root
)

var packingNames = [...]string{Enveloped: "Enveloped", Enveloping: "Enveloping", InternallyDetached: "InternallyDetached"}

// String is the name in the service's interface.
func (p Packing) String() string {
	if p < Enveloped || p > InternallyDetached {
		return fmt.Sprintf("Packing(%d)", int(p))
	}
	return packingNames[p]
}

// ParsePacking reads what String writes.
func ParsePacking(s string) (Packing, error) {
	for p, name := range packingNames {
		if s == name {
			return Packing(p), nil
		}
	}
	return Enveloped, fmt.Errorf("xades: %q is no packing (Enveloped, Enveloping, InternallyDetached)", s)
}

// Options are what a signature says beside who signed. The zero value is right.
type Options struct {
	Packing Packing
	// Base64 has Enveloping carry the file as it is, in Base64, instead of its elements: what is signed
	// are its bytes. It goes with no other packing.
	Base64 bool

	Time    time.Time // SigningTime, of which the second counts, within the signer's certificate; zero: now
	City    string    // SignatureProductionPlaceV2
	Country string
	Reason  string // described in a CommitmentTypeIndication over all that is signed

	// Level is what the signature is to become. From T on [Pending.Complete] puts a timestamp into it;
	// the rest is for an [Extender].
	Level ades.Level
}

// check refuses options that contradict themselves, or that no signature can say.
func (o Options) check() error {
	switch {
	case o.Packing < Enveloped || o.Packing > InternallyDetached:
		return fmt.Errorf("xades: unknown packing %v", o.Packing)
	case o.Base64 && o.Packing != Enveloping:
		return fmt.Errorf("xades: packing %v has no document in Base64", o.Packing)
	case o.Time.UTC().Year() > 9999 || o.Time.UTC().Year() < 1: // as it is written
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
