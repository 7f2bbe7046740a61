package report

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/innsigli/innsigli/ades"
)

// signature writes the section about one signature: the verdict, the signer, the times, the
// coverage and the level.
func (t *text) signature(s *Signature, n, all int) {
	t.paragraph(outer, t.say(head, "n", strconv.Itoa(n), "all", strconv.Itoa(all), "who", t.signer(s)))
	t.add(labelVerdict, t.verdict(s)...)
	t.signerDetails(s)
	t.times(s)
	t.add(labelCovers, t.covers(s))
	t.add(labelAfterwards, t.afterwards(s)...)
	t.add(labelLevel, t.level(s))
	for i := range s.Timestamps {
		t.add(labelTimestamp, t.timestamp(&s.Timestamps[i])...)
	}
	for _, w := range s.Warnings {
		t.add(labelWarning, t.say(warning, "text", sentence(w)))
	}
	t.add(labelTerms, t.terms(s))
}

// signer returns the name in the signer's certificate. It marks the name as unconfirmed if the
// certificate does not lead to a trusted root or the signature is not intact.
func (t *text) signer(s *Signature) string {
	name := clean(s.Signer, maxText)
	if name == "" && s.Certificate != nil {
		name = clean(cmp.Or(s.Certificate.Name, s.Certificate.Subject), maxText)
	}
	switch {
	case name == "":
		return unknownSigner.in(t.language)
	case !s.Intact || len(s.Chain) == 0:
		return t.say(unconfirmed, "who", name)
	}
	return name
}

// verdict returns the indication and its reasons, in sentences.
func (t *text) verdict(s *Signature) (sentences []string) {
	lead := indications[s.Indication]
	passed := s.Indication == ades.TotalPassed || s.onlyDataMissing()
	switch {
	case passed && s.changed():
		lead = validRevision
	case s.onlyDataMissing():
		lead = validSoFar
	}
	sentences = []string{strings.TrimSpace(lead.in(t.language) + " " + subIndications[s.SubIndication].in(t.language))}
	if s.changed() {
		sentences = append(sentences, changedAfter.in(t.language))
	}
	return sentences
}

// signerDetails writes the rows about the signer: what the certificate states, and then what the
// document claims.
func (t *text) signerDetails(s *Signature) {
	t.add(labelNumber, clean(s.SerialNumber, maxText))
	if c := s.Certificate; c != nil {
		t.add(labelIssuer, clean(cmp.Or(s.Issuer, c.Issuer), maxText))
		t.add(labelCertificate, t.certificate(s))
		t.add(labelTrust, append([]string{t.trust(s)}, t.path(s)...)...)
	}
	if name := clean(s.SignerName, maxText); name != "" && name != clean(s.Signer, maxText) {
		t.add(labelNamed, t.say(named, "name", t.language.quoted(s.SignerName, maxText)))
	}
	for _, row := range []struct {
		label words
		text  string
	}{{labelReason, s.Reason}, {labelPlace, s.Location}} {
		if clean(row.text, maxText) != "" {
			t.add(row.label, t.language.quoted(row.text, maxText))
		}
	}
}

// trust returns the root to which the certificate leads at the time of its validation. It returns
// "" if the certificate was not validated.
func (t *text) trust(s *Signature) string {
	switch {
	case len(s.Chain) > 0:
		root := s.Chain[len(s.Chain)-1]
		return t.say(trust, "root", clean(cmp.Or(root.Name, root.Subject), maxText))
	case s.SubIndication == ades.NoCertificateChainFound:
		return noTrust.in(t.language)
	case s.JudgedAt.IsZero():
		return ""
	}
	return t.say(noTrustThen, "time", t.language.time(s.JudgedAt))
}

// times writes the rows about the claimed time, the best time and the time of the validation.
func (t *text) times(s *Signature) {
	if s.ClaimedTime.IsZero() {
		t.add(labelSigned, noTimeClaimed.in(t.language))
	} else {
		t.add(labelSigned, t.say(claimed, "time", t.language.time(s.ClaimedTime)))
	}
	if s.BestTime.IsZero() {
		t.add(labelBestTime, noBestTime.in(t.language))
	} else {
		t.add(labelBestTime, t.say(proven, "time", t.language.time(s.BestTime), "authority", t.authority(s.bestTimeAuthority())))
	}
	t.add(labelJudged, t.judged(s))
}

// bestTimeAuthority returns the authority of the trusted timestamp at BestTime. The times are
// compared as in JSON, to the second.
func (s *Signature) bestTimeAuthority() string {
	for _, t := range s.Timestamps {
		if t.Trusted && t.Time.String() == s.BestTime.String() {
			return t.Authority
		}
	}
	return ""
}

// judged returns the time at which the certificates were validated.
func (t *text) judged(s *Signature) string {
	switch {
	case s.JudgedAt.IsZero() || s.Certificate == nil:
		return ""
	case s.BestTime.IsZero():
		return t.say(judgedAtPresent, "time", t.language.time(s.JudgedAt))
	}
	return t.say(judgedAtBestTime, "time", t.language.time(s.JudgedAt))
}

func (t *text) authority(name string) string {
	return cmp.Or(clean(name, maxText), unnamedAuthority.in(t.language))
}

// timestamp returns sentences about a timestamp and the certificate of its authority.
func (t *text) timestamp(s *Timestamp) []string {
	at, verdict := timeUnknown.in(t.language), timestampUntrusted
	if !s.Time.IsZero() {
		at = t.language.time(s.Time)
	}
	switch {
	case !s.Intact:
		verdict = timestampBroken
	case s.Trusted:
		verdict = timestampTrusted
	}
	sentences := []string{t.say(timestamp, "time", at, "authority", t.authority(s.Authority),
		"over", timestampTypes[s.Type].in(t.language), "verdict", verdict.in(t.language))}
	if len(s.Path) > 0 {
		sentences = append(sentences, t.certificateStatus(&s.Path[0]))
	}
	return sentences
}

// level returns the words about the level at the end of the format's name.
func (t *text) level(s *Signature) string {
	form, name := s.Format, ""
	if i := strings.LastIndexByte(form, '-'); i >= 0 {
		form, name = form[:i], form[i+1:]
	}
	level, err := ades.ParseLevel(name)
	switch {
	case err != nil:
		return noLevel.in(t.language)
	case strings.HasSuffix(form, "-BASELINE"):
		return levels[level].in(t.language)
	}
	return t.say(comparable, "level", level.String())
}

// terms returns the terms of the standards, for readers who look them up.
func (t *text) terms(s *Signature) string {
	verdict := strings.TrimSpace(string(s.Indication) + " " + string(s.SubIndication))
	var all []string
	for _, term := range []string{s.Format, verdict, string(s.Coverage), s.Algorithm.String(), clean(s.Name, maxText)} {
		if term != "" {
			all = append(all, term)
		}
	}
	return "[" + strings.Join(all, "; ") + "]"
}

// path returns sentences about the certificates between the signer's and the root.
func (t *text) path(s *Signature) (sentences []string) {
	for i := 1; i+1 < len(s.Path); i++ {
		c := &s.Path[i]
		name := clean(cmp.Or(c.Certificate.Name, c.Certificate.Subject), maxField)
		sentences = append(sentences, t.say(viaCertificate, "name", name, "certified", t.certificateStatus(c)))
	}
	return sentences
}

// certificate returns the validity period of the signer's certificate, and its revocation status if
// it leads to a root.
func (t *text) certificate(s *Signature) string {
	c := s.Certificate
	from, to := t.language.period(c.NotBefore, c.NotAfter)
	text := t.say(inForce, "from", from, "to", to)
	if len(s.Path) > 0 {
		text += "; " + t.status(&s.Path[0])
	}
	return text
}

// certificateStatus returns the validity period and the revocation status of a certificate.
func (t *text) certificateStatus(c *CertificateStatus) string {
	from, to := t.language.period(c.Certificate.NotBefore, c.Certificate.NotAfter)
	return t.say(certificateStatus, "from", from, "to", to, "status", t.status(c))
}

// status returns the revocation status of a certificate and the source of the data.
func (t *text) status(c *CertificateStatus) string {
	w := revocations[c.Revocation]
	if c.Revocation == ades.RevocationGood && !c.RevokedAt.IsZero() {
		w = revokedLater
	}
	source := string(c.Source)
	if c.Fetched {
		source = t.say(fetched, "source", source)
	}
	return t.say(w, "day", t.language.date(c.ThisUpdate), "since", t.language.time(c.RevokedAt), "source", source)
}

// maxObjects bounds the objects that are listed as changed without permission.
const maxObjects = 20

// details writes the messages of the validation, and the objects that were changed without
// permission.
func (t *text) details(d *Document) {
	before := t.Len()
	for i := range d.Signatures {
		s := &d.Signatures[i]
		for _, p := range s.Problems {
			t.detail(before, detailsSignature, i+1, 0, sentence(p))
		}
		for _, c := range s.forbidden(maxObjects) {
			what := strings.Join([]string{string(c.Kind), c.Object, c.Where}, " ")
			t.detail(before, detailsChange, i+1, c.Revision, clean(what, maxDetail))
		}
		for j := range s.Timestamps {
			for _, p := range s.Timestamps[j].Problems {
				t.detail(before, detailsTimestamp, i+1, j+1, sentence(p))
			}
		}
	}
}

// detail writes one message. Before the first one it writes the heading. before is the length of
// the text without details.
func (t *text) detail(before int, w words, n, m int, text string) {
	if t.Len() == before {
		t.line("")
		t.paragraph(outer, details.in(t.language))
	}
	t.paragraph(inner, t.say(w, "n", strconv.Itoa(n), "m", strconv.Itoa(m), "text", text))
}

// forbidden returns the first changes that the signature does not permit, at most most.
func (s *Signature) forbidden(most int) (some []Change) {
	for _, c := range s.Changes {
		if !c.Permitted && len(some) < most {
			some = append(some, c)
		}
	}
	return some
}
