package doc

import (
	"bytes"
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

// instruction reads a processing instruction ([16]). Its target has no colon (Namespaces in XML 1.0
// 7), and "xml" is the XML declaration, which stands at the beginning alone.
func (p *parser) instruction() error {
	start := p.at
	p.at += len("<?")
	target := p.text[p.at : p.at+ncName(p.text[p.at:])]
	if len(target) == 0 || strings.EqualFold(string(target), "xml") {
		return p.malformed(start, "an instruction without a target, or with a reserved one")
	}
	p.at += len(target)
	if !p.skipSpace() && !p.has("?>") {
		return p.malformed(p.at, "no white space after an instruction's target")
	}
	if err := p.skipPast("?>"); err != nil {
		return err
	}
	name, err := p.scope.target(target)
	if err != nil {
		return p.beyond("names")
	}
	p.add(name, start)
	return nil
}

// characterData reads a run with the CDATA sections in it. Outside of the root there is only white
// space (XML 1.0 [27]).
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

// characterPiece reads a CDATA section, or up to what is markup.
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

// references checks those between two offsets.
func (p *parser) references(start, end int) error {
	for {
		i := bytes.IndexByte(p.text[start:end], '&')
		if i < 0 {
			return nil
		}
		start += i
		_, n := dereference(p.text[start:end])
		if n == 0 {
			return p.malformed(start, "a reference to what is not defined, or to no character of XML")
		}
		start += n
	}
}
