package jsonbody

import (
	"encoding/base64"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// Object is an object of a body: the body itself, or one inside it. Its methods return members by a path that
// starts at the object ("signer.phone"), and record faults with the path from the body ("participants[1].email").
// For a member that is absent or faulty they return the zero value.
//
// If a required member's parent is absent or is not an object, the fault is recorded once, for the parent.
//
// A nil Object has no members and records no faults, so a caller can read the fields of an object that is absent or
// faulty. An Object must not be used by several goroutines at the same time.
type Object struct {
	value   *value
	path    string // from the body; empty for the body itself
	content string // the path of the content; of the body itself only
	faults  faults // shared by all objects of a body
}

// faults are the errors of a validation problem, by path (spec 1.3).
type faults map[string][]string

// add records a fault, unless it is recorded already, such as a parent's fault for several members.
func (f faults) add(path, message string) {
	if !slices.Contains(f[path], message) {
		f[path] = append(f[path], message)
	}
}

// Errors returns the faults that are recorded for all objects of the body, by path, or nil. The path of the body is
// "$".
func (o *Object) Errors() map[string][]string {
	if o == nil || len(o.faults) == 0 {
		return nil
	}
	return maps.Clone(o.faults)
}

// Fault records a fault that the caller found. An empty path is the object itself.
func (o *Object) Fault(path, message string) {
	if o != nil {
		o.faults.add(orBody(o.absolutePath(path)), message)
	}
}

// HasFault reports whether a fault is recorded for the member at path.
func (o *Object) HasFault(path string) bool {
	return o != nil && len(o.faults[o.absolutePath(path)]) > 0
}

// CheckStrings records the faults of strings whose values the caller ignores.
func (o *Object) CheckStrings(paths ...string) {
	for _, path := range paths {
		o.OptionalString(path)
	}
}

// CheckNumbers records the faults of numbers whose values the caller ignores.
func (o *Object) CheckNumbers(paths ...string) {
	for _, path := range paths {
		o.OptionalNumber(path)
	}
}

// CheckInts records the faults of whole numbers whose values the caller ignores.
func (o *Object) CheckInts(paths ...string) {
	for _, path := range paths {
		o.OptionalInt(path)
	}
}

// Object returns the object at path, or nil if it is absent or faulty.
// Rules: Required, RequiredIf.
func (o *Object) Object(path string, rules ...Rule) *Object {
	v := o.member(path, object, collect(rules))
	if v == nil {
		return nil
	}
	return o.child(path, v)
}

// Objects returns the objects of the array at path. An element that is not an object is a fault, and a nil Object.
// For an empty array it returns an empty slice, for an absent one nil. Rules: Required, RequiredIf, Items.
func (o *Object) Objects(path string, rules ...Rule) []*Object {
	return elements(o, path, collect(rules), func(at string, v *value) *Object {
		if v.kind != object {
			o.Fault(at, mustBe(object))
			return nil
		}
		return o.child(at, v)
	})
}

// Content reports whether the content was present and valid Base64; it is for the body only. Read has recorded the
// fault of invalid Base64. Rules: Required, RequiredIf.
func (o *Object) Content(rules ...Rule) bool {
	if o == nil || o.content == "" {
		return false
	}
	v := o.find(o.content, collect(rules).required)
	return v != nil && v.kind == content && len(o.faults[o.content]) == 0
}

func (o *Object) child(path string, v *value) *Object {
	return &Object{value: v, path: o.absolutePath(path), faults: o.faults}
}

func (o *Object) absolutePath(path string) string {
	if path == "" {
		return o.path
	}
	return join(o.path, path)
}

// member returns the value at path, or nil if it is absent, faulty or of another kind.
func (o *Object) member(path string, k kind, r rules) *value {
	v := o.find(path, r.required)
	if v != nil && v.kind != k {
		o.Fault(path, mustBe(k))
		return nil
	}
	return v
}

// find returns the value at path, or nil if it is absent or a parent is faulty.
func (o *Object) find(path string, required bool) *value {
	if o == nil {
		return nil
	}
	v, walked := o.value, ""
	for name := range strings.SplitSeq(path, ".") {
		if v.kind != object {
			o.Fault(walked, mustBe(object))
			return nil
		}
		v, walked = v.members[name], join(walked, name)
		if v == nil || v.kind == null {
			if required {
				o.Fault(walked, msgRequired)
			}
			return nil
		}
	}
	return v
}

// elements returns the elements of an array. It does not check the elements if their number is a fault.
func elements[T any](o *Object, path string, r rules, get func(at string, v *value) T) []T {
	v := o.member(path, array, r)
	if v == nil {
		return nil
	}
	if fault := firstFault(r.items, len(v.elements)); fault != "" {
		o.Fault(path, fault)
		return nil
	}
	all := make([]T, len(v.elements))
	for i, element := range v.elements {
		all[i] = get(path+"["+strconv.Itoa(i)+"]", element)
	}
	return all
}

// Or returns *p, or absent if p is nil:
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

// String returns a string. White space only counts as absent, and control characters are a fault (spec 1.2).
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
	return o.checked(path, v, r)
}

// Strings returns the strings of an array. A blank element is a fault. For an empty array it returns an empty
// slice, for an absent or faulty one nil. Rules: Required, RequiredIf, Items; for each element MaxLen, OneOf, Must.
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
		return orZero(o.checked(at, v, r))
	})
}

// checked returns a string, or nil if it violates a rule.
func (o *Object) checked(path string, v *value, r rules) *string {
	if fault := firstFault(r.text, v.text); fault != "" {
		o.Fault(path, fault)
		return nil
	}
	return &v.text
}

// UUID returns a UUID of 36 characters in lower case, or "" if it is absent or faulty. Rules: Required, RequiredIf.
func (o *Object) UUID(path string, rules ...Rule) string {
	s := o.OptionalString(path, append(rules[:len(rules):len(rules)], Must(isUUID, "Must be a UUID."))...)
	return strings.ToLower(orZero(s))
}

// isUUID reports whether s is a hyphenated UUID. It refuses the other formats that package uuid accepts: braces,
// URNs, and hexadecimal digits without hyphens.
func isUUID(s string) bool {
	const hyphenated = 36
	return len(s) == hyphenated && uuid.Validate(s) == nil
}

// Int returns a whole number; 1.0 is one (spec 1.2). A number beyond the range of int64 becomes the nearest int64.
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
	if fault := firstFault(r.number, float64(n)); fault != "" {
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
	f, err := strconv.ParseFloat(v.text, 64) // infinite if it is too large; the lexer has checked its grammar
	fault := firstFault(r.number, f)
	if err != nil && fault == "" {
		fault = "The number is too large."
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

// Base64 returns the bytes of a small Base64 string, such as an image, which must be Base64 like the content. It
// returns nil if the string is absent or faulty. Rules: Required, RequiredIf.
func (o *Object) Base64(path string, rules ...Rule) []byte {
	v := o.member(path, text, collect(rules))
	if v == nil {
		return nil
	}
	// The decoder ignores line breaks, which are not permitted here.
	decoded, err := base64.StdEncoding.DecodeString(v.text)
	if err != nil || v.text == "" || strings.ContainsAny(v.text, "\r\n") {
		o.Fault(path, msgBase64)
		return nil
	}
	return decoded
}

// isBlank reports whether a string counts as absent (spec 1.2).
func isBlank(s string) bool {
	return strings.TrimSpace(s) == ""
}

// integer returns the value of a number and reports whether it is whole, in any notation: 1, 1.0 and 10e-1 are the
// same (spec 1.2). A number beyond int64 becomes the nearest int64, which is outside all permitted ranges too.
// integer works on the digits, since floating point would convert 1.00000000000000000001 to 1.
func integer(number string) (n int64, whole bool) {
	significant, point := scientific(strings.TrimPrefix(number, "-"))
	if significant == "" {
		return 0, true
	}
	if point < len(significant) {
		return 0, false
	}
	const maxDigits = 19 // of an int64; for more, ParseInt returns the nearest int64
	zeros := min(point, max(maxDigits+1, len(significant))) - len(significant)
	text := significant + strings.Repeat("0", zeros)
	if number[0] == '-' {
		text = "-" + text
	}
	n, _ = strconv.ParseInt(text, 10, 64)
	return n, true
}

// scientific returns the digits of a number without its sign, without zeros at both ends, and how many of them are
// before the decimal point.
func scientific(number string) (significant string, point int) {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(number), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	all := whole + fraction
	significant = strings.TrimLeft(all, "0")
	point = len(whole) - (len(all) - len(significant))
	if exponent != "" {
		// For an exponent that is too large, ParseInt returns the nearest int32, with which the number is outside all
		// permitted ranges too.
		shift, _ := strconv.ParseInt(exponent, 10, 32)
		point += int(shift)
	}
	return strings.TrimRight(significant, "0"), point
}
