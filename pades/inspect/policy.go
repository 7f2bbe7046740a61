package inspect

import (
	"fmt"
	"slices"
	"strings"
)

// A Policy says what becomes of a document with warnings. It is stored. The zero value is [Warn].
type Policy string

const (
	// Warn accepts every document.
	Warn Policy = "warn"
	// Refuse refuses a document with any warning. "refuse:JavaScript,XFA" refuses these kinds.
	Refuse Policy = "refuse"
)

// Check returns an error unless the policy is "warn", "refuse", or "refuse:" and kinds that are separated by commas.
// [PageNotShown] is no such kind, because it is known only when a page is drawn.
func (p Policy) Check() error {
	if p == "" || p == Warn || p == Refuse {
		return nil
	}
	kinds, ok := strings.CutPrefix(string(p), string(Refuse)+":")
	if !ok {
		return fmt.Errorf("inspect: %q is not a policy: use warn, refuse, or refuse: with kinds", string(p))
	}
	seen := map[Code]bool{}
	for kind := range strings.SplitSeq(kinds, ",") {
		code := Code(kind)
		if !slices.Contains(refusable(), code) {
			return fmt.Errorf("inspect: %q is not a kind that can be refused: use one of %s", kind, join(refusable()))
		}
		if seen[code] {
			return fmt.Errorf("inspect: %q is in the policy twice", kind)
		}
		seen[code] = true
	}
	return nil
}

// Refused returns the codes of the warnings for which the policy refuses a document, each once; none if it is accepted.
func (p Policy) Refused(warnings []Warning) (codes []Code) {
	kinds, some := strings.CutPrefix(string(p), string(Refuse)+":")
	if !some && p != Refuse {
		return nil
	}
	for _, w := range warnings {
		if (!some || slices.Contains(strings.Split(kinds, ","), string(w.Code))) && !slices.Contains(codes, w.Code) {
			codes = append(codes, w.Code)
		}
	}
	slices.Sort(codes)
	return codes
}

// A RefusedError is the error of a document that a [Policy] refuses.
type RefusedError struct {
	Codes []Code // the reasons; not empty
}

func (e *RefusedError) Error() string { return "inspect: the document is refused: " + join(e.Codes) }

func refusable() []Code {
	return slices.DeleteFunc(Codes(), func(c Code) bool { return c == PageNotShown })
}

func join(codes []Code) string {
	var list []string
	for _, c := range codes {
		list = append(list, string(c))
	}
	return strings.Join(list, ", ")
}
