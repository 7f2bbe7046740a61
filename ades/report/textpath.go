package report

import (
	"cmp"

	"github.com/innsigli/innsigli/ades"
)

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
