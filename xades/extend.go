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

// Extender raises documents to a level. Nothing of what was signed or timestamped changes: evidence is put
// behind the unsigned properties that are there. All methods return the revisions that follow one another:
// one, or none when the document has all of it already.
//
// A signature that another one signs, such as an enveloping one in a further enveloping one, stays as it
// is: whatever is known of it has to be added before it is signed in turn. So do counter-signatures, which get
// no evidence of their own; an archive timestamp of the signature that they stand in is over them, too.
//
// Whoever was revoked, or cannot be shown not to have been, is an error, as is a missing timestamp: never a
// lower level. Errors of all methods: [ades.ErrUnsigned]; [ades.ErrBroken], also for a signature or an archive
// timestamp whose value or digest is wrong, and for one whose references lead out of the document, which
// cannot be compared; [ades.ErrUnreadable]; [ades.ErrForbidden] for a signature without XAdES properties, and when
// there are none but such as others sign; [ades.ErrTimestamp], [ades.ErrNoRevocation] and [ades.ErrNoChain],
// with [ades.ErrUnavailable] when it may work later; [ades.RevokedError]. Whether signers are to be trusted
// is for [Verify] to say.
type Extender struct{ Sources ades.Sources }

// extension is the work on one document, which is read once: what it gets is kept beside it.
type extension struct {
	Extender
	ctx      context.Context
	which    selection
	renew    bool
	document *signedDocument
	known    *validation.Known // of which all questions are charged
}

// Extend raises all signatures of a document to a level, ours and others' (EN 319 132-1 5.3 to 5.5): for T by
// a timestamp over the value, if a signature has none; for LT by the validation data that is missing; for
// LTA by a timestamp over all that. Each signature has its own.
func (x Extender) Extend(ctx context.Context, doc Document, level ades.Level) ([]Revision, error) {
	if err := checkLevel(level); err != nil {
		return nil, err
	}
	return extension{Extender: x, ctx: ctx, which: everySignature}.run(doc, level)
}

// ExtendLast raises the signature that was made last, which is the last in the document but for those that
// it signs, and leaves the others as they are: whoever has just signed answers for that one, while earlier
// signers may lead to roots that nobody here trusts.
func (x Extender) ExtendLast(ctx context.Context, doc Document, level ades.Level) ([]Revision, error) {
	if err := checkLevel(level); err != nil {
		return nil, err
	}
	return extension{Extender: x, ctx: ctx, which: lastSignature}.run(doc, level)
}

// Renew puts a further archive timestamp over each signature of level LTA, before the certificate or the
// algorithms of the last one lose their force, and the validation data of that one before it (EN 319 132-1
// 5.5.2). A signature of a lower level is extended to LTA.
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

// begin finds what there is to do.
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
		return fmt.Errorf("%w: all signatures are signed by others, and evidence would change them", ades.ErrForbidden)
	case len(e.document.signatures) == 0:
		return ades.ErrUnsigned
	}
	if err := e.document.verify(e.ctx); err != nil {
		return err
	}
	e.document.signatures[0].RenewWork() // the bound is for what is made from here on
	for i := range e.document.signatures {
		s := &e.document.signatures[i]
		s.done = !e.renew && s.hasLevelLTA(e.known)
	}
	return e.ctx.Err()
}

func (e *extension) extend(level ades.Level) error {
	if level >= ades.T {
		if err := e.addToEach(e.addSignatureTimestamp); err != nil {
			return err
		}
	}
	switch level {
	case ades.LT:
		return e.addToEach(e.addValidationData)
	case ades.LTA:
		if err := e.addToEach(e.addValidationDataBeforeTimestamp); err != nil {
			return err
		}
		return e.addToEach(e.addArchiveTimestamp)
	}
	return nil
}

// each adds properties to the signatures, behind those that were added before.
func (e *extension) addToEach(added func(*documentSignature) (string, error)) error {
	for i := range e.document.signatures {
		s := &e.document.signatures[i]
		if s.done {
			continue
		}
		markup, err := added(s)
		if err != nil {
			return err
		}
		s.added += markup
	}
	return e.ctx.Err()
}

// revisions is the document with all that was added, if anything was.
func (e *extension) revisions() ([]Revision, error) {
	in := splicing{source: e.document.source, encoding: e.document.doc.Encoding()}
	tags := 0
	for _, s := range e.document.signatures {
		if s.added != "" {
			tags += strings.Count(s.added, "<")
			in.add(s.signature, s.added)
		}
	}
	if len(in.splices) == 0 {
		return nil, nil
	}
	if err := checkPropertyLimits(e.document.doc, tags); err != nil {
		return nil, err
	}
	r := in.revision()
	if size := r.size(); size > maxSize {
		return nil, errSize(size)
	}
	return []Revision{r}, nil
}

// addSignatureTimestamp is a SignatureTimeStamp, if the signature has none (EN 319 132-1 5.3).
func (e *extension) addSignatureTimestamp(s *documentSignature) (string, error) {
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

// addValidationData is the validation data that a signature lacks.
func (e *extension) addValidationData(s *documentSignature) (string, error) {
	return e.addMissingData(s, func(*validation.Known) []validation.Target { return nil })
}

// addValidationDataBeforeTimestamp is that before an archive timestamp that is to come. It will hardly be of another
// authority than the last one: by what is known about that one today the new timestamp can be judged, before
// its renewal brings what is said about itself.
func (e *extension) addValidationDataBeforeTimestamp(s *documentSignature) (string, error) {
	return e.addMissingData(s, s.outdatedTimestampAuthority)
}

// addMissingData is what is missing, with more to ask about. What can be collected and would still not do, for
// validators or [Verify], is not level LT.
func (e *extension) addMissingData(s *documentSignature, more func(*validation.Known) []validation.Target) (string, error) {
	known := e.known.With(s.knownCertificates...)
	found, err := validation.Complete(e.ctx, e.Sources, known, s.validationData.ChargeTo(known), s.targets(), more(known)...)
	if err != nil {
		return "", err
	}
	return s.valuesMarkup(s.missingFrom(found)), nil
}

// outdatedTimestampAuthority is that of the last timestamp, when no proof about it is in force any more.
func (s documentSignature) outdatedTimestampAuthority(known *validation.Known) []validation.Target {
	last := s.lastToken()
	if last == nil {
		return nil
	}
	today := validation.Target{Certificate: last.Certificate, Timestamp: true, Times: validation.Times{SigningTime: time.Now()}}
	if outdated, _ := s.validationData.Lacking(known, today); len(outdated) == 0 {
		return nil
	}
	return []validation.Target{{Certificate: last.Certificate, Timestamp: true, Times: validation.Times{SigningTime: last.Time}}}
}

// lastToken is the newest timestamp of the signature; nil when there is none.
func (s documentSignature) lastToken() (last *tsp.Token) {
	for _, t := range s.allTimestamps() {
		if last == nil || t.token.Time.After(last.Time) {
			last = t.token
		}
	}
	return last
}

// lackingOf is what was found that the signature does not carry: KeyInfo is the place of some certificates
// (EN 319 132-1 5.4.1).
func (s documentSignature) missingFrom(found *validation.Data) *validation.Data {
	carried := validation.Merge(s.validationData, &validation.Data{Certificates: s.Certificates})
	all := validation.Merge(carried, found)
	return &validation.Data{
		Certificates: all.Certificates[len(carried.Certificates):],
		OCSP:         all.OCSP[len(carried.OCSP):],
		CRLs:         all.CRLs[len(carried.CRLs):],
	}
}

// valuesMarkup is validation data as properties: CertificateValues and RevocationValues, which there is one of
// each at most (EN 319 132-1 6.3), and further data in TimeStampValidationData (5.5.3). What is there may be
// under an archive timestamp, and stays.
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

// hasValues reports whether the properties for the first validation data are there, or may not be any more.
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

// revocationValues are lists and then responses, in the order of the schema.
func revocationValues(a attributes, d *validation.Data) string {
	return list("xades:RevocationValues", a,
		list("xades:CRLValues", nil, encapsulated("xades:EncapsulatedCRLValue", d.CRLs))+
			list("xades:OCSPValues", nil, encapsulated("xades:EncapsulatedOCSPValue", d.OCSP)))
}

// list is an element, unless nothing is in it.
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

// addArchiveTimestamp is a further ArchiveTimeStamp (EN 319 132-1 5.5.2).
func (e *extension) addArchiveTimestamp(s *documentSignature) (string, error) {
	if e.document.objectsChange(s) {
		return "", fmt.Errorf("%w: the evidence of one signature would change what the archive timestamp of another is over", ades.ErrForbidden)
	}
	added, err := canonicalProperties(s.added)
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

// canonicalProperties is the canonical form of properties that are to be added, one after another. It is the
// same where they will stand, because it is exclusive, and their prefixes are bound to the same there.
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

// timestampHash is the hash of the signature, unless that is not for timestamps of today.
func (s *signature) timestampHash() crypto.Hash {
	if _, err := xmldsig.DigestMethod(s.Algorithm.Hash); err == nil {
		return s.Algorithm.Hash
	}
	return crypto.SHA256
}

// timestamp gets a timestamp over a sum, and the property that it is in.
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

// timestampProperty is a property with a timestamp.
func timestampProperty(name string, a attributes, token []byte) string {
	return element(name, a,
		element("ds:CanonicalizationMethod", attributes{"Algorithm", xmldsig.CanonicalizationMethod(exclusive)}),
		base64Element("xades:EncapsulatedTimeStamp", nil, token))
}
