package xades

import (
	"strings"
	"time"

	"github.com/innsigli/innsigli/internal/pki/tsp"
	"github.com/innsigli/innsigli/internal/pki/validation"
)

// embedded is the validation data that a signature lacks.
func (e *extension) embedded(s *carriedSignature) (string, error) {
	return e.embeddedWith(s, func(*validation.Known) []validation.Target { return nil })
}

// embeddedToArchive is that before an archive timestamp that is to come. It will hardly be of another
// authority than the last one: by what is known about that one today the new timestamp can be judged, before
// its renewal brings what is said about itself.
func (e *extension) embeddedToArchive(s *carriedSignature) (string, error) {
	return e.embeddedWith(s, s.outdatedAuthority)
}

// embeddedWith is what is missing, with more to ask about. What can be collected and would still not do, for
// validators or [Verify], is not level LT.
func (e *extension) embeddedWith(s *carriedSignature, more func(*validation.Known) []validation.Target) (string, error) {
	known := e.known.With(s.known...)
	found, err := validation.Complete(e.ctx, e.Sources, known, s.data.ChargeTo(known), s.targets(), more(known)...)
	if err != nil {
		return "", err
	}
	return s.valuesMarkup(s.lackingOf(found)), nil
}

// outdatedAuthority is that of the last timestamp, when no proof about it is in force any more.
func (s carriedSignature) outdatedAuthority(known *validation.Known) []validation.Target {
	last := s.lastToken()
	if last == nil {
		return nil
	}
	today := validation.Target{Certificate: last.Certificate, Timestamp: true, Times: validation.Times{SigningTime: time.Now()}}
	if outdated, _ := s.data.Lacking(known, today); len(outdated) == 0 {
		return nil
	}
	return []validation.Target{{Certificate: last.Certificate, Timestamp: true, Times: validation.Times{SigningTime: last.Time}}}
}

// lastToken is the newest timestamp of the signature; nil when there is none.
func (s carriedSignature) lastToken() (last *tsp.Token) {
	for _, t := range s.allStamps() {
		if last == nil || t.token.Time.After(last.Time) {
			last = t.token
		}
	}
	return last
}

// lackingOf is what was found that the signature does not carry: KeyInfo is the place of some certificates
// (EN 319 132-1 5.4.1).
func (s carriedSignature) lackingOf(found *validation.Data) *validation.Data {
	carried := validation.Merge(s.data, &validation.Data{Certificates: s.Certificates})
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
func (s carriedSignature) valuesMarkup(d *validation.Data) string {
	if !s.holdsValues() {
		prefix := declarations(s.growing(), "xades")
		return certificateValues(prefix, d) + revocationValues(prefix, d)
	}
	values := certificateValues(nil, d) + revocationValues(nil, d)
	if values == "" {
		return ""
	}
	return element("xades141:TimeStampValidationData", declarations(s.growing(), "xades", "xades141"), values)
}

// holdsValues reports whether the properties for the first validation data are there, or may not be any more.
func (s *signature) holdsValues() bool {
	for _, e := range s.unsignedBefore(none) {
		if e.Is(ns132, "CertificateValues") || e.Is(ns132, "RevocationValues") {
			return true
		}
	}
	return len(s.archives)+len(s.old) > 0
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
