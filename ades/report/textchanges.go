package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/innsigli/innsigli/ades"
)

// ofXML: signatures of XML stand beside one another, or one holds the others.
func (s *Signature) ofXML() bool { return strings.HasPrefix(s.Format, "X") } // XAdES-…, or XML-NOT-ETSI

// covers is what the signature is over.
func (t *text) covers(s *Signature) string {
	switch {
	case s.Counter:
		return coversCounter.in(t.language)
	case s.ofXML() && s.Coverage == ades.WholeRevision:
		return coversEarlier.in(t.language)
	}
	return coverages[s.Coverage].in(t.language)
}

// afterwards is what later revisions did. XML has none.
func (t *text) afterwards(s *Signature) []string {
	switch {
	case s.Counter || s.ofXML():
		return nil
	case s.Extended && s.Intact && !s.changed():
		return []string{proofAfter.in(t.language)}
	case len(s.Changes) > 0:
		return t.changes(s.Changes)
	case !s.Intact: // what was there before is not known
		return nil
	case s.Coverage == ades.WholeDocument:
		return []string{nothingAfter.in(t.language)}
	case s.Coverage == ades.WholeRevision:
		return []string{bytesAfter.in(t.language)}
	}
	return nil
}

// key is what changes have in common that are said in one sentence.
type key struct {
	revision  int
	kind      ades.ChangeKind
	permitted bool
}

// alike are changes that are said in one sentence.
type alike struct {
	key
	pages  []int
	fields []string
}

// mostSentences is how many there are at most.
const mostSentences = 40

// changes are sentences, those first about what is not permitted, so that nothing else can push it out.
func (t *text) changes(changes []Change) (sentences []string) {
	all := grouped(changes)
	for i, k := range all {
		if i == mostSentences {
			return append(sentences, moreChanges.with(t.language, "n", strconv.Itoa(len(all)-i)))
		}
		sentences = append(sentences, t.change(k))
	}
	return sentences
}

// grouped are the changes by whether they are permitted, their revision and kind.
func grouped(changes []Change) (all []*alike) {
	at := make(map[key]*alike)
	for _, c := range changes {
		of := key{c.Revision, c.Kind, c.Permitted}
		k := at[of]
		if k == nil {
			k = &alike{key: of}
			at[of], all = k, append(all, k)
		}
		if c.Page > 0 {
			k.pages = append(k.pages, c.Page)
		}
		if c.Field != "" {
			k.fields = append(k.fields, c.Field)
		}
	}
	slices.SortStableFunc(all, func(a, b *alike) int {
		return cmp.Or(compareBool(a.permitted, b.permitted), cmp.Compare(a.revision, b.revision))
	})
	return all
}

// compareBool has false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// change is a sentence such as "Revision 3: the content of page 2 was changed (not permitted)".
func (t *text) change(k *alike) string {
	h, ok := changeKinds[k.kind]
	if !ok {
		h = changeKinds[ades.ChangeUnknown]
	}
	what := t.say(h.general)
	if pages := unique(k.pages); len(pages) > 0 && h.onPages != (words{}) {
		what = t.say(h.onPages, "pages", t.pages(pages))
	}
	if fields := unique(k.fields); len(fields) > 0 && h.onPages != (words{}) {
		what += ": " + t.fields(fields)
	}
	verdict := permitted
	if !k.permitted {
		verdict = notPermitted
	}
	return t.say(inRevision, "n", strconv.Itoa(k.revision), "what", capital(what)) + " (" + verdict.in(t.language) + ")"
}

func (t *text) pages(numbers []int) string {
	if len(numbers) == 1 {
		return t.say(onePage, "n", strconv.Itoa(numbers[0]))
	}
	return t.say(severalPages, "n", t.language.numbers(numbers))
}

func (t *text) fields(names []string) string {
	for i, name := range names {
		names[i] = t.language.quoted(name, mostField)
	}
	return t.language.list(bounded(t.language, names))
}

// unique are the values in ascending order.
func unique[T cmp.Ordered](values []T) []T {
	return slices.Compact(slices.Sorted(slices.Values(values)))
}

func capital(sentence string) string {
	first, size := utf8.DecodeRuneInString(sentence)
	return string(unicode.ToUpper(first)) + sentence[size:]
}
