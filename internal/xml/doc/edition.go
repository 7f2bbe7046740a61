package doc

import (
	"encoding/xml"
	"strings"
	"unicode/utf8"
)

// maxCommonName is how many characters Java's parsers let a name have, without its prefix.
const maxCommonName = 1000

// CommonNames says whether other parsers read the names of a document. Those of Java and of Go know
// the names of the fourth edition of XML 1.0 (appendix B there) alone, which are some of the fifth's.
func (d *Document) CommonNames() bool {
	for _, n := range d.tree.names {
		if !isCommon(n.local) || !isCommon(n.prefix) {
			return false
		}
	}
	return true
}

// isCommon asks the parser of Go, which is asked for no more than the beginning of one tag.
func isCommon(name string) bool {
	if utf8.RuneCountInString(name) > maxCommonName {
		return false
	}
	if isASCII(name) {
		return true
	}
	_, err := xml.NewDecoder(strings.NewReader("<" + name + ">")).RawToken()
	return err == nil
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
