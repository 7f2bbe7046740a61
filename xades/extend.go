package xades

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/tsp"
	"github.com/innsigli/innsigli/internal/pki/validation"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
)

// Extender extends the signatures of documents to a level. It changes nothing that was signed or
// timestamped: it adds properties after the existing unsigned properties. All methods return one
// revision, or none if the document has everything already or if the method returns an error.
//
// A signature that another one signs, such as an enveloping signature inside another one, stays as
// it is: its validation data has to be added before it is signed in turn. Counter-signatures do not
// get validation data of their own: the archive timestamp of the signature that contains them
// covers them.
//
// A revoked certificate, one of unknown status, or a missing timestamp is an error, and never leads
// to a lower level. All methods return these errors:
//
//   - [ades.ErrUnsigned]: the document has no signature.
//   - [ades.ErrBroken]: a signature cannot be read, or the value or digest of a signature or
//     archive timestamp does not match; also for a reference to something outside of the
//     document, which cannot be verified.
//   - [ades.ErrUnreadable]: the document cannot be read, or would exceed a limit.
//   - [ades.ErrForbidden]: a signature has no XAdES properties, every signature is itself signed by
//     another one, or extending one signature would change an Object that the new archive timestamp
//     of another one covers.
//   - [ades.ErrTimestamp], [ades.ErrNoRevocation], [ades.ErrNoChain]: a timestamp, revocation
//     data or a chain is not available; together with [ades.ErrUnavailable] if a later attempt
//     may succeed.
//   - [ades.RevokedError]: a certificate is revoked.
//
// An Extender does not decide whether to trust a signer: [Verify] does.
type Extender struct{ Sources ades.Sources }

// extension is the work on one document. The document is read once. Additions are collected and
// inserted at the end.
type extension struct {
	Extender
	ctx      context.Context
	which    selection
	renew    bool
	document *signedDocument
	known    *validation.Known // holds the limit on the work, which all signatures share
	// dataHashState is the state of the hash of the data of the only signature, if the document
	// does not have that data.
	dataHashState []byte
}

// Extend extends all signatures of a document to a level, whichever software made them (EN 319
// 132-1 5.3 to 5.5). It adds to each signature what the level and those below it need:
//
//   - T: a signature timestamp, if there is none.
//   - LT: the missing validation data.
//   - LTA: an archive timestamp over all of that.
func (x Extender) Extend(ctx context.Context, doc Document, level ades.Level) ([]Revision, error) {
	if err := checkLevel(level); err != nil {
		return nil, err
	}
	return extension{Extender: x, ctx: ctx, which: everySignature}.run(doc, level)
}

// ExtendLast extends only the signature that was made last: the last one in the document that no
// other one signs. The caller has just made that signature and knows its roots, while earlier
// signers may have certificates under roots that the sources do not have.
func (x Extender) ExtendLast(ctx context.Context, doc Document, level ades.Level) ([]Revision, error) {
	if err := checkLevel(level); err != nil {
		return nil, err
	}
	return extension{Extender: x, ctx: ctx, which: lastSignature}.run(doc, level)
}

// Renew adds an archive timestamp to each signature of level LTA, and before it the validation data
// for the last archive timestamp (EN 319 132-1 5.5.2). It has to run before the certificate of the
// last archive timestamp expires or its algorithms become unreliable. Renew extends a signature of
// a lower level to LTA.
func (x Extender) Renew(ctx context.Context, doc Document) ([]Revision, error) {
	return extension{Extender: x, ctx: ctx, which: everySignature, renew: true}.run(doc, ades.LTA)
}

func (e extension) run(doc Document, level ades.Level) ([]Revision, error) {
	e.known = validation.NewKnown(e.ctx, e.Sources)
	if err := e.readAndVerify(doc); err != nil {
		return nil, err
	}
	if err := e.extend(level); err != nil {
		return nil, err
	}
	return e.revisions()
}

// readAndVerify reads the document, verifies the selected signatures and finds those that have
// level LTA.
func (e *extension) readAndVerify(doc Document) error {
	src, err := readSource(e.ctx, doc, nil)
	if err != nil {
		return err
	}
	if e.document, err = readSignedDocument(e.ctx, src, e.which); err != nil {
		return err
	}
	switch {
	case e.document.allEnclosed:
		return fmt.Errorf("%w: other signatures sign all signatures, and validation data would change them", ades.ErrForbidden)
	case len(e.document.signatures) == 0:
		return ades.ErrUnsigned
	}
	if e.dataHashState != nil {
		s := e.document.signatures[0]
		s.GiveHash(s.References[0], e.dataHashState)
	}
	if err := e.document.verify(e.ctx); err != nil {
		return err
	}
	// All signatures share the limit on the work, and verification has used part of it.
	e.document.signatures[0].RenewWork()
	for i := range e.document.signatures {
		s := &e.document.signatures[i]
		s.done = !e.renew && s.hasLevelLTA(e.known)
	}
	return e.ctx.Err()
}

func (e *extension) extend(level ades.Level) error {
	if level >= ades.T {
		if err := e.insertInEach(e.signatureTimestampMarkup); err != nil {
			return err
		}
	}
	switch level {
	case ades.LT:
		return e.insertInEach(e.validationDataMarkup)
	case ades.LTA:
		if err := e.insertInEach(e.preTimestampDataMarkup); err != nil {
			return err
		}
		return e.insertInEach(e.archiveTimestampMarkup)
	}
	return nil
}

// insertInEach collects more properties for the signatures, after those that were collected before.
func (e *extension) insertInEach(added func(*documentSignature) (string, error)) error {
	for i := range e.document.signatures {
		s := &e.document.signatures[i]
		if s.done {
			continue
		}
		markup, err := added(s)
		if err != nil {
			return err
		}
		s.addedProperties += markup
	}
	return e.ctx.Err()
}

// revisions returns the revision with everything that was added, if anything was.
func (e *extension) revisions() ([]Revision, error) {
	in := splicing{source: e.document.source, encoding: e.document.doc.Encoding()}
	tags := 0
	for _, s := range e.document.signatures {
		if s.addedProperties != "" {
			tags += strings.Count(s.addedProperties, "<")
			in.add(s.signature, s.addedProperties)
		}
	}
	if len(in.splices) == 0 {
		return nil, nil
	}
	if err := checkPropertyLimits(e.document.doc, tags); err != nil {
		return nil, err
	}
	r := in.revision()
	if size := r.size(); size > MaxSize {
		return nil, errSize(size)
	}
	return []Revision{r}, nil
}

// signatureTimestampMarkup returns the markup of a SignatureTimeStamp, if the signature has none
// (EN 319 132-1 5.3).
func (e *extension) signatureTimestampMarkup(s *documentSignature) (string, error) {
	if len(s.verified) > 0 {
		return "", nil
	}
	h := s.timestampHash()
	sum, err := s.signatureTimestampImprint(e.ctx, exclusive, h)
	if err != nil {
		return "", readError(err)
	}
	token, markup, err := e.timestamp(s, "xades", "SignatureTimeStamp", h, sum)
	if err != nil {
		return "", err
	}
	s.verified = []encapsulatedTimestamp{{c14n: exclusive, der: token.Raw, token: token}}
	s.knownCertificates = append(s.knownCertificates, token.Certificates...)
	return markup, nil
}

// validationDataMarkup returns the markup of the validation data that a signature lacks.
func (e *extension) validationDataMarkup(s *documentSignature) (string, error) {
	return e.missingDataMarkup(s, false)
}

// preTimestampDataMarkup returns the markup of the validation data to add before an
// archive timestamp. It includes current data about the authority of the last timestamp, because
// the new timestamp most probably comes from the same authority. With that data a verifier can
// validate the new timestamp until its renewal adds the data about itself.
func (e *extension) preTimestampDataMarkup(s *documentSignature) (string, error) {
	return e.missingDataMarkup(s, true)
}

// missingDataMarkup returns the markup of the missing validation data. If a timestamp follows, it
// renews the data about the last timestamp authority if that is outdated. If the data that the
// sources have would not be enough for a validator or for [Verify], the signature would not have
// level LT, and the result is an error.
func (e *extension) missingDataMarkup(s *documentSignature, timestampFollows bool) (string, error) {
	known := e.known.With(s.knownCertificates...)
	var renewed []validation.Target
	if timestampFollows {
		renewed = s.outdatedTimestampAuthority(known)
	}
	found, err := validation.Complete(e.ctx, e.Sources, known, s.validationData.ShareLimit(known), s.targets(), renewed...)
	if err != nil {
		return "", err
	}
	return s.valuesMarkup(s.missingFrom(found)), nil
}

// outdatedTimestampAuthority returns the authority of the last timestamp, if none of the data about
// it is in force any more.
func (s documentSignature) outdatedTimestampAuthority(known *validation.Known) []validation.Target {
	last := s.lastToken()
	if last == nil {
		return nil
	}
	authority := validation.Target{Certificate: last.Certificate, Timestamp: true, Times: validation.Times{SigningTime: time.Now()}}
	if outdated, _ := s.validationData.Lacking(known, authority); len(outdated) == 0 {
		return nil
	}
	// Data that was in force at the last timestamp is enough if the sources have nothing newer.
	authority.Times.SigningTime = last.Time
	return []validation.Target{authority}
}

// lastToken returns the newest timestamp of the signature; nil if there is none.
func (s documentSignature) lastToken() (last *tsp.Token) {
	for _, t := range s.allTimestamps() {
		if last == nil || t.token.Time.After(last.Time) {
			last = t.token
		}
	}
	return last
}

// missingFrom returns the part of found that the signature does not have. KeyInfo counts too: some
// certificates are there (EN 319 132-1 5.4.1).
func (s documentSignature) missingFrom(found *validation.Data) *validation.Data {
	present := validation.Merge(s.validationData, &validation.Data{Certificates: s.Certificates})
	all := validation.Merge(present, found)
	return &validation.Data{
		Certificates: all.Certificates[len(present.Certificates):],
		OCSP:         all.OCSP[len(present.OCSP):],
		CRLs:         all.CRLs[len(present.CRLs):],
	}
}

// valuesMarkup returns the properties for validation data: CertificateValues and RevocationValues,
// of which a signature has at most one each (EN 319 132-1 6.3), and TimeStampValidationData for
// later data (5.5.3). Existing properties do not change, because an archive timestamp may be over
// them.
func (s documentSignature) valuesMarkup(d *validation.Data) string {
	if !s.hasValues() {
		prefix := declarations(s.unsignedParent(), "xades")
		return certificateValues(prefix, d) + revocationValues(prefix, d)
	}
	values := certificateValues(nil, d) + revocationValues(nil, d)
	if values == "" {
		return ""
	}
	return element("xades141:TimeStampValidationData", declarations(s.unsignedParent(), "xades", "xades141"), values)
}

// hasValues reports whether CertificateValues and RevocationValues exist already, or may not be
// added any more because there is an archive timestamp.
func (s *signature) hasValues() bool {
	for _, e := range s.unsignedBefore(none) {
		if e.Is(ns132, "CertificateValues") || e.Is(ns132, "RevocationValues") {
			return true
		}
	}
	return len(s.archiveTimestamps)+len(s.archiveTimestamps132) > 0
}

func certificateValues(a attributes, d *validation.Data) string {
	var ders [][]byte
	for _, c := range d.Certificates {
		ders = append(ders, c.Raw)
	}
	return list("xades:CertificateValues", a, encapsulated("xades:EncapsulatedX509Certificate", ders))
}

// revocationValues returns CRLs and then OCSP responses, in the order of the schema.
func revocationValues(a attributes, d *validation.Data) string {
	return list("xades:RevocationValues", a,
		list("xades:CRLValues", nil, encapsulated("xades:EncapsulatedCRLValue", d.CRLs))+
			list("xades:OCSPValues", nil, encapsulated("xades:EncapsulatedOCSPValue", d.OCSP)))
}

// list returns an element, or "" if it would have no content.
func list(name string, a attributes, content string) string {
	if content == "" {
		return ""
	}
	return element(name, a, content)
}

func encapsulated(name string, ders [][]byte) string {
	var b strings.Builder
	for _, der := range ders {
		b.WriteString(base64Element(name, nil, der))
	}
	return b.String()
}

// archiveTimestampMarkup returns the markup of another ArchiveTimeStamp (EN 319 132-1 5.5.2).
func (e *extension) archiveTimestampMarkup(s *documentSignature) (string, error) {
	if e.document.objectsChange(s) {
		return "", fmt.Errorf("%w: validation data in one signature would change what the archive timestamp of another covers", ades.ErrForbidden)
	}
	added, err := canonicalProperties(s.addedProperties)
	if err != nil {
		return "", err
	}
	h := s.timestampHash()
	sum, err := s.archiveTimestampImprint(e.ctx, exclusive, h, none, added)
	if err != nil {
		return "", readError(err)
	}
	_, markup, err := e.timestamp(s, "xades141", "ArchiveTimeStamp", h, sum)
	return markup, err
}

// canonicalProperties returns the canonical form of the properties that are to be added, one after
// another. It is the same at their place in the document, because it is exclusive and their
// prefixes are bound to the same namespaces there.
func canonicalProperties(markup string) ([]byte, error) {
	var bound attributes
	for _, prefix := range []string{"ds", "xades", "xades141"} {
		bound = append(bound, "xmlns:"+prefix, namespaceOf(prefix))
	}
	d, err := xmldoc.Parse([]byte(element("properties", bound, markup)))
	if err != nil {
		return nil, fmt.Errorf("xades: reading unsigned properties: %w", err)
	}
	var b bytes.Buffer
	for property := range d.Root().Elements() {
		if err := d.Canonicalize(&b, exclusive, xmldoc.Subset{Apex: property}); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// timestampHash returns the hash of the signature, or SHA-256 if this package writes no signatures
// with that hash.
func (s *signature) timestampHash() crypto.Hash {
	if _, err := xmldsig.DigestMethod(s.Algorithm.Hash); err == nil {
		return s.Algorithm.Hash
	}
	return crypto.SHA256
}

// timestamp gets a timestamp over a message imprint, and returns it with the markup of its
// property.
func (e *extension) timestamp(s *documentSignature, prefix, name string, h crypto.Hash, sum []byte) (*tsp.Token, string, error) {
	if e.Sources.Time == nil {
		return nil, "", fmt.Errorf("xades: %w: no timestamp authority", ades.ErrTimestamp)
	}
	token, err := tsp.Obtain(e.ctx, e.Sources.Time, h, sum)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", name, err)
	}
	prefixes := []string{"ds", "xades"}
	if prefix != "xades" {
		prefixes = append(prefixes, prefix)
	}
	a := append(declarations(s.unsignedParent(), prefixes...), "Id", "timestamp-"+rand.Text())
	return token, timestampProperty(prefix+":"+name, a, token.Raw), nil
}

// timestampProperty returns the markup of a property with a timestamp.
func timestampProperty(name string, a attributes, token []byte) string {
	return element(name, a,
		element("ds:CanonicalizationMethod", attributes{"Algorithm", xmldsig.CanonicalizationMethod(exclusive)}),
		base64Element("xades:EncapsulatedTimeStamp", nil, token))
}
