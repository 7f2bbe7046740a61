package doc_test

import (
	"strings"
	"testing"
)

// XML 1.0, fourth edition, appendix B, beside [4] and [4a] of the fifth.
func TestCommonNames(t *testing.T) {
	for _, tc := range []struct {
		names string
		want  bool
	}{
		{"a _ a-b.1 é Þóra жук 中 한 ぁ 〇 a々 Ω א ア ĸ a\u0300 a\u00B7 a\u0661", true},
		{"Ĳ Ŀ ŉ ſ Ǆ Ș 㐀 ﬁ Ａ a\u203F a\u2040 \u200C 々 \U00010000 a\U0002F800", false},
		{strings.Repeat("é", 1000), true},
		{strings.Repeat("a", 1001), false},
	} {
		for name := range strings.FieldsSeq(tc.names) {
			for _, source := range []string{
				"<N/>", "<a N=''/>", "<p:N xmlns:p='u:v'/>", "<N:a xmlns:N='u:v'/>", "<a xmlns:N='u:v'/>", "<a><?N?></a>",
			} {
				source = strings.ReplaceAll(source, "N", name)
				if got := parse(t, []byte(source)).CommonNames(); got != tc.want {
					t.Errorf("%+.40q: %t", source, got)
				}
			}
		}
	}
}
