package doc

import (
	"bytes"
	"errors"
)

var (
	errDeclaration = errors.New("not as XML has it")
	errVersion     = errors.New("version is not 1.0")
)

const declarationStart, declarationEnd = "<?xml", "?>"

// parseDeclaration reads the XML declaration that text may begin with, and returns the encoding that
// it says, and its length (XML 1.0 [23]).
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

// pseudoAttribute takes one off the text when it is the next.
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

// trimSpace takes white space off the beginning ([3]).
func trimSpace(text []byte) []byte {
	for len(text) > 0 && class[text[0]]&isSpace != 0 {
		text = text[1:]
	}
	return text
}
