package pdflint

import (
	"bytes"

	"github.com/innsigli/innsigli/internal/pdf"
)

// checkBodies checks the text of each object by itself.
func (l *linter) checkBodies() {
	for _, o := range l.objects {
		text, payload, stream := o.split()
		for _, comment := range comments(text) {
			if bytes.Contains(comment, []byte("obj")) || bytes.IndexByte(comment, 0) >= 0 {
				l.fault(Comment, "in %s: %.40q", o.ref, comment)
			}
		}
		value, err := pdf.Parse(bytes.TrimSpace(text))
		if err != nil {
			l.fault(Unlisted, "%s is not one object: %v", o.ref, err)
			continue
		}
		if stream {
			l.checkPayload(o, value, payload)
		}
	}
}

// split cuts a stream object into the text of its dictionary and its payload.
func (o object) split() (text, payload []byte, stream bool) {
	text, payload, found := bytes.Cut(o.body, []byte("\nstream\n"))
	payload, ended := bytes.CutSuffix(payload, []byte("\nendstream"))
	if !found || !ended {
		return o.body, nil, false
	}
	return text, payload, true
}

// checkPayload: the signature dictionary has to stand in the open, so that its gap can be
// found, and so has everything else that may be looked for by scanning.
func (l *linter) checkPayload(o object, value pdf.Object, payload []byte) {
	dict, _ := value.(pdf.Dict)
	if dict["Type"] == pdf.Name("ObjStm") {
		l.fault(ObjectFlow, "%s is an object stream", o.ref)
	}
	if dict["Length"] != pdf.Integer(len(payload)) {
		l.fault(PayloadSize, "%s has %d bytes, and Length %v", o.ref, len(payload), dict["Length"])
	}
}

// comments are the comments of a source text, without the percent sign (7.2.4).
func comments(text []byte) (found [][]byte) {
	for len(text) > 0 {
		switch text[0] {
		case '(':
			text = text[stringEnd(text):]
		case '%':
			end := bytes.IndexAny(text, "\r\n")
			if end < 0 {
				end = len(text)
			}
			found = append(found, text[1:end])
			text = text[end:]
		default:
			text = text[1:]
		}
	}
	return found
}

// stringEnd is where the literal string ends that text begins with (7.3.4.2).
func stringEnd(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}
