package report

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/innsigli/innsigli/ades"
)

// signature writes what is said of one signature: the verdict, who, when, over what, and how well proven.
func (t *text) signature(s *Signature, n, all int) {
	t.paragraph(outer, t.say(head, "n", strconv.Itoa(n), "all", strconv.Itoa(all), "who", t.signer(s)))
	t.add(labelVerdict, t.verdict(s)...)
	t.who(s)
	t.when(s)
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

// signer is whose certificate it is, which says little if nobody vouches for that, or the value is not of its key.
func (t *text) signer(s *Signature) string {
	who := clean(s.Signer, mostText)
	if who == "" && s.Certificate != nil {
		who = clean(cmp.Or(s.Certificate.Name, s.Certificate.Subject), mostText)
	}
	switch {
	case who == "":
		return nobodyKnown.in(t.language)
	case !s.Intact || len(s.Chain) == 0:
		return t.say(unconfirmed, "who", who)
	}
	return who
}

// verdict is the indication and what led to it, in sentences.
func (t *text) verdict(s *Signature) (sentences []string) {
	lead := indications[s.Indication]
	passed := s.Indication == ades.TotalPassed || s.wanting()
	switch {
	case passed && s.changed():
		lead = onceValid
	case s.wanting():
		lead = wanting
	}
	sentences = []string{strings.TrimSpace(lead.in(t.language) + " " + subIndications[s.SubIndication].in(t.language))}
	if s.changed() {
		sentences = append(sentences, changedAfter.in(t.language))
	}
	return sentences
}

// who is as the certificate has it, and beside that what the document claims.
func (t *text) who(s *Signature) {
	t.add(labelNumber, clean(s.SerialNumber, mostText))
	if c := s.Certificate; c != nil {
		t.add(labelIssuer, clean(cmp.Or(s.Issuer, c.Issuer), mostText))
		t.add(labelCertificate, t.certificate(s))
		t.add(labelTrust, append([]string{t.trust(s)}, t.path(s)...)...)
	}
	if name := clean(s.SignerName, mostText); name != "" && name != clean(s.Signer, mostText) {
		t.add(labelNamed, t.say(named, "name", t.language.quoted(s.SignerName, mostText)))
	}
	for _, row := range []struct {
		label words
		text  string
	}{{labelReason, s.Reason}, {labelPlace, s.Location}} {
		if clean(row.text, mostText) != "" {
			t.add(row.label, t.language.quoted(row.text, mostText))
		}
	}
}

// trust is where the certificate leads, as of the time by which it was judged: one that has expired may have led
// somewhere before. Nothing is said where it did not come to that.
func (t *text) trust(s *Signature) string {
	switch {
	case len(s.Chain) > 0:
		root := s.Chain[len(s.Chain)-1]
		return t.say(trust, "root", clean(cmp.Or(root.Name, root.Subject), mostText))
	case s.SubIndication == ades.NoCertificateChainFound:
		return noTrust.in(t.language)
	case s.JudgedAt.IsZero():
		return ""
	}
	return t.say(noTrustThen, "time", t.language.time(s.JudgedAt))
}

// when is what the signer says, and what is proven.
func (t *text) when(s *Signature) {
	if s.ClaimedTime.IsZero() {
		t.add(labelSigned, noTimeClaimed.in(t.language))
	} else {
		t.add(labelSigned, t.say(claimed, "time", t.language.time(s.ClaimedTime)))
	}
	if s.BestTime.IsZero() {
		t.add(labelProven, notProven.in(t.language))
	} else {
		t.add(labelProven, t.say(proven, "time", t.language.time(s.BestTime), "authority", t.authority(s.proof())))
	}
	t.add(labelJudged, t.judged(s))
}

// proof is who proves the best time: the trusted timestamp of that time, which is to the second in JSON.
func (s *Signature) proof() string {
	for _, t := range s.Timestamps {
		if t.Trusted && t.Time.String() == s.BestTime.String() {
			return t.Authority
		}
	}
	return ""
}

func (t *text) authority(name string) string {
	return cmp.Or(clean(name, mostText), somebody.in(t.language))
}

// timestamp is what a timestamp is worth, and what was found about the certificate of who made it.
func (t *text) timestamp(s *Timestamp) []string {
	at, verdict := timeUnknown, timestampUnproven
	when := at.in(t.language)
	if !s.Time.IsZero() {
		when = t.language.time(s.Time)
	}
	switch {
	case !s.Intact:
		verdict = timestampBroken
	case s.Trusted:
		verdict = timestampTrusted
	}
	sentences := []string{t.say(timestamp, "time", when, "authority", t.authority(s.Authority),
		"over", timestampTypes[s.Type].in(t.language), "verdict", verdict.in(t.language))}
	if len(s.Path) > 0 {
		sentences = append(sentences, t.certified(&s.Path[0]))
	}
	return sentences
}

// level is that at the end of the format's name.
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

// terms are those of the standards, for whoever looks them up.
func (t *text) terms(s *Signature) string {
	verdict := strings.TrimSpace(string(s.Indication) + " " + string(s.SubIndication))
	var all []string
	for _, term := range []string{s.Format, verdict, string(s.Coverage), s.Algorithm.String(), clean(s.Name, mostText)} {
		if term != "" {
			all = append(all, term)
		}
	}
	return "[" + strings.Join(all, "; ") + "]"
}

// mostObjects is how many of the objects are named that a later revision may not have changed.
const mostObjects = 20

// details are for whoever looks into it: the sentences of the validation, and the objects that were changed
// without permission.
func (t *text) details(d *Document) {
	before := t.Len()
	for i := range d.Signatures {
		s := &d.Signatures[i]
		for _, p := range s.Problems {
			t.detail(before, detailsSignature, i+1, 0, sentence(p))
		}
		for _, c := range s.forbidden(mostObjects) {
			what := strings.Join([]string{string(c.Kind), c.Object, c.Where}, " ")
			t.detail(before, detailsChange, i+1, c.Revision, clean(what, mostDetail))
		}
		for j := range s.Timestamps {
			for _, p := range s.Timestamps[j].Problems {
				t.detail(before, detailsTimestamp, i+1, j+1, sentence(p))
			}
		}
	}
}

// detail adds one, the first under a heading.
func (t *text) detail(before int, w words, n, m int, text string) {
	if t.Len() == before {
		t.line("")
		t.paragraph(outer, details.in(t.language))
	}
	t.paragraph(inner, t.say(w, "n", strconv.Itoa(n), "m", strconv.Itoa(m), "text", text))
}

// forbidden are the first changes that the signature does not permit.
func (s *Signature) forbidden(most int) (some []Change) {
	for _, c := range s.Changes {
		if !c.Permitted && len(some) < most {
			some = append(some, c)
		}
	}
	return some
}

// path is what was found about the certificates between the signer's and the root.
func (t *text) path(s *Signature) (sentences []string) {
	for i := 1; i+1 < len(s.Path); i++ {
		c := &s.Path[i]
		name := clean(cmp.Or(c.Certificate.Name, c.Certificate.Subject), mostField)
		sentences = append(sentences, t.say(byWayOf, "name", name, "certified", t.certified(c)))
	}
	return sentences
}

// certificate is when the signer's is in force, and what was found about it where it leads to a root.
func (t *text) certificate(s *Signature) string {
	c := s.Certificate
	from, to := t.language.period(c.NotBefore, c.NotAfter)
	text := t.say(inForce, "from", from, "to", to)
	if len(s.Path) > 0 {
		text += "; " + t.status(&s.Path[0])
	}
	return text
}

// certified is when a certificate is in force, and what was found about it.
func (t *text) certified(c *CertificateStatus) string {
	from, to := t.language.period(c.Certificate.NotBefore, c.Certificate.NotAfter)
	return t.say(certified, "from", from, "to", to, "status", t.status(c))
}

// status is what was found about a certificate, and by what.
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

// judged is the time by which the certificates were judged.
func (t *text) judged(s *Signature) string {
	switch {
	case s.JudgedAt.IsZero() || s.Certificate == nil:
		return ""
	case s.BestTime.IsZero():
		return t.say(judgedNow, "time", t.language.time(s.JudgedAt))
	}
	return t.say(judgedProven, "time", t.language.time(s.JudgedAt))
}
