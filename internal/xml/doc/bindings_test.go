package doc_test

import (
	"testing"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// TestValuePrefix looks for prefixes in values, in the element e of each document if it has one.
func TestValuePrefix(t *testing.T) {
	for source, want := range map[string]string{
		`<a xmlns:p="u" b="p:c"/>`:                                               "p",
		`<a xmlns:p="u">p:c</a>`:                                                 "p",
		`<a xmlns:p="u">&#112;&#58;c</a>`:                                        "p",
		`<a xmlns:p="u"><![CDATA[p]]>:c</a>`:                                     "p",
		`<a xmlns:p="u">//p:c[1]</a>`:                                            "p",
		`<a xmlns:p="u" xmlns:q="v" b="q:c p:c"/>`:                               "q",
		`<a xmlns:p="u"><e b="p:c"/></a>`:                                        "p",
		`<p:a xmlns:p="u" b="p:c"/>`:                                             "",
		`<a xmlns:p="u" p:b="p:c"/>`:                                             "",
		`<p:a xmlns:p="u"><b c="p:c"/></p:a>`:                                    "",
		`<p:a xmlns:p="u"><b xmlns:p="v" c="p:c"/></p:a>`:                        "p",
		`<a xmlns:p="u"><p:b/><c d="p:c"/></a>`:                                  "p",
		`<a xmlns:p="u"><p:b><c d="p:c"/></p:b></a>`:                             "",
		`<p:a xmlns:p="u"><b xmlns:p="v"><p:b/></b><c d="p:c"/></p:a>`:           "",
		`<p:a xmlns:p="u"><e b="p:c"/></p:a>`:                                    "p",
		`<a xmlns:p="u" xmlns:p2="v"><p2:b c="p2:c"/>xp:c p :c :p p</a>`:         "",
		`<a xmlns:p="u"><without b="p:c">p:c</without><!-- p:c --><?p p:c?></a>`: "",
		`<a xmlns:l="u" b="l:c"/>`:                                               "",
		`<a xmlns="u" b="http://example.org/"/>`:                                 "",
	} {
		d := parse(t, source)
		part := xmldoc.Subset{Without: func(n xmldoc.Node) bool { return n.Name().Local == "without" }}
		for n := range d.Root().Descendants() {
			if n.Name().Local == "e" {
				part.Apex = n
			}
		}
		if got, found := d.ValuePrefix(part, []string{"l"}); got != want || found != (want != "") {
			t.Errorf("%s: got %q, %t, want %q", source, got, found, want)
		}
	}
}
