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
	p.add(commentName, start)
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
	p.add(name, start)
	return nil
}

// characterData parses a text node with its CDATA sections. Outside of the root only white space is
// allowed (XML 1.0 [27]).
func (p *parser) characterData() error {
	start := p.at
	for p.at < len(p.text) && (p.text[p.at] != '<' || p.has(cdataStart)) {
		if err := p.characterPiece(); err != nil {
			return err
		}
	}
	if len(p.open) > 0 {
		p.add(runName, start)
	} else if len(trimSpace(p.text[start:p.at])) > 0 {
		return p.malformed(start, "text outside of the root")
	}
	return nil
}

// characterPiece parses a CDATA section, or text up to the next markup.
func (p *parser) characterPiece() error {
	if p.has(cdataStart) {
		return p.skipPast(cdataEnd)
	}
	start := p.at
	if n := bytes.IndexByte(p.text[start:], '<'); n >= 0 {
		p.at = start + n
	} else {
		p.at = len(p.text)
	}
	run := p.text[start:p.at]
	if i := bytes.Index(run, []byte(cdataEnd)); i >= 0 {
		return p.malformed(start+i, "\"]]>\" in character data")
	}
	return p.references(start, p.at)
}

// references checks the references between two offsets.
func (p *parser) references(start, end int) error {
	for {
		i := bytes.IndexByte(p.text[start:end], '&')
		if i < 0 {
			return nil
		}
		start += i
		_, n := dereference(p.text[start:end])
		if n == 0 {
			return p.malformed(start, "a reference to an undefined entity, or to a character that XML does not allow")
		}
		start += n
	}
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
