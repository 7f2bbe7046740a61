package jsonbody

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Rule is a rule for a field. The first rule that a field violates, in the order of the arguments, is its fault.
// The comment of each method of [Object] lists the rules that it supports; it ignores others.
type Rule func(*rules)

// rules are the checks of a field. A check returns the fault, or "".
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

// firstFault returns the fault of the first check that fails, or "".
func firstFault[T any](checks []func(T) string, v T) string {
	for _, check := range checks {
		if fault := check(v); fault != "" {
			return fault
		}
	}
	return ""
}

// Required requires the field.
func Required(r *rules) { r.required = true }

// RequiredIf requires the field if condition is true.
func RequiredIf(condition bool) Rule {
	return func(r *rules) { r.required = r.required || condition }
}

// MaxLen limits a string to n Unicode code points.
func MaxLen(n int) Rule {
	fault := fmt.Sprintf("Must be at most %d characters long.", n)
	return Must(func(s string) bool { return utf8.RuneCountInString(s) <= n }, fault)
}

// OneOf permits the given strings only, and is case-sensitive.
func OneOf(allowed ...string) Rule {
	fault := "Must be one of: " + strings.Join(allowed, ", ") + "."
	return Must(func(s string) bool { return slices.Contains(allowed, s) }, fault)
}

// Must requires a string for which valid returns true; fault is the message, an English sentence that does not
// repeat the value.
func Must(valid func(string) bool, fault string) Rule {
	return func(r *rules) { r.text = append(r.text, check(valid, fault)) }
}

// AtLeast requires a number of at least least.
func AtLeast(least float64) Rule {
	fault := "Must be " + decimal(least) + " or more."
	return numeric(func(f float64) bool { return f >= least }, fault)
}

// Between requires a number between least and most, inclusive.
func Between(least, most float64) Rule {
	fault := "Must be between " + decimal(least) + " and " + decimal(most) + "."
	return numeric(func(f float64) bool { return f >= least && f <= most }, fault)
}

func numeric(valid func(float64) bool, fault string) Rule {
	return func(r *rules) { r.number = append(r.number, check(valid, fault)) }
}

// Items requires an array of least to most elements, inclusive.
func Items(least, most int) Rule {
	fault := fmt.Sprintf("Must have %d to %d elements.", least, most)
	return func(r *rules) {
		r.items = append(r.items, check(func(n int) bool { return n >= least && n <= most }, fault))
	}
}

func check[T any](valid func(T) bool, fault string) func(T) string {
	return func(v T) string {
		if valid(v) {
			return ""
		}
		return fault
	}
}

// noControl is a rule of every string (spec 1.2).
func noControl(s string) string {
	if strings.ContainsFunc(s, unicode.IsControl) {
		return "Must not contain control characters."
	}
	return ""
}

func decimal(f float64) string {
	return strconv.FormatFloat(f, 'f', -1, 64)
}

const (
	msgRequired = "This field is required."
	msgBase64   = "Must be Base64 (RFC 4648 section 4) with padding and without line breaks, and not empty."
)

// mustBe returns the fault of a value that is not of the kind.
func mustBe(k kind) string {
	switch k {
	case boolean:
		return "Must be true or false."
	case number:
		return "Must be a number."
	case array:
		return "Must be an array."
	case object:
		return "Must be an object."
	}
	return "Must be a string."
}
