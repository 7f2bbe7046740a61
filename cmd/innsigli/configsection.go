package main

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"
)

// section is a table of a TOML file that is being read. Its methods note values of another
// type as faults, and end notes those that nothing asked for.
type section struct {
	path   string // that keys begin with: "timestamp[1]."
	values map[string]any
	faults *faults
}

// fault notes one about a key.
func (s section) fault(name, format string, args ...any) { s.faults.add(s.path+name, format, args...) }

// has says whether a key is there that was not asked for yet.
func (s section) has(name string) bool { return s.values[name] != nil }

// together notes that of two keys one is missing.
func (s section) together(a, b string) {
	switch {
	case s.has(a) && !s.has(b):
		s.fault(b, "is missing, and %s is there", a)
	case s.has(b) && !s.has(a):
		s.fault(a, "is missing, and %s is there", b)
	}
}

// take returns the value of a key and counts it as asked for; kind says what it has to be.
func take[T any](s section, name, kind string) (value T) {
	v, ok := s.values[name]
	if !ok {
		return value
	}
	delete(s.values, name)
	if value, ok = v.(T); !ok {
		s.fault(name, "is not %s", kind)
	}
	return value
}

func (s section) text(name string) string { return take[string](s, name, "a string") }

// required notes the keys that are missing.
func (s section) required(names ...string) {
	for _, name := range names {
		if !s.has(name) || s.values[name] == "" {
			s.fault(name, "is missing")
		}
	}
}

// unused notes the keys that are there and have no effect.
func (s section) unused(when string, names ...string) {
	for _, name := range names {
		if s.has(name) {
			s.fault(name, "is not used %s", when)
		}
	}
}

// judged notes what the package that a value is for has against it.
func (s section) judged(name string, err error) (right bool) {
	if err != nil {
		_, says, _ := strings.Cut(err.Error(), ": ") // without the package's name
		s.fault(name, "%s", says)
	}
	return err == nil
}

// flag is true or false, and otherwise when the key is not there.
func (s section) flag(name string, otherwise bool) bool {
	if !s.has(name) {
		return otherwise
	}
	return take[bool](s, name, "true or false")
}

// number is a whole number within limits, or 0 when the key is not there.
func (s section) number(name string, least, most int64) int {
	_, whole := s.values[name].(int64)
	n := take[int64](s, name, "a whole number")
	if whole && (n < least || n > most) {
		s.fault(name, "is not between %d and %d", least, most)
		n = 0
	}
	return int(n)
}

// span is a length of time, or 0 when the key is not there.
func (s section) span(name string) time.Duration {
	_, written := s.values[name].(string)
	text := s.text(name)
	if !written {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		s.fault(name, "%q is no time such as 60s", text)
		return 0
	}
	return d
}

// oneOf is one of the values, or empty when the key is not there.
func (s section) oneOf(name string, values ...string) string {
	text := s.text(name)
	if text != "" && !slices.Contains(values, text) {
		s.fault(name, "%q is none of %s", text, strings.Join(values, ", "))
	}
	return text
}

// texts are the strings of an array with their places in it.
func (s section) texts(name string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for i, v := range take[[]any](s, name, "an array of strings") {
			text, ok := v.(string)
			if !ok {
				s.fault(fmt.Sprintf("%s[%d]", name, i), "is not a string")
			} else if !yield(i, text) {
				return
			}
		}
	}
}

// list are the strings of an array.
func (s section) list(name string) (all []string) {
	for _, text := range s.texts(name) {
		all = append(all, text)
	}
	return all
}

func (s section) section(name string) section {
	return section{s.path + name + ".", take[map[string]any](s, name, "a table"), s.faults}
}

func (s section) sections(name string) (list []section) {
	for i, values := range take[[]map[string]any](s, name, "an array of tables") {
		list = append(list, section{fmt.Sprintf("%s%s[%d].", s.path, name, i), values, s.faults})
	}
	return list
}

// end is called when all that is known was asked for.
func (s section) end() {
	for _, name := range slices.Sorted(maps.Keys(s.values)) {
		s.fault(name, "is not known")
	}
}
