package jsonbody

import (
	"strconv"
	"strings"
)

// step leads from a value to one inside it.
type step struct {
	name  string // empty in an array
	index int    // in an array; -1 for a member
}

// inside reads a value one step further down.
func (p *parser) inside(s step, read func() (*value, error)) (*value, error) {
	p.path = append(p.path, s)
	v, err := read()
	p.path = p.path[:len(p.path)-1]
	return v, err
}

// atContent compares step by step: a name with a dot in it is not a path.
func (p *parser) atContent() bool {
	if len(p.path) != len(p.content) {
		return false
	}
	for i, s := range p.path {
		if s.name != p.content[i] {
			return false
		}
	}
	return true
}

// pathTo names a member of the object being read. A name that is not a short
// plain word is the client's text, not a path to echo: the path ends before it.
func (p *parser) pathTo(name string) string {
	path := ""
	for _, s := range append(p.path[:len(p.path):len(p.path)], step{name: name, index: -1}) {
		switch {
		case s.index >= 0:
			path += "[" + strconv.Itoa(s.index) + "]"
		case isPlainWord(s.name):
			path = join(path, s.name)
		default:
			return orWhole(path)
		}
	}
	return path
}

func isPlainWord(name string) bool {
	const maxLen = 64
	return name != "" && len(name) <= maxLen && strings.IndexFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-')
	}) < 0
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func orWhole(path string) string {
	if path == "" {
		return wholeBody
	}
	return path
}
