package report

import (
	"cmp"
	"io"
	"slices"

	"github.com/innsigli/innsigli/ades"
)

// Text writes the report for people, in lines of 80 columns. A language that is not known is English.
func (d *Document) Text(w io.Writer, l Language) error {
	t := text{language: l}
	for _, label := range labelsOfAnything {
		t.labels = max(t.labels, widthOf(label.in(l)))
	}
	t.paragraph(0, cmp.Or(clean(d.File, mostText), "-"))
	t.paragraph(outer, d.verdict(l))
	for i := range d.Signatures {
		t.line("")
		t.signature(&d.Signatures[i], i+1, len(d.Signatures))
	}
	t.details(d)
	_, err := io.WriteString(w, t.String())
	return err
}

// text is a report that is being written.
type text struct {
	sheet
	language Language
}

func (t *text) say(w words, pairs ...string) string { return w.with(t.language, pairs...) }

// add adds a row; nothing where there is nothing to say.
func (t *text) add(label words, texts ...string) { t.row(label.in(t.language), texts...) }

// verdict is about the document as a whole, by the most serious of what speaks against it.
func (d *Document) verdict(l Language) string {
	all := len(d.Signatures)
	switch {
	case d.Error != "":
		return unread.with(l, "why", sentence(d.Error))
	case all == 0:
		return unsigned.in(l)
	}
	for _, reason := range []struct {
		words   counted
		applies func(*Signature) bool
	}{
		{someFailed, func(s *Signature) bool { return s.Indication == ades.TotalFailed }},
		{someChanged, (*Signature).changed},
		{someUnconfirmed, func(s *Signature) bool { return !s.Passed }},
		{somePartial, func(s *Signature) bool { return s.Coverage == ades.Partial && !s.Counter }},
	} {
		if some := d.those(reason.applies); len(some) > 0 {
			return reason.words.of(l, some, all)
		}
	}
	switch {
	case !d.Passed:
		return noneCovers.of(l, nil, all)
	case len(d.those((*Signature).wanting)) > 0:
		return allButRevocation.of(l, nil, all)
	}
	return allPassed.of(l, nil, all)
}

// those are the numbers of the signatures that something applies to.
func (d *Document) those(applies func(*Signature) bool) (numbers []int) {
	for i := range d.Signatures {
		if applies(&d.Signatures[i]) {
			numbers = append(numbers, i+1)
		}
	}
	return numbers
}

// wanting says whether only data is missing that may come later, and no certificate is on hold.
func (s *Signature) wanting() bool {
	onHold := slices.ContainsFunc(s.Path, func(c CertificateStatus) bool { return c.Revocation == ades.RevocationOnHold })
	return s.Indication == ades.Indeterminate && s.SubIndication == ades.TryLater && !onHold
}

// changed says whether a later revision did what the signature does not permit.
func (s *Signature) changed() bool { return len(s.forbidden(1)) > 0 }
