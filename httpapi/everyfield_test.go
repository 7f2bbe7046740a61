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

// taking is an operation that takes a body, with each member that it knows.
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
	wrong []wrong
	right []any // beside what every body above has: the edges of what is allowed
}

// wrong are values that a member may not have, and what is said of them.
type wrong struct {
	message string
	values  []any
}

// set gives a member a value. A participant stands before another who signs, an element of another list
// alone.
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

// elements are how many there are in the lists of these bodies.
var elements = map[string]int{"participants": 2, "eventTypes": 1}

// spec 1.1 to 1.3 and 2 to 6: each member of each body, each kind of value that it may
// not have, and the edges of what it may.
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
				c.refusesField(o, f)
				document.describes(t, o, f)
				for _, value := range f.right {
					if a := c.call(o.method, o.at(), o.body().set(f.path, value)); a.status != o.accepted {
						t.Errorf("%s of %.80q: status %d, %s", f.path, value, a.status, a.body)
					}
				}
			}
			if o.fields != nil {
				c.refusesAll(o)
			}
			c.refusesBodies(o)
		})
	}
}

// requests checks the bodies of requests against the document.
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

// describes checks that the document rejects the wrong values of a field and accepts the right ones, as the server
// does, as far as a schema can.
func (d requests) describes(t *testing.T, o taking, f field) {
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

// plainAddress reports whether the format of addresses accepts one that has an @: of ASCII, and with at most 64
// characters before it.
func plainAddress(address string) bool {
	return strings.Index(address, "@") <= 64 && !strings.ContainsFunc(address, func(r rune) bool { return r > 127 })
}

// beyondSchemas reports whether a schema cannot express that a value is wrong: which addresses are public, what is an
// image, how large a number is, what is white space beyond ASCII.
func beyondSchemas(path, message string, value any) bool {
	_, isText := value.(string)
	return path == "url" && isText && !strings.Contains(message, "characters long") && !strings.Contains(message, "required") || strings.HasPrefix(message, "Must be an image") || message == "Must be a smaller number." ||
		value == "\u00a0\u3000" || value == "@example.is"
}

// refusesField sends the wrong values of a member, one at a time beside what is right.
func (c *client) refusesField(o taking, f field) {
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

// twice is a body in which a member stands two times.
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

// wantFault checks a refusal for one member, and what it says.
func (c *client) wantFault(a answer, path, message string) {
	c.Helper()
	c.wantInvalid(a, path)
	faults, _ := c.object(a)["errors"].(object)
	diff(c.T, "messages about "+path, []string{message}, texts(faults[path]))
}

// refusesAll sends the first wrong value of each member at once: all of them are named (spec 1.3).
func (c *client) refusesAll(o taking) {
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

// malformed are bodies that are not one JSON object, and what is said of them.
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
	`{"a":1,"a":1}`:                       "",
	`{"a":1,"\u0061":1}`:                  "",
	`{"a":{"b":[{"c":null,"c":null}]}}`:   "",
}

func zeros(n int) string { return strings.Repeat("0,", n-1) + "0" }

func manyMembers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"m%d":0,`, i)
	}
	return b.String() + `"last":0`
}

// refusesBodies sends bodies that are none.
func (c *client) refusesBodies(o taking) {
	c.Helper()
	at := o.at()
	for body, message := range malformed {
		a := c.call(o.method, at, body)
		if message != "" {
			c.wantFault(a, "$", message)
			continue
		}
		path := "a"
		if strings.Contains(body, "b") {
			path = "a.b[0].c"
		}
		c.wantFault(a, path, "This member appears more than once.")
	}
	r := c.request(o.method, at, o.body())
	r.Header.Set("Content-Type", "text/plain")
	if a := c.send(r); a.status != http.StatusUnsupportedMediaType {
		c.Errorf("as text/plain: status %d", a.status)
	}
}

// long is text of so many code points, which have two, three and four bytes in UTF-8.
func long(n int) []any {
	return []any{strings.Repeat("ð", n), strings.Repeat("ᚠ", n), strings.Repeat("𝔘", n)}
}
