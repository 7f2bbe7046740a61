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

// text is a report that is being written.
type text struct {
	lineWriter
	language Language
}

// Text writes the report for people, in lines of 80 columns. An unknown language is English.
func (d *Document) Text(w io.Writer, l Language) error {
	t := text{language: l}
	for _, label := range allLabels {
		t.labels = max(t.labels, widthOf(label.in(l)))
	}
	t.paragraph(0, cmp.Or(clean(d.File, maxText), "-"))
	t.paragraph(outer, d.verdict(l))
	for i := range d.Signatures {
		t.line("")
		t.signature(&d.Signatures[i], i+1, len(d.Signatures))
	}
	t.details(d)
	_, err := io.WriteString(w, t.String())
	return err
}

func (t *text) say(w words, pairs ...string) string { return w.with(t.language, pairs...) }

// add adds a row with a label. It adds nothing if there are no texts.
func (t *text) add(label words, texts ...string) { t.row(label.in(t.language), texts...) }

// verdict returns the sentence about the document as a whole, about its most serious problem.
func (d *Document) verdict(l Language) string {
	all := len(d.Signatures)
	switch {
	case d.Error != "":
		return unreadable.with(l, "why", sentence(d.Error))
	case all == 0:
		return unsigned.in(l)
	}
	for _, reason := range []struct {
		words   countedWords
		applies func(*Signature) bool
	}{
		{someFailed, func(s *Signature) bool { return s.Indication == ades.TotalFailed }},
		{someChanged, (*Signature).changed},
		{someUnconfirmed, func(s *Signature) bool { return !s.Passed }},
		{somePartial, func(s *Signature) bool { return s.Coverage == ades.Partial && !s.Counter }},
	} {
		if some := d.numbersOf(reason.applies); len(some) > 0 {
			return reason.words.of(l, some, all)
		}
	}
	switch {
	case !d.Passed:
		return noneCovers.of(l, nil, all)
	case len(d.numbersOf((*Signature).onlyDataMissing)) > 0:
		return allButRevocation.of(l, nil, all)
	}
	return allPassed.of(l, nil, all)
}

// numbersOf returns the numbers of the signatures for which applies reports true.
func (d *Document) numbersOf(applies func(*Signature) bool) (numbers []int) {
	for i := range d.Signatures {
		if applies(&d.Signatures[i]) {
			numbers = append(numbers, i+1)
		}
	}
	return numbers
}

// onlyDataMissing reports whether only data is missing that may arrive later, and no certificate is
// on hold.
func (s *Signature) onlyDataMissing() bool {
	onHold := slices.ContainsFunc(s.Path, func(c CertificateStatus) bool { return c.Revocation == ades.RevocationOnHold })
	return s.Indication == ades.Indeterminate && s.SubIndication == ades.TryLater && !onHold
}

// changed reports whether a later revision made a change that the signature does not permit.
func (s *Signature) changed() bool { return len(s.forbidden(1)) > 0 }

// Layout of the text, in columns of a terminal.
const (
	columns = 80
	outer   = 2 // before the document's verdict and the heads of signatures
	inner   = 4 // before labels
	gap     = 2 // between the longest label and its text
)

// lineWriter is a text in lines of at most 80 columns.
type lineWriter struct {
	strings.Builder
	labels int // columns of the longest label
}

// paragraph writes a text in wrapped, indented lines.
func (s *lineWriter) paragraph(indent int, text string) {
	for _, line := range wrap(text, columns-indent) {
		s.line(strings.Repeat(" ", indent) + line)
	}
}

func (s *lineWriter) line(text string) { s.WriteString(strings.TrimRight(text, " ") + "\n") }

// row writes texts to the right of a label, each from the start of a line. It writes nothing if
// there are no texts.
func (s *lineWriter) row(label string, texts ...string) {
	indent := inner + s.labels + gap
	for _, text := range texts {
		for _, line := range wrap(text, columns-indent) {
			s.line(strings.Repeat(" ", inner) + label + strings.Repeat(" ", indent-inner-widthOf(label)) + line)
			label = ""
		}
	}
}

// wrap breaks a text at spaces into lines of at most most columns. It breaks longer words where it
// has to.
func wrap(text string, most int) (lines []string) {
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
				part = fittingPrefix(word, most)
			}
			line, used, word = line+part, used+widthOf(part), word[len(part):]
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// fittingPrefix returns the beginning of a word that fits into most columns, but at least one
// character.
func fittingPrefix(word string, most int) string {
	used := 0
	for i, r := range word {
		if used += widthOfRune(r); used > most && i > 0 {
			return word[:i]
		}
	}
	return word
}

// widthOf returns how many columns a terminal uses for a text (Unicode Annex 11).
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

// Bounds of content of the document in the text.
const (
	maxText   = 300 // characters of a name or a reason
	maxField  = 60  // of the name of a form field, of which a sentence may list several
	maxDetail = 600 // of a message of the validation, which may contain such a name
	maxMarks  = 3   // combining marks on one letter
)

// Isolates put around right-to-left text, so that the text beside it keeps its direction (Unicode
// Annex 9, 2.4).
const firstStrongIsolate, popIsolate = "\u2068", "\u2069"

// clean returns a text of the document as a part of a line: without line ends, control characters
// and direction marks, with single spaces, and shortened to at most most characters.
func clean(text string, most int) string {
	text = strings.Join(strings.Fields(strings.Map(replaceInvisible, strings.ToValidUTF8(text, "\ufffd"))), " ")
	text = shorten(limitMarks(text), most)
	if strings.ContainsFunc(text, rightToLeft) {
		return firstStrongIsolate + text + popIsolate
	}
	return text
}

// replaceInvisible drops invisible characters, which may change how others are displayed, and
// replaces spaces and characters without a defined meaning.
func replaceInvisible(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case unicode.Is(unicode.Cc, r), unicode.Is(unicode.Cf, r):
		return -1
	case !unicode.IsGraphic(r): // private use, or not assigned in this version of Unicode
		return unicode.ReplacementChar
	}
	return r
}

func rightToLeft(r rune) bool {
	p, _ := bidi.LookupRune(r)
	return p.Class() == bidi.R || p.Class() == bidi.AL
}

// limitMarks drops combining marks that would reach over other lines.
func limitMarks(text string) string {
	marks := 0
	return strings.Map(func(r rune) rune {
		if !unicode.In(r, unicode.Mn, unicode.Me) {
			marks = 0
			return r
		}
		if marks++; marks > maxMarks {
			return -1
		}
		return r
	}, text)
}

func shorten(text string, most int) string {
	n := 0
	for i := range text {
		if n++; n > most {
			return text[:i] + "…"
		}
	}
	return text
}

// prefixes match the package names at the beginning of an error and of the errors that it wraps,
// and "document cannot be read", which the text states in its own words.
var prefixes = regexp.MustCompile(
	`(^|: |[;\n] ?)(?:(?:ades|cms|crl|ocsp|online|pades|pdf|tsp|validation|xades|xmldoc|xmldsig|document cannot be read): )+`)

// sentence returns a message of the validation for people, without the prefixes of errors.
func sentence(text string) string { return clean(prefixes.ReplaceAllString(text, "$1"), maxDetail) }
