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

// groupKey is what the changes have in common that one sentence describes.
type groupKey struct {
	revision  int
	kind      ades.ChangeKind
	permitted bool
}

// changeGroup is the changes that one sentence describes.
type changeGroup struct {
	groupKey
	pages  []int
	fields []string
}

// maxSentences bounds the sentences about changes.
const maxSentences = 40

// isXML reports whether the signature is an XML signature: XAdES-…, or XML-NOT-ETSI.
func (s *Signature) isXML() bool { return strings.HasPrefix(s.Format, "X") }

// covers returns what the signature covers.
func (t *text) covers(s *Signature) string {
	switch {
	case s.Counter:
		return coversCounter.in(t.language)
	case s.isXML() && s.Coverage == ades.WholeRevision:
		return coversEarlier.in(t.language)
	}
	return coverages[s.Coverage].in(t.language)
}

// afterwards returns sentences on what later revisions changed. XML has no revisions.
func (t *text) afterwards(s *Signature) []string {
	switch {
	case s.Counter || s.isXML():
		return nil
	case s.Extended && s.Intact && !s.changed():
		return []string{validationDataAfter.in(t.language)}
	case len(s.Changes) > 0:
		return t.changes(s.Changes)
	case !s.Intact: // the signed content is not known
		return nil
	case s.Coverage == ades.WholeDocument:
		return []string{nothingAfter.in(t.language)}
	case s.Coverage == ades.WholeRevision:
		return []string{bytesAfter.in(t.language)}
	}
	return nil
}

// changes returns sentences about the changes. Changes that are not permitted come first, so that
// others cannot push them beyond maxSentences.
func (t *text) changes(changes []Change) (sentences []string) {
	all := groupChanges(changes)
	for i, k := range all {
		if i == maxSentences {
			return append(sentences, moreChanges.with(t.language, "n", strconv.Itoa(len(all)-i)))
		}
		sentences = append(sentences, t.change(k))
	}
	return sentences
}

// groupChanges groups the changes by permission, revision and kind.
func groupChanges(changes []Change) (all []*changeGroup) {
	at := make(map[groupKey]*changeGroup)
	for _, c := range changes {
		of := groupKey{c.Revision, c.Kind, c.Permitted}
		k := at[of]
		if k == nil {
			k = &changeGroup{groupKey: of}
			at[of], all = k, append(all, k)
		}
		if c.Page > 0 {
			k.pages = append(k.pages, c.Page)
		}
		if c.Field != "" {
			k.fields = append(k.fields, c.Field)
		}
	}
	slices.SortStableFunc(all, func(a, b *changeGroup) int {
		return cmp.Or(compareBool(a.permitted, b.permitted), cmp.Compare(a.revision, b.revision))
	})
	return all
}

// compareBool orders false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// change returns a sentence such as "Revision 3: the content of page 2 was changed (not
// permitted)".
func (t *text) change(k *changeGroup) string {
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
		names[i] = t.language.quoted(name, maxField)
	}
	return t.language.list(shortenList(t.language, names))
}

// unique returns the distinct values in ascending order.
func unique[T cmp.Ordered](values []T) []T {
	return slices.Compact(slices.Sorted(slices.Values(values)))
}

func capital(sentence string) string {
	first, size := utf8.DecodeRuneInString(sentence)
	return string(unicode.ToUpper(first)) + sentence[size:]
}
