package report

import (
	"strconv"
	"strings"
)

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
