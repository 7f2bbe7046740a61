package report

import (
	"cmp"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/bidi"
	"golang.org/x/text/width"

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

// columns of a terminal, and where things stand in them.
const (
	columns = 80
	outer   = 2 // before the document's verdict and the heads of signatures
	inner   = 4 // before labels
	gap     = 2 // between the longest label and what stands beside it
)

// sheet is a text in lines of at most so many columns.
type sheet struct {
	strings.Builder
	labels int // columns of the longest label
}

// paragraph wraps a text at an indentation.
func (s *sheet) paragraph(indent int, text string) {
	for _, line := range wrapped(text, columns-indent) {
		s.line(strings.Repeat(" ", indent) + line)
	}
}

func (s *sheet) line(text string) { s.WriteString(strings.TrimRight(text, " ") + "\n") }

// row puts texts beside a label, each beginning a line of its own; nothing where there are none.
func (s *sheet) row(label string, texts ...string) {
	indent := inner + s.labels + gap
	for _, text := range texts {
		for _, line := range wrapped(text, columns-indent) {
			s.line(strings.Repeat(" ", inner) + label + strings.Repeat(" ", indent-inner-widthOf(label)) + line)
			label = ""
		}
	}
}

// wrapped breaks a text at its spaces into lines of at most so many columns, and breaks what is longer without
// a space where it has to.
func wrapped(text string, most int) (lines []string) {
	line, used := "", 0
	for _, word := range strings.Fields(text) {
		for len(word) > 0 {
			n := widthOf(word)
			if line != "" && used+1+n > most {
				lines, line, used = append(lines, line), "", 0
			}
			part := word
			if line != "" {
				line, used = line+" ", used+1
			} else if n > most {
				part = beginning(word, most)
			}
			line, used, word = line+part, used+widthOf(part), word[len(part):]
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// beginning is as much of a word as has room, and at least a character.
func beginning(word string, most int) string {
	used := 0
	for i, r := range word {
		if used += widthOfRune(r); used > most && i > 0 {
			return word[:i]
		}
	}
	return word
}

// widthOf is how many columns a terminal takes for a text (Unicode Annex 11).
func widthOf(text string) (n int) {
	for _, r := range text {
		n += widthOfRune(r)
	}
	return n
}

func widthOfRune(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	if kind := width.LookupRune(r).Kind(); kind == width.EastAsianWide || kind == width.EastAsianFullwidth {
		return 2
	}
	return 1
}

// Bounds of what somebody else says in the text.
const (
	mostText   = 300 // characters of a name or a reason
	mostField  = 60  // of one of several fields
	mostDetail = 600 // of what the validation says, which may have such a name in it
	mostMarks  = 3   // one above the other, on a letter
)

// Around what is written from right to left, so that nothing beside it is turned around (Unicode Annex 9, 2.4).
const firstStrongIsolate, popIsolate = "\u2068", "\u2069"

// clean is what somebody else says, as a part of a line: without line ends, control characters and marks of
// direction, and with single spaces. The rest of what is longer than most characters is left out.
func clean(text string, most int) string {
	text = strings.Join(strings.Fields(strings.Map(visible, strings.ToValidUTF8(text, "\ufffd"))), " ")
	text = shortened(unstacked(text), most)
	if strings.ContainsFunc(text, rightToLeft) {
		return firstStrongIsolate + text + popIsolate
	}
	return text
}

// visible drops what is not seen but changes how the rest is.
func visible(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case unicode.Is(unicode.Cc, r), unicode.Is(unicode.Cf, r):
		return -1
	case !unicode.IsGraphic(r): // private, or of no Unicode that is known
		return unicode.ReplacementChar
	}
	return r
}

func rightToLeft(r rune) bool {
	p, _ := bidi.LookupRune(r)
	return p.Class() == bidi.R || p.Class() == bidi.AL
}

// unstacked leaves out marks that would pile up over other lines.
func unstacked(text string) string {
	marks := 0
	return strings.Map(func(r rune) rune {
		if !unicode.In(r, unicode.Mn, unicode.Me) {
			marks = 0
			return r
		}
		if marks++; marks > mostMarks {
			return -1
		}
		return r
	}, text)
}

func shortened(text string, most int) string {
	n := 0
	for i := range text {
		if n++; n > most {
			return text[:i] + "…"
		}
	}
	return text
}

// prefixes say which package an error is of, at its beginning or where it wraps another, and that a document cannot
// be read, which the text says in its own words.
var prefixes = regexp.MustCompile(
	`(^|: |[;\n] ?)(?:(?:ades|cms|crl|ocsp|online|pades|pdf|tsp|validation|xades|xmldoc|xmldsig|document cannot be read): )+`)

// sentence is what the validation says it found, for people: without what only who has the source makes something of.
func sentence(text string) string { return clean(prefixes.ReplaceAllString(text, "$1"), mostDetail) }
