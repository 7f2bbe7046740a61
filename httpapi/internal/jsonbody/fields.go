package jsonbody

import (
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// Or returns what p points to, and absent when p is nil:
//
//	page := jsonbody.Or(body.OptionalInt("signatureImage.page"), 1)
func Or[T any](p *T, absent T) T {
	if p == nil {
		return absent
	}
	return *p
}

func orZero[T any](p *T) T {
	var zero T
	return Or(p, zero)
}

// String returns a string. White space alone counts as absent, and control
// characters are a fault (spec 1.2).
// Rules: Required, RequiredIf, MaxLen, OneOf, Must.
func (o *Object) String(path string, rules ...Rule) string {
	return orZero(o.OptionalString(path, rules...))
}

// OptionalString is String that returns nil for an absent or faulty string.
func (o *Object) OptionalString(path string, rules ...Rule) *string {
	r := collect(rules)
	v := o.member(path, text, r)
	if v == nil {
		return nil
	}
	if isBlank(v.text) {
		if r.required {
			o.Fault(path, msgRequired)
		}
		return nil
	}
	return o.judged(path, v, r)
}

// Strings returns the strings of an array. A blank element is a fault. An empty
// array gives an empty slice, an absent or faulty one nil.
// Rules: Required, RequiredIf, Items; for each element MaxLen, OneOf, Must.
func (o *Object) Strings(path string, rules ...Rule) []string {
	r := collect(rules)
	return elements(o, path, r, func(at string, v *value) string {
		if v.kind != text {
			o.Fault(at, mustBe(text))
			return ""
		}
		if isBlank(v.text) {
			o.Fault(at, msgRequired)
			return ""
		}
		return orZero(o.judged(at, v, r))
	})
}

// judged returns a string when it keeps the rules.
func (o *Object) judged(path string, v *value, r rules) *string {
	if fault := first(r.text, v.text); fault != "" {
		o.Fault(path, fault)
		return nil
	}
	return &v.text
}

// UUID returns a UUID of 36 characters in lower case, "" when it is absent or
// faulty. Rules: Required, RequiredIf.
func (o *Object) UUID(path string, rules ...Rule) string {
	s := o.OptionalString(path, append(rules[:len(rules):len(rules)], Must(isUUID, "Must be a UUID."))...)
	return strings.ToLower(orZero(s))
}

// isUUID refuses the other spellings that uuid.Parse knows: braces, URNs, bare hex.
func isUUID(s string) bool {
	const hyphenated = 36
	return len(s) == hyphenated && uuid.Validate(s) == nil
}

// Int returns a whole number; 1.0 is one (spec 1.2). One beyond an int64 is the nearest.
// Rules: Required, RequiredIf, AtLeast, Between.
func (o *Object) Int(path string, rules ...Rule) int64 {
	return orZero(o.OptionalInt(path, rules...))
}

// OptionalInt is Int that returns nil for an absent or faulty number.
func (o *Object) OptionalInt(path string, rules ...Rule) *int64 {
	r := collect(rules)
	v := o.member(path, number, r)
	if v == nil {
		return nil
	}
	n, whole := integer(v.text)
	if !whole {
		o.Fault(path, "Must be a whole number.")
		return nil
	}
	if fault := first(r.number, float64(n)); fault != "" {
		o.Fault(path, fault)
		return nil
	}
	return &n
}

// Number returns a number. Rules: Required, RequiredIf, AtLeast, Between.
func (o *Object) Number(path string, rules ...Rule) float64 {
	return orZero(o.OptionalNumber(path, rules...))
}

// OptionalNumber is Number that returns nil for an absent or faulty number.
func (o *Object) OptionalNumber(path string, rules ...Rule) *float64 {
	r := collect(rules)
	v := o.member(path, number, r)
	if v == nil {
		return nil
	}
	f, err := strconv.ParseFloat(v.text, 64) // infinite when it is too large; its grammar is right
	fault := first(r.number, f)
	if err != nil && fault == "" {
		fault = "Must be a smaller number."
	}
	if fault != "" {
		o.Fault(path, fault)
		return nil
	}
	return &f
}

// Bool returns a boolean. Rules: Required, RequiredIf.
func (o *Object) Bool(path string, rules ...Rule) bool {
	return orZero(o.OptionalBool(path, rules...))
}

// OptionalBool is Bool that returns nil for an absent or faulty boolean.
func (o *Object) OptionalBool(path string, rules ...Rule) *bool {
	v := o.member(path, boolean, collect(rules))
	if v == nil {
		return nil
	}
	b := v.text == "true"
	return &b
}

// Base64 returns the bytes of a small Base64 string, such as an image, under the
// rules that hold for the content. It returns nil when it is absent or faulty.
// Rules: Required, RequiredIf.
func (o *Object) Base64(path string, rules ...Rule) []byte {
	v := o.member(path, text, collect(rules))
	if v == nil {
		return nil
	}
	// The decoder skips line breaks; here they are refused.
	decoded, err := base64.StdEncoding.DecodeString(v.text)
	if err != nil || v.text == "" || strings.ContainsAny(v.text, "\r\n") {
		o.Fault(path, msgBase64)
		return nil
	}
	return decoded
}

// isBlank tells whether a string counts as missing (spec 1.2).
func isBlank(s string) bool {
	return strings.TrimSpace(s) == ""
}
