package jsonbody

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Rule is what a field has to keep. The first rule it breaks, in the order
// written, is its fault. Each method of [Object] says which rules it knows; it
// does not look at the others.
type Rule func(*rules)

// rules are checks that return what is wrong, "" when nothing is.
type rules struct {
	required bool
	text     []func(string) string
	number   []func(float64) string
	items    []func(int) string
}

func collect(all []Rule) rules {
	r := rules{text: []func(string) string{noControl}}
	for _, rule := range all {
		rule(&r)
	}
	return r
}

// first returns the first fault.
func first[T any](checks []func(T) string, v T) string {
	for _, check := range checks {
		if fault := check(v); fault != "" {
			return fault
		}
	}
	return ""
}

// Required says that the field must be there.
func Required(r *rules) { r.required = true }

// RequiredIf says that the field must be there when condition holds.
func RequiredIf(condition bool) Rule {
	return func(r *rules) { r.required = r.required || condition }
}

// MaxLen bounds a string to n Unicode code points.
func MaxLen(n int) Rule {
	fault := fmt.Sprintf("Must be at most %d characters long.", n)
	return Must(func(s string) bool { return utf8.RuneCountInString(s) <= n }, fault)
}

// OneOf says which strings are allowed, compared with case.
func OneOf(allowed ...string) Rule {
	fault := "Must be one of: " + strings.Join(allowed, ", ") + "."
	return Must(func(s string) bool { return slices.Contains(allowed, s) }, fault)
}

// Must is a rule of the caller for a string; fault is the message, an English
// sentence that does not repeat the value.
func Must(holds func(string) bool, fault string) Rule {
	return func(r *rules) { r.text = append(r.text, check(holds, fault)) }
}

// AtLeast bounds a number from below.
func AtLeast(least float64) Rule {
	fault := "Must be " + decimal(least) + " or more."
	return numeric(func(f float64) bool { return f >= least }, fault)
}

// Between bounds a number on both sides; the bounds are allowed.
func Between(least, most float64) Rule {
	fault := "Must be between " + decimal(least) + " and " + decimal(most) + "."
	return numeric(func(f float64) bool { return f >= least && f <= most }, fault)
}

func numeric(holds func(float64) bool, fault string) Rule {
	return func(r *rules) { r.number = append(r.number, check(holds, fault)) }
}

// Items bounds the number of elements of an array; the bounds are allowed.
func Items(least, most int) Rule {
	fault := fmt.Sprintf("Must have %d to %d elements.", least, most)
	return func(r *rules) {
		r.items = append(r.items, check(func(n int) bool { return n >= least && n <= most }, fault))
	}
}

func check[T any](holds func(T) bool, fault string) func(T) string {
	return func(v T) string {
		if holds(v) {
			return ""
		}
		return fault
	}
}

// noControl holds for every string (spec 1.2).
func noControl(s string) string {
	if strings.ContainsFunc(s, unicode.IsControl) {
		return "Must not contain control characters."
	}
	return ""
}

func decimal(f float64) string {
	return strconv.FormatFloat(f, 'f', -1, 64)
}
