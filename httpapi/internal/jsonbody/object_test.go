package jsonbody

import (
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFields has a row for each method and rule: the returned value and the fault.
func TestFields(t *testing.T) {
	const required = msgRequired
	digits := Must(regexp.MustCompile(`^[0-9]{10}$`).MatchString, "Must be 10 digits.")
	str := func(rules ...Rule) func(*Object) any {
		return func(o *Object) any { return o.String("a", rules...) }
	}
	num := func(rules ...Rule) func(*Object) any {
		return func(o *Object) any { return o.Int("a", rules...) }
	}
	float := func(rules ...Rule) func(*Object) any {
		return func(o *Object) any { return o.Number("a", rules...) }
	}
	boolean := func(o *Object) any { return o.Bool("a", Required) }
	id := func(o *Object) any { return o.UUID("a", Required) }
	bin := func(o *Object) any { return string(o.Base64("a", Required)) }
	list := func(o *Object) any { return o.Strings("a", Items(1, 2), MaxLen(3)) }
	tests := []struct {
		name  string
		body  string
		get   func(*Object) any
		want  any
		fault string
	}{
		{"string", `{"a":" x "}`, str(Required), " x ", ""},
		{"string absent", `{}`, str(), "", ""},
		{"string null", `{"a":null}`, str(), "", ""},
		{"required string absent", `{}`, str(Required), "", required},
		{"required string null", `{"a":null}`, str(Required), "", required},
		{"required string empty", `{"a":""}`, str(Required), "", required},
		{"required string of white space", `{"a":" \t\u00a0\u2003"}`, str(Required), "", required},
		{"string of white space", `{"a":" \n "}`, str(), "", ""},
		{"string required by a condition", `{}`, str(RequiredIf(true)), "", required},
		{"string not required by a condition", `{}`, str(RequiredIf(false)), "", ""},
		{"required and required by a condition", `{}`, str(Required, RequiredIf(false)), "", required},
		{"string of another type", `{"a":5}`, str(Required), "", "Must be a string."},
		{"boolean for a string", `{"a":true}`, str(), "", "Must be a string."},
		{"object for a string", `{"a":{}}`, str(), "", "Must be a string."},
		{"length in code points", `{"a":"þþ😀"}`, str(MaxLen(3)), "þþ😀", ""},
		{"one code point too many", `{"a":"þþ😀x"}`, str(MaxLen(3)), "", "Must be at most 3 characters long."},
		{"control character", `{"a":"x\u0000"}`, str(), "", "Must not contain control characters."},
		{"line break", `{"a":"x\ny"}`, str(), "", "Must not contain control characters."},
		{"delete and C1 are control characters", `{"a":"x\u007f\u0085"}`, str(), "", "Must not contain control characters."},
		{"only the first violated rule", `{"a":"abc"}`, str(MaxLen(2), digits), "", "Must be at most 2 characters long."},
		{"enum", `{"a":"Pdf"}`, str(OneOf("Pdf", "Xml")), "Pdf", ""},
		{"enum in another case", `{"a":"pdf"}`, str(OneOf("Pdf", "Xml")), "", "Must be one of: Pdf, Xml."},
		{"rule of the caller", `{"a":"0101302399"}`, str(digits), "0101302399", ""},
		{"rule of the caller violated", `{"a":"010130-2399"}`, str(digits), "", "Must be 10 digits."},

		{"int", `{"a":-7}`, num(), int64(-7), ""},
		{"int written 1.0", `{"a":1.0}`, num(), int64(1), ""},
		{"int with an exponent", `{"a":1.5e1}`, num(), int64(15), ""},
		{"int absent", `{"a":null}`, num(), int64(0), ""},
		{"required int absent", `{}`, num(Required), int64(0), required},
		{"int with a fraction", `{"a":1.5}`, num(), int64(0), "Must be a whole number."},
		{"int too large", `{"a":9223372036854775808}`, num(), int64(math.MaxInt64), ""},
		{"int too large for its bounds", `{"a":1e30}`, num(Between(1, 1000)), int64(0), "Must be between 1 and 1000."},
		{"int too small for its bounds", `{"a":-1e30}`, num(AtLeast(0)), int64(0), "Must be 0 or more."},
		{"int in quotes", `{"a":"1"}`, num(), int64(0), "Must be a number."},
		{"int on the bounds", `{"a":300}`, num(Between(0, 300)), int64(300), ""},
		{"int over the bound", `{"a":301}`, num(Between(0, 300)), int64(0), "Must be between 0 and 300."},
		{"int under the bound", `{"a":-1}`, num(AtLeast(0)), int64(0), "Must be 0 or more."},

		{"number", `{"a":12.25}`, float(), 12.25, ""},
		{"number too large", `{"a":1e999}`, float(), 0.0, "The number is too large."},
		{"number too large for its bounds", `{"a":1e999}`, float(Between(1, 5)), 0.0, "Must be between 1 and 5."},
		{"number too small for its bounds", `{"a":-1e999}`, float(AtLeast(0)), 0.0, "Must be 0 or more."},
		{"number that is rounded to 0", `{"a":1e-999}`, float(), 0.0, ""},
		{"number under the bound", `{"a":-0.5}`, float(AtLeast(0.25)), 0.0, "Must be 0.25 or more."},
		{"required number absent", `{}`, float(Required), 0.0, required},

		{"true", `{"a":true}`, boolean, true, ""},
		{"false", `{"a":false}`, boolean, false, ""},
		{"boolean absent", `{}`, boolean, false, required},
		{"boolean in quotes", `{"a":"true"}`, boolean, false, "Must be true or false."},

		{"UUID", `{"a":"0b8c3a54-5d0c-4f9c-9c39-6d1d2a0fC0FE"}`, id, "0b8c3a54-5d0c-4f9c-9c39-6d1d2a0fc0fe", ""},
		{"UUID without hyphens", `{"a":"0b8c3a545d0c4f9c9c396d1d2a0fc0fe"}`, id, "", "Must be a UUID."},
		{"UUID in braces", `{"a":"{0b8c3a54-5d0c-4f9c-9c39-6d1d2a0fc0fe}"}`, id, "", "Must be a UUID."},
		{"UUID as a URN", `{"a":"urn:uuid:0b8c3a54-5d0c-4f9c-9c39-6d1d2a0fc0fe"}`, id, "", "Must be a UUID."},
		{"UUID with another character", `{"a":"0b8c3a54-5d0c-4f9c-9c39-6d1d2a0fc0fg"}`, id, "", "Must be a UUID."},
		{"required UUID absent", `{}`, id, "", required},

		{"Base64", `{"a":"UERGIQ=="}`, bin, "PDF!", ""},
		{"Base64 empty", `{"a":""}`, bin, "", msgBase64},
		{"Base64 with line breaks", `{"a":"UERG\r\nIQ=="}`, bin, "", msgBase64},
		{"Base64 without padding", `{"a":"UERGIQ"}`, bin, "", msgBase64},
		{"Base64 of the URL alphabet", `{"a":"__-_"}`, bin, "", msgBase64},
		{"required Base64 absent", `{}`, bin, "", required},

		{"array", `{"a":["x","y"]}`, list, []string{"x", "y"}, ""},
		{"array absent", `{}`, list, []string(nil), ""},
		{"array with too few", `{"a":[]}`, list, []string(nil), "Must have 1 to 2 elements."},
		{"array with too many", `{"a":["x","y","z"]}`, list, []string(nil), "Must have 1 to 2 elements."},
		{"string for an array", `{"a":"x"}`, list, []string(nil), "Must be an array."},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := mustRead(t, test.body)
			if diff := cmp.Diff(test.want, test.get(o)); diff != "" {
				t.Error(diff)
			}
			var want map[string][]string
			if test.fault != "" {
				want = map[string][]string{"a": {test.fault}}
			}
			if diff := cmp.Diff(want, o.Errors()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func mustRead(t *testing.T, body string) *Object {
	t.Helper()
	o, err := Read(strings.NewReader(body), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestOptionalFields distinguishes an absent or null field from a zero one (spec 6.1, PUT of a sandbox user).
func TestOptionalFields(t *testing.T) {
	type fields struct {
		S *string
		N *int64
		F *float64
		B *bool
	}
	get := func(o *Object) fields {
		return fields{o.OptionalString("s"), o.OptionalInt("n"), o.OptionalNumber("f"), o.OptionalBool("b")}
	}
	tests := []struct {
		name, body string
		want       fields
	}{
		{"omitted", `{}`, fields{}},
		{"null", `{"s":null,"n":null,"f":null,"b":null}`, fields{}},
		{"zero", `{"s":"x","n":0,"f":-0.0,"b":false}`, fields{new("x"), new(int64), new(float64), new(bool)}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := mustRead(t, test.body)
			if diff := cmp.Diff(test.want, get(o)); diff != "" || o.Errors() != nil {
				t.Error(diff, o.Errors())
			}
		})
	}
	if got := Or(mustRead(t, `{}`).OptionalInt("n"), 1); got != 1 {
		t.Errorf("an absent number is %d", got)
	}
	if got := Or(mustRead(t, `{"n":0}`).OptionalInt("n"), 1); got != 0 {
		t.Errorf("a zero is %d", got)
	}
}

// TestFaultsOfParents checks that a parent's fault is recorded once, and not for each member.
func TestFaultsOfParents(t *testing.T) {
	tests := []struct {
		name, body string
		want       map[string][]string
	}{
		{"missing", `{}`, map[string][]string{"signer": {msgRequired}}},
		{"null", `{"signer":null}`, map[string][]string{"signer": {msgRequired}}},
		{"another type", `{"signer":5}`, map[string][]string{"signer": {"Must be an object."}}},
		{"an array", `{"signer":[{}]}`, map[string][]string{"signer": {"Must be an object."}}},
		{"empty", `{"signer":{}}`, map[string][]string{
			"signer.kennitala": {msgRequired}, "signer.signingMethod": {msgRequired}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := mustRead(t, test.body)
			o.String("signer.kennitala", Required)
			o.String("signer.signingMethod", Required)
			o.String("signer.city", MaxLen(64))
			if diff := cmp.Diff(test.want, o.Errors()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOptionalObject(t *testing.T) {
	tests := []struct {
		name, body string
		present    bool
		want       map[string][]string
	}{
		{"absent", `{}`, false, nil},
		{"null", `{"image":null}`, false, nil},
		{"another type", `{"image":"x"}`, false, map[string][]string{"image": {"Must be an object."}}},
		{"empty", `{"image":{}}`, true, map[string][]string{"image.alignment": {msgRequired}, "image": {"Needs a page."}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := mustRead(t, test.body)
			image := o.Object("image")
			image.String("alignment", Required)
			image.Fault("", "Needs a page.")
			if present := image != nil; present != test.present {
				t.Errorf("present: %v", present)
			}
			if diff := cmp.Diff(test.want, o.Errors()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestObjectsOfAnArray(t *testing.T) {
	o := mustRead(t, `{"participants":[{"email":"a@b.is","role":{"name":"x"}},7,{"role":{}},null,{"tags":["x",5,""]}]}`)
	var emails []string
	for _, p := range o.Objects("participants", Required, Items(1, 100)) {
		emails = append(emails, p.String("email", Required))
		p.String("role.name", Required)
		p.Strings("tags")
	}
	o.Fault("", "Needs a signer.")
	want := map[string][]string{
		"$":                         {"Needs a signer."},
		"participants[1]":           {"Must be an object."},
		"participants[2].email":     {msgRequired},
		"participants[2].role.name": {msgRequired},
		"participants[3]":           {"Must be an object."},
		"participants[4].email":     {msgRequired},
		"participants[4].role":      {msgRequired},
		"participants[4].tags[1]":   {"Must be a string."},
		"participants[4].tags[2]":   {msgRequired},
	}
	if diff := cmp.Diff(want, o.Errors()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a@b.is", "", "", "", ""}, emails); diff != "" {
		t.Error(diff)
	}
}

func TestNilObject(t *testing.T) {
	var o *Object
	o.Fault("a", "x")
	if o.String("a", Required) != "" || o.Int("a", Required) != 0 || o.Number("a", Required) != 0 || o.Bool("a", Required) ||
		o.UUID("a", Required) != "" || o.Base64("a", Required) != nil || o.Strings("a", Required) != nil ||
		o.Objects("a", Required) != nil || o.Object("a", Required) != nil || o.Content(Required) || o.HasFault("a") || o.Errors() != nil {
		t.Error("a nil object has members")
	}
}

// TestCheckedFields checks fields whose values are ignored: a wrong type is a fault all the same.
func TestCheckedFields(t *testing.T) {
	check := func(body string) *Object {
		o := mustRead(t, body).Object("in")
		o.CheckStrings("s", "t")
		o.CheckNumbers("f")
		o.CheckInts("n")
		return o
	}
	if o := check(`{"in":{"s":"x","f":-0.5,"n":7}}`); o.Errors() != nil || o.HasFault("s") {
		t.Error(o.Errors())
	}
	o := check(`{"in":{"s":"x","t":1,"f":"x","n":0.5}}`)
	want := map[string][]string{"in.t": {"Must be a string."}, "in.f": {"Must be a number."}, "in.n": {"Must be a whole number."}}
	if diff := cmp.Diff(want, o.Errors()); diff != "" || !o.HasFault("t") || o.HasFault("s") {
		t.Error(diff)
	}
}

// TestErrorsIsACopy checks that the caller may change the map.
func TestErrorsIsACopy(t *testing.T) {
	o := mustRead(t, `{}`)
	o.Fault("a", "x")
	o.Errors()["b"] = []string{"y"}
	if diff := cmp.Diff(map[string][]string{"a": {"x"}}, o.Errors()); diff != "" {
		t.Error(diff)
	}
}

// TestInteger has the exponents that are too large for the exact arithmetic of FuzzInteger.
func TestInteger(t *testing.T) {
	for _, test := range []struct {
		number string
		want   int64
		ok     bool
	}{
		{"0.000e999999999999", 0, true},
		{"1e999999999999", math.MaxInt64, true},
		{"-1e999999999999", math.MinInt64, true},
		{"1e-999999999999", 0, false},
	} {
		if got, ok := integer(test.number); ok != test.ok || ok && got != test.want {
			t.Errorf("%s: %d, %v", test.number, got, ok)
		}
	}
}
