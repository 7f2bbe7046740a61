package doc

import (
	"bytes"
	"errors"
	"strings"
)

// comment reads a comment (XML 1.0 [15]).
func (p *parser) comment() error {
	start := p.at
	p.at += len("<!--")
	if err := p.skipPast("--"); err != nil {
		return err
	}
	if p.at == len(p.text) || p.text[p.at] != '>' {
		return p.malformed(p.at, "\"--\" in a comment")
	}
	p.at++
	p.add(Comment, 0, start, 0)
	p.doc.tree.comments++
	return nil
}

// instruction parses a processing instruction ([16]). Its target has no colon (Namespaces in XML
// 1.0 7) and is not "xml", which is for the XML declaration at the beginning.
func (p *parser) instruction() error {
	start := p.at
	p.at += len("<?")
	target := p.text[p.at : p.at+ncName(p.text[p.at:])]
	if len(target) == 0 || strings.EqualFold(string(target), "xml") {
		return p.malformed(start, "a processing instruction without a target, or with a reserved one")
	}
	p.at += len(target)
	if !p.skipSpace() && !p.has("?>") {
		return p.malformed(p.at, "no white space after the target of a processing instruction")
	}
	if err := p.skipPast("?>"); err != nil {
		return err
	}
	name, err := p.scope.target(target)
	if err != nil {
		return p.tooMany("names")
	}
	p.add(Instruction, name, start, 0)
	return nil
}

// characterData parses a text node with its CDATA sections. Outside of the root only white space is
// allowed (XML 1.0 [27]).
func (p *parser) characterData() error {
	start, plain := p.at, true
	for p.at < len(p.text) && (p.text[p.at] != '<' || p.has(cdataStart)) {
		same, err := p.characterPiece()
		if err != nil {
			return err
		}
		plain = plain && same
	}
	if len(p.open) > 0 {
		p.addText(plain)
	} else if len(trimSpace(p.text[start:p.at])) > 0 {
		return p.malformed(start, "text outside of the root")
	}
	return nil
}

// characterPiece parses a CDATA section, or text up to the next markup. plain reports whether it is
// the same in canonical form.
func (p *parser) characterPiece() (plain bool, err error) {
	if p.text[p.at] == '<' {
		return false, p.skipPast(cdataEnd)
	}
	plain = true
	for at := p.at; at < len(p.text); at++ {
		if at += p.plainText(at); at == len(p.text) {
			break
		}
		switch b := p.text[at]; {
		case b == '<':
			p.at = at
			return plain, nil
		case b == '&':
			n, canonical := p.reference(at, canonicalInText)
			if n == 0 {
				return false, p.malformed(at, noReference)
			}
			plain = plain && canonical
			at += n - 1
		case b == '>' && at-p.at >= 2 && string(p.text[at-2:at]) == "]]":
			return false, p.malformed(at-2, "\"]]>\" in character data")
		default:
			plain = false
		}
	}
	p.at = len(p.text)
	return plain, nil
}

// A short text is read byte by byte. In a longer one, each byte that ends plain text is searched in
// windows of some bytes, which bounds how often a text with many of them is read.
const shortText, searchWindow = 48, 1024

// plainText returns how many bytes from an offset on are text that stands for itself.
func (p *parser) plainText(at int) int {
	rest := p.text[at:]
	for i, b := range rest[:min(len(rest), shortText)] {
		if class[b]&endsPlainText != 0 {
			return i
		}
	}
	for n := shortText; n < len(rest); n += searchWindow {
		window := rest[n:min(len(rest), n+searchWindow)]
		found := len(window)
		for _, end := range []byte("<&>\r") {
			if i := bytes.IndexByte(window[:found], end); i >= 0 {
				found = i
			}
		}
		if found < len(window) {
			return n + found
		}
	}
	return len(rest)
}

const noReference = "a reference to an undefined entity, or to a character that XML does not allow"

// References that are the same in canonical form (Canonical XML 1.0, 2.3).
var (
	canonicalInText  = []string{"&amp;", "&lt;", "&gt;", "&#xD;"}
	canonicalInValue = []string{"&amp;", "&lt;", "&quot;", "&#x9;", "&#xA;", "&#xD;"}
)

// reference returns the length of the reference at an offset, 0 if it is malformed, and whether it is
// one of those that are the same in canonical form.
func (p *parser) reference(at int, canonical []string) (length int, same bool) {
	_, length = dereference(p.text[at:])
	for _, c := range canonical {
		same = same || string(p.text[at:at+length]) == c
	}
	return length, same
}

var (
	errDeclaration = errors.New("malformed XML declaration")
	errVersion     = errors.New("version is not 1.0")
)

const declarationStart, declarationEnd = "<?xml", "?>"

// parseDeclaration parses the XML declaration at the beginning of text, if there is one (XML 1.0
// [23]). It returns the declared encoding and the length of the declaration.
func parseDeclaration(text []byte) (encoding string, length int, err error) {
	rest, found := bytes.CutPrefix(text, []byte(declarationStart))
	if !found || len(rest) == 0 || class[rest[0]]&isSpace == 0 {
		return "", 0, nil
	}
	rest, _, found = bytes.Cut(rest, []byte(declarationEnd))
	if !found {
		return "", 0, errDeclaration
	}
	length = len(declarationStart) + len(rest) + len(declarationEnd)
	encoding, err = parsePseudoAttributes(rest)
	return encoding, length, err
}

func parsePseudoAttributes(text []byte) (encoding string, err error) {
	version, rest, _ := pseudoAttribute(text, "version")
	if version != "1.0" {
		return "", errVersion
	}
	encoding, rest, found := pseudoAttribute(rest, "encoding")
	if found && !isEncodingName(encoding) {
		return "", errDeclaration
	}
	standalone, rest, found := pseudoAttribute(rest, "standalone")
	if found && standalone != "yes" && standalone != "no" {
		return "", errDeclaration
	}
	if len(trimSpace(rest)) > 0 {
		return "", errDeclaration
	}
	return encoding, nil
}

// pseudoAttribute parses a pseudo-attribute of that name, if it is the next.
func pseudoAttribute(text []byte, name string) (value string, rest []byte, found bool) {
	trimmed := trimSpace(text)
	after, found := bytes.CutPrefix(trimmed, []byte(name))
	if !found || len(trimmed) == len(text) {
		return "", text, false
	}
	after, found = bytes.CutPrefix(trimSpace(after), []byte("="))
	after = trimSpace(after)
	if !found || len(after) == 0 || after[0] != '"' && after[0] != '\'' {
		return "", text, false
	}
	quoted, rest, found := bytes.Cut(after[1:], after[:1])
	if !found {
		return "", text, false
	}
	return string(quoted), rest, true
}

// isEncodingName follows [81].
func isEncodingName(name string) bool {
	for i, b := range []byte(name) {
		isDigit, isLetter := '0' <= b && b <= '9', class[b]&startsName != 0 && b != '_'
		if !isLetter && (i == 0 || !isDigit && b != '.' && b != '_' && b != '-') {
			return false
		}
	}
	return name != ""
}

// trimSpace removes leading white space ([3]).
func trimSpace(text []byte) []byte {
	for len(text) > 0 && class[text[0]]&isSpace != 0 {
		text = text[1:]
	}
	return text
}
