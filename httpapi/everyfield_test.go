package httpapi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	openapitest "github.com/innsigli/innsigli/internal/test/openapi"
)

// taking is an operation with a body, with all members that it reads.
type taking struct {
	method, path string        // as in the document
	at           func() string // the path of a request that is accepted
	accepted     int           // with which status
	body         func() fields // of it
	fields       []field
}

// field is a member of a body.
type field struct {
	path  string
	wrong []invalidValues
	right []any // beside what every body above has: the edges of what is allowed
}

// invalidValues are invalid values of a member, with the message about them.
type invalidValues struct {
	message string
	values  []any
}

// set returns the body with a value for a member. A list of participants gets a second signer, any other list has one
// element.
func (f fields) set(path string, value any) fields {
	if member, is := strings.CutPrefix(path, "participants[0]."); is {
		return f.with(fields{"participants": []any{invitee.with(fields{member: value}), second}})
	}
	if list, is := strings.CutSuffix(path, "[0]"); is {
		return f.with(fields{list: []any{value, second}[:elements[list]]})
	}
	inner := maps.Clone(f)
	maps.DeleteFunc(inner, func(name string, _ any) bool { return strings.HasPrefix(name, path+".") })
	return inner.with(fields{path: value})
}

// second is another participant who signs.
var second = invitee.with(fields{"email": "jon@example.is"})

// elements is the number of elements in the lists of these bodies.
var elements = map[string]int{"participants": 2, "eventTypes": 1}

// TestEveryField sends each kind of invalid value, and the limits of valid values, for each member of each body (spec
// 1.1 to 1.3, and 2 to 6).
func TestEveryField(t *testing.T) {
	testenv.Slow(t, "each field of each call is sent wrong")
	t.Parallel()
	s := start(t, empty)
	c := s.sender(t)
	document := requestsOf(t, s)
	for _, o := range everyBody(c) {
		t.Run(o.method+" "+o.path, func(t *testing.T) {
			c := c.in(t)
			for _, f := range o.fields {
				c.checkField(o, f)
				document.checkSchema(t, o, f)
				for _, value := range f.right {
					if a := c.call(o.method, o.at(), o.body().set(f.path, value)); a.status != o.accepted {
						t.Errorf("%s of %.80q: status %d, %s", f.path, value, a.status, a.body)
					}
				}
			}
			if o.fields != nil {
				c.checkAllFields(o)
			}
			c.checkMalformed(o)
			c.documents.stored(t) // fails if a document of a refused request is stored
		})
	}
}

// requests checks the bodies of requests against the OpenAPI document.
type requests struct{ *openapitest.Document }

func requestsOf(t *testing.T, s *server) requests {
	t.Helper()
	_, text := documentOf(t, s)
	document, err := openapitest.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return requests{document}
}

// checkSchema checks that the schema of a field rejects invalid values and accepts valid ones, as the server does, as
// far as a schema can express that.
func (d requests) checkSchema(t *testing.T, o taking, f field) {
	t.Helper()
	judge := func(value any) error {
		body, err := json.Marshal(o.body().set(f.path, value))
		if err != nil {
			t.Fatal(err)
		}
		return d.Request(o.method, o.path, body)
	}
	if body, err := json.Marshal(o.body()); err != nil || d.Request(o.method, o.path, body) != nil {
		t.Fatalf("the document does not accept the body that is right: %s, %v", body, err)
	}
	for _, kind := range f.wrong {
		for _, value := range kind.values {
			if judge(value) == nil && !beyondSchemas(f.path, kind.message, value) {
				t.Errorf("%s of %.80q: the document allows it, and the server says: %s", f.path, value, kind.message)
			}
		}
	}
	for _, value := range f.right {
		if text, is := value.(string); is && (strings.TrimSpace(text) == "" || strings.HasSuffix(f.path, ".email") && !plainAddress(text)) {
			continue // blank text counts as missing; and the format knows no long address, and none in Unicode
		}
		if err := judge(value); err != nil {
			t.Errorf("%s of %.80q: the server accepts it, and the document does not: %v", f.path, value, err)
		}
	}
}

// plainAddress reports whether the format of email addresses accepts an address that has an @: it must be ASCII, with
// at most 64 characters before the @.
func plainAddress(address string) bool {
	return strings.Index(address, "@") <= 64 && !strings.ContainsFunc(address, func(r rune) bool { return r > 127 })
}

// beyondSchemas reports whether a schema cannot express that a value is invalid, such as a private address, an image
// that cannot be decoded, a very large number, or white space beyond ASCII.
func beyondSchemas(path, message string, value any) bool {
	_, isText := value.(string)
	return path == "url" && isText && !strings.Contains(message, "characters long") && !strings.Contains(message, "required") || strings.HasPrefix(message, "Must be an image") || message == "The number is too large." ||
		value == "\u00a0\u3000" || value == "@example.is"
}

// checkField sends the invalid values of a member, one at a time, in a body that is valid otherwise.
func (c *client) checkField(o taking, f field) {
	c.Helper()
	at, body := o.at(), o.body()
	for _, kind := range f.wrong {
		for _, value := range kind.values {
			c.wantFault(c.call(o.method, at, body.set(f.path, value)), f.path, kind.message)
		}
	}
	if !strings.HasSuffix(f.path, "[0]") {
		c.wantFault(c.call(o.method, at, twice(c, body, f.path)), f.path, "This member appears more than once.")
	}
}

// twice returns a body that repeats a member.
func twice(c *client, body fields, path string) string {
	const mark = "\ufffe"
	if member, is := strings.CutPrefix(path, "participants[0]."); is {
		body = body.with(fields{"participants": []any{fields{member: nil, member + mark: nil}}})
	} else {
		body = body.set(path, nil).with(fields{path + mark: nil})
	}
	encoded, err := json.Marshal(body)
	if err != nil {
		c.Fatal(err)
	}
	return strings.Replace(string(encoded), mark, "", 1)
}

// wantFault checks a refusal with one message about one member.
func (c *client) wantFault(a answer, path, message string) {
	c.Helper()
	c.wantInvalid(a, path)
	faults, _ := c.object(a)["errors"].(object)
	diff(c.T, "messages about "+path, []string{message}, texts(faults[path]))
}

// checkAllFields sends an invalid value for each member at once. The answer must name all of them (spec 1.3).
func (c *client) checkAllFields(o taking) {
	c.Helper()
	body, participant, want := o.body(), fields{}, []string{}
	for _, f := range o.fields {
		first := f.wrong[0].values[0]
		if slices.ContainsFunc(o.fields, func(inner field) bool { return inner.path != f.path && strings.HasPrefix(inner.path, f.path) }) {
			continue // its members are wrong
		}
		if member, is := strings.CutPrefix(f.path, "participants[0]."); is {
			participant[member] = first
			body = body.with(fields{"participants": []any{participant, second}})
		} else {
			body = body.set(f.path, first)
		}
		want = append(want, f.path)
	}
	c.wantInvalid(c.call(o.method, o.at(), body), want...)
}

// malformed are bodies that are not one JSON object, and the messages about them.
var malformed = map[string]string{
	"\ufeff{}":                            "The body must be one JSON object.",
	"[]":                                  "The body must be one JSON object.",
	`"{}"`:                                "The body must be one JSON object.",
	"null":                                "The body must be one JSON object.",
	"{} {}":                               "The body must be one JSON object and nothing after it.",
	`{"a":"\ud800"}`:                      "The body is not valid JSON: invalid escape at byte offset 6.",
	`{"a":"\udc00\ud800"}`:                "The body is not valid JSON: invalid escape at byte offset 6.",
	"{\"a\":\"\xff\"}":                    "The body is not valid UTF-8 at byte offset 6.",
	"{\"a\":\"\xed\xa0\x80\"}":            "The body is not valid UTF-8 at byte offset 6.",
	"{\"a\":\"\x00\"}":                    "The body is not valid JSON: unexpected character at byte offset 6.",
	`{"a":01}`:                            "The body is not valid JSON: invalid number at byte offset 5.",
	`{"a":NaN}`:                           "The body is not valid JSON: unexpected character at byte offset 5.",
	`{"a":1`:                              "The body is not valid JSON: it ends too early.",
	strings.Repeat(`{"a":`, 33):           "The body is nested too deeply.",
	strings.Repeat(`{"a":[`, 100_000):     "The body is nested too deeply.",
	`{"a":[` + zeros(100_000) + `]}`:      "The body has too many values.",
	`{"a":{` + manyMembers(20_000) + `}}`: "The body has too many values.",
	`{"a":[` + zeros(100_000):             "The body has too many values.",
	"kennitala=0101302989":                "The body must be one JSON object.",
	"{'a':1}":                             "The body is not valid JSON: unexpected character at byte offset 1.",
	`{"a":1,}`:                            "The body is not valid JSON: unexpected character at byte offset 7.",
}

// repeated are bodies that repeat a member, and the path that the answer names. A name that is not plain is not repeated.
var repeated = map[string]string{
	`{"a":1,"a":1}`:                     "a",
	`{"a":1,"\u0061":1}`:                "a",
	`{"a":{"b":[{"c":null,"c":null}]}}`: "a.b[0].c",
	`{"a":{"a name?":1,"a name?":1}}`:   "a",
}

func zeros(n int) string { return strings.Repeat("0,", n-1) + "0" }

func manyMembers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"m%d":0,`, i)
	}
	return b.String() + `"last":0`
}

// checkMalformed sends bodies that are not a JSON object, or repeat a member.
func (c *client) checkMalformed(o taking) {
	c.Helper()
	at := o.at()
	for body, message := range malformed {
		c.wantFault(c.call(o.method, at, body), "$", message)
	}
	for body, path := range repeated {
		c.wantFault(c.call(o.method, at, body), path, "This member appears more than once.")
	}
	r := c.request(o.method, at, o.body())
	r.Header.Set("Content-Type", "text/plain")
	if a := c.send(r); a.status != http.StatusUnsupportedMediaType {
		c.Errorf("as text/plain: status %d", a.status)
	}
}

// long returns strings of n code points that take two, three and four bytes in UTF-8.
func long(n int) []any {
	return []any{strings.Repeat("ð", n), strings.Repeat("ᚠ", n), strings.Repeat("𝔘", n)}
}

// TestEveryFieldOfTheDocumentHasRows checks that everyBody has a row for each member of a JSON body in the OpenAPI
// document, and no others. The token and revocation endpoints have tests of their own, because their errors are those
// of RFC 6749.
func TestEveryFieldOfTheDocumentHasRows(t *testing.T) {
	t.Parallel()
	c := start(t, empty).sender(t)
	rows := map[string][]string{}
	for _, o := range everyBody(c) {
		key := o.method + " " + o.path
		rows[key] = []string{}
		for _, f := range o.fields {
			rows[key] = append(rows[key], f.path)
		}
		slices.Sort(rows[key])
	}
	_, text := documentOf(t, c.server)
	text, err := openapitest.Resolve(text)
	if err != nil {
		t.Fatal(err)
	}
	var document object
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	described := map[string][]string{}
	for path, item := range document["paths"].(object) {
		for method, o := range item.(object) {
			content, _ := memberAt(o, "requestBody", "content", "application/json").(object)
			if content == nil || strings.HasPrefix(path, "/api/v1/auth/") {
				continue
			}
			found := map[string]bool{}
			members(document, content["schema"], "", found)
			described[strings.ToUpper(method)+" "+path] = slices.AppendSeq([]string{}, maps.Keys(found))
			slices.Sort(described[strings.ToUpper(method)+" "+path])
		}
	}
	if len(described) < 9 {
		t.Errorf("the document has but %d bodies", len(described))
	}
	diff(t, "members that the document describes, and rows", described, rows)
}

// memberAt returns the value at a path of names.
func memberAt(value any, names ...string) any {
	for _, name := range names {
		inner, _ := value.(object)
		value = inner[name]
	}
	return value
}

// members collects the paths of the members that a schema describes. The first element stands for the elements of a
// list.
func members(document object, schema any, path string, found map[string]bool) {
	s, _ := schema.(object)
	if ref, is := s["$ref"].(string); is {
		members(document, memberAt(document, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...), path, found)
	}
	for _, all := range []string{"oneOf", "anyOf", "allOf"} {
		list, _ := s[all].([]any)
		for _, one := range list {
			members(document, one, path, found)
		}
	}
	if items := s["items"]; items != nil {
		found[path+"[0]"] = true
		members(document, items, path+"[0]", found)
	}
	properties, _ := s["properties"].(object)
	for name, property := range properties {
		inner := strings.TrimPrefix(path+"."+name, ".")
		found[inner] = true
		members(document, property, inner, found)
	}
}

const (
	required  = "This field is required."
	notBase64 = "Must be Base64 (RFC 4648 section 4) with padding and without line breaks, and not empty."
)

var (
	missing    = invalidValues{required, []any{absent{}, nil}}
	blankText  = invalidValues{required, []any{"", " ", "\t\r\n", "\u00a0\u3000"}}
	notText    = invalidValues{"Must be a string.", []any{5, true, object{}, []any{}, number("1e400")}}
	notNumber  = invalidValues{"Must be a number.", []any{"1", "", true, object{}, []any{}}}
	notWhole   = invalidValues{"Must be a whole number.", []any{1.5, -0.1, number("1.00000000000000000001"), number("1e-400")}}
	notBool    = invalidValues{"Must be true or false.", []any{1, "true", "", object{}, []any{}}}
	notList    = invalidValues{"Must be an array.", []any{"x", 5, true, object{}}}
	notObject  = invalidValues{"Must be an object.", []any{"x", 5, true, []any{}}}
	control    = invalidValues{"Must not contain control characters.", []any{"a\x00b", "a\nb", "\u001b[0m", "a\u007f", "a\u0085b", "a\u009fb"}}
	infinite   = invalidValues{"The number is too large.", []any{number("1e400"), number("1" + strings.Repeat("0", 400))}}
	unlikeUUID = invalidValues{"Must be a UUID.", []any{"1", "{6e1f5c9e-6c2f-4a0e-9a65-0f6d2a3c8b11}", "urn:uuid:6e1f5c9e-6c2f-4a0e-9a65-0f6d2a3c8b11", "6e1f5c9e6c2f4a0e9a650f6d2a3c8b11", "6e1f5c9e-6c2f-4a0e-9a65-0f6d2a3c8b1g"}}
	unlikeB64  = invalidValues{notBase64, []any{"", " ", "====", "QUI", "QUI==", "QUJD\n", "QUJD\r\nREVG", "-_-_", "QQ==QUJD", "QUJ D", "QUJð", "data:application/pdf;base64,QUJD"}}
)

// text returns the invalid values of a string of at most n code points.
func text(most int) []invalidValues {
	return []invalidValues{notText, control, {fmt.Sprintf("Must be at most %d characters long.", most), long(most + 1)}}
}

// choice returns the invalid values of an enumeration.
func choice(words ...string) []invalidValues {
	return []invalidValues{notText, control, {"Must be one of: " + strings.Join(words, ", ") + ".", []any{
		"x", strings.ToLower(words[0]), strings.ToUpper(words[len(words)-1]), words[0] + " ", words[0] + "," + words[len(words)-1],
	}}}
}

// amount returns the invalid values of a number, with those out of bounds and the message about them.
func amount(bounds string, out ...any) []invalidValues {
	return []invalidValues{notNumber, {bounds, out}}
}

// whole returns the invalid values of an integer.
func whole(bounds string, out ...any) []invalidValues {
	return []invalidValues{notNumber, notWhole, {bounds, out}}
}

// have adds the values that a required member must not have.
func have(other []invalidValues, lacking ...invalidValues) []invalidValues {
	return append(other[:len(other):len(other)], lacking...)
}

// words returns valid values of an optional string, with those that count as absent.
func words(list ...any) []any { return append(list, nil, "", " ") }
