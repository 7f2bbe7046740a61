package jsonbody

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// read reads a body without content byte by byte, so that every token crosses the end of a window.
func read(body string, o Options) (*Object, error) {
	return Read(iotest.OneByteReader(strings.NewReader(body)), o)
}

func TestReadAcceptsJSONObjects(t *testing.T) {
	tests := []struct {
		name, body string
		want       map[string]any
	}{
		{"no members", `{}`, map[string]any{}},
		{"white space around every token", " \t\r\n{ \"a\" : [ 1 , \"b\" ] } \n", map[string]any{"a": []any{number1, "b"}}},
		{"all types", `{"s":"x","n":1,"t":true,"f":false,"z":null,"a":[],"o":{}}`,
			map[string]any{"s": "x", "n": number1, "t": true, "f": false, "z": nil, "a": []any{}, "o": map[string]any{}}},
		{"names that differ in case", `{"a":"1","A":"2"}`, map[string]any{"a": "1", "A": "2"}},
		{"one name in two objects", `{"a":{"x":"1"},"b":{"x":"2"}}`,
			map[string]any{"a": map[string]any{"x": "1"}, "b": map[string]any{"x": "2"}}},
		{"an empty name", `{"":"x"}`, map[string]any{"": "x"}},
		{"all escapes", `{"a":"\"\\\/\b\f\n\r\t\u00e9\uD83D\ude00"}`, map[string]any{"a": "\"\\/\b\f\n\r\té😀"}},
		{"characters of two to four bytes", `{"a":"Þórð€😀"}`, map[string]any{"a": "Þórð€😀"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(test.body), iotest.OneByteReader(strings.NewReader(test.body))} {
				o, err := Read(r, Options{})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(test.want, plain(o.value)); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

func TestReadRefusesOtherBodies(t *testing.T) {
	const invalid = "The body is not valid JSON: "
	const notObject = "The body must be one JSON object."
	tests := []struct{ name, body, message string }{
		{"nothing", ``, notObject},
		{"white space alone", " \n", notObject},
		{"an array", `[{}]`, notObject},
		{"a string", `"{}"`, notObject},
		{"null", `null`, notObject},
		{"no JSON", `kennitala=0101302399`, notObject},
		{"a byte order mark", "\ufeff{}", notObject},
		{"a second value", `{}{}`, "The body must be one JSON object and nothing after it."},
		{"trailing bytes", `{} x`, "The body must be one JSON object and nothing after it."},
		{"a comment", `{/**/}`, invalid + "unexpected character at byte offset 1."},
		{"cut in an object", `{"a":1`, invalid + "it ends too early."},
		{"cut in a name", `{"a`, invalid + "it ends too early."},
		{"cut after a name", `{"a"`, invalid + "it ends too early."},
		{"cut in a string", `{"a":"b`, invalid + "it ends too early."},
		{"cut in an escape", `{"a":"\`, invalid + "it ends too early."},
		{"cut in a unicode escape", `{"a":"\u00`, invalid + "it ends too early."},
		{"cut in an array", `{"a":[1,`, invalid + "it ends too early."},
		{"cut in a literal", `{"a":tr`, invalid + "it ends too early."},
		{"cut in a number", `{"a":1`, invalid + "it ends too early."},
		{"a trailing comma in an object", `{"a":1,}`, invalid + "unexpected character at byte offset 7."},
		{"a trailing comma in an array", `{"a":[1,]}`, invalid + "unexpected character at byte offset 8."},
		{"a leading comma", `{,"a":1}`, invalid + "unexpected character at byte offset 1."},
		{"no comma", `{"a":1 "b":2}`, invalid + "unexpected character at byte offset 7."},
		{"no colon", `{"a" 1}`, invalid + "unexpected character at byte offset 5."},
		{"no value", `{"a":}`, invalid + "unexpected character at byte offset 5."},
		{"a name without quotes", `{a:1}`, invalid + "unexpected character at byte offset 1."},
		{"single quotes", `{'a':1}`, invalid + "unexpected character at byte offset 1."},
		{"mismatched brackets", `{"a":[}`, invalid + "unexpected character at byte offset 6."},
		{"a literal in upper case", `{"a":True}`, invalid + "unexpected character at byte offset 5."},
		{"a misspelt literal", `{"a":nulL}`, invalid + "unexpected character at byte offset 5."},
		{"NaN", `{"a":NaN}`, invalid + "unexpected character at byte offset 5."},
		{"a line break in a string", "{\"a\":\"b\n\"}", invalid + "unexpected character at byte offset 7."},
		{"a control character in a name", "{\"a\x01\":1}", invalid + "unexpected character at byte offset 3."},
		{"an unknown escape", `{"a":"\x"}`, invalid + "invalid escape at byte offset 6."},
		{"a unicode escape that is not hexadecimal", `{"a":"\u00g0"}`, invalid + "invalid escape at byte offset 6."},
		{"a unicode escape with a sign", `{"a":"\u+123"}`, invalid + "invalid escape at byte offset 6."},
		{"a high surrogate alone", `{"a":"\ud83d!!!!!!"}`, invalid + "invalid escape at byte offset 6."},
		{"a low surrogate alone", `{"a":"\ude00\ud83d"}`, invalid + "invalid escape at byte offset 6."},
		{"a high surrogate before a character", `{"a":"\ud83d\u0041"}`, invalid + "invalid escape at byte offset 6."},
		{"a byte that is no UTF-8", "{\"a\":\"x\xff\"}", "The body is not valid UTF-8 at byte offset 7."},
		{"a cut UTF-8 sequence", "{\"a\":\"\xe2\x82\"}", "The body is not valid UTF-8 at byte offset 6."},
		{"an overlong UTF-8 sequence", "{\"a\":\"\xc0\xaf\"}", "The body is not valid UTF-8 at byte offset 6."},
		{"a surrogate in UTF-8", "{\"a\":\"\xed\xa0\x80\"}", "The body is not valid UTF-8 at byte offset 6."},
		{"a name that is no UTF-8", "{\"\xff\":1}", "The body is not valid UTF-8 at byte offset 2."},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(test.body), iotest.OneByteReader(strings.NewReader(test.body))} {
				_, err := Read(r, Options{})
				checkSyntax(t, err, "$", test.message)
			}
		})
	}
}

func checkSyntax(t *testing.T, err error, path, message string) {
	t.Helper()
	syntax, ok := errors.AsType[*SyntaxError](err)
	if !ok {
		t.Fatalf("error %v, want a syntax error %q", err, message)
	}
	if diff := cmp.Diff(&SyntaxError{Path: path, Message: message}, syntax); diff != "" {
		t.Error(diff)
	}
}

func TestReadRefusesRepeatedMembers(t *testing.T) {
	long := strings.Repeat("x", 65)
	tests := []struct{ name, body, path string }{
		{"of the body", `{"a":1,"b":2,"a":1}`, "a"},
		{"of an object in it", `{"signer":{"phone":"1","phone":"2"}}`, "signer.phone"},
		{"of an object in an array", `{"participants":[{},{"email":"a","email":"b"}]}`, "participants[1].email"},
		{"of an array in an array", `{"a":[[],[{"b":1,"b":1}]]}`, "a[1][0].b"},
		{"when the first is null", `{"a":null,"a":1}`, "a"},
		{"when one is escaped", `{"a":1,"\u0061":1}`, "a"},
		{"whose name is not a short word", `{"<b>":1,"<b>":2}`, "$"},
		{"whose name is too long to repeat", `{"a":{"` + long + `":1,"` + long + `":2}}`, "a"},
		{"under a name that is not a short word", `{"a":{"x y":{"b":1,"b":2}}}`, "a"},
		{"with an empty name", `{"a":{"":1,"":2}}`, "a"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := read(test.body, Options{})
			checkSyntax(t, err, test.path, "This member appears more than once.")
		})
	}
}

func TestReadNumbers(t *testing.T) {
	for _, number := range []string{"0", "-0", "7", "-12", "1.0", "0.5", "1e5", "1E+5", "2.5e-3", "123456789012345678901234567890"} {
		o, err := read(`{"a":`+number+`}`, Options{})
		if err != nil {
			t.Errorf("%s: %v", number, err)
		} else if got := o.value.members["a"].text; got != number {
			t.Errorf("%s became %s", number, got)
		}
	}
	for _, number := range []string{"-", "01", "-01", "1.", ".5", "1e", "1e+", "--1", "1.2.3", "1e5e5", "1e1.5", "1-2", "0x10", "+1"} {
		if _, err := read(`{"a":`+number+`}`, Options{}); !isSyntax(err) {
			t.Errorf("%s: error %v, want a syntax error", number, err)
		}
	}
}

func isSyntax(err error) bool {
	_, ok := errors.AsType[*SyntaxError](err)
	return ok
}

func TestReadBoundsDepth(t *testing.T) {
	nested := func(depth int) string {
		return `{"a":` + strings.Repeat("[", depth-1) + strings.Repeat("]", depth-1) + `}`
	}
	if _, err := read(nested(32), Options{}); err != nil {
		t.Error("32 deep:", err)
	}
	_, err := read(nested(33), Options{})
	checkSyntax(t, err, "$", "The body is nested too deeply.")
	_, err = read(`{"a":{}}`, Options{MaxDepth: 1})
	checkSyntax(t, err, "$", "The body is nested too deeply.")
	_, err = Read(io.MultiReader(strings.NewReader(`{"a":`), endless("[")), Options{})
	checkSyntax(t, err, "$", "The body is nested too deeply.")
}

func TestReadBoundsValues(t *testing.T) {
	body := `{"a":[0,0],"b":{"c":0}}` // six with the body itself
	if _, err := read(body, Options{MaxValues: 6}); err != nil {
		t.Error("as many as allowed:", err)
	}
	_, err := read(body, Options{MaxValues: 5})
	checkSyntax(t, err, "$", "The body has too many values.")
	_, err = Read(io.MultiReader(strings.NewReader(`{"a":[0`), endless(",0")), Options{})
	checkSyntax(t, err, "$", "The body has too many values.")
}

func TestReadBoundsLength(t *testing.T) {
	const body = `{"a":"þþþ","b":-1.5}`
	for limit := range int64(len(body)) {
		if _, err := read(body, Options{Limit: max(limit, 1)}); !errors.Is(err, ErrTooLarge) {
			t.Errorf("limit %d: error %v, want ErrTooLarge", limit, err)
		}
	}
	if _, err := read(body, Options{Limit: int64(len(body))}); err != nil {
		t.Error("exactly the limit:", err)
	}
	for _, piece := range []string{" ", "x", "é"} {
		_, err := Read(io.MultiReader(strings.NewReader(`{"a":"`), endless(piece)), Options{Limit: 1 << 20})
		if !errors.Is(err, ErrTooLarge) {
			t.Errorf("endless %q: error %v, want ErrTooLarge", piece, err)
		}
	}
	if _, err := Read(endless(" "), Options{Limit: 1 << 20}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("endless white space: error %v, want ErrTooLarge", err)
	}
}

// endless returns a reader that repeats a piece without end.
func endless(piece string) io.Reader { return &repeater{piece: piece} }

type repeater struct {
	piece string
	at    int
}

func (r *repeater) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = r.piece[r.at]
		r.at = (r.at + 1) % len(r.piece)
	}
	return len(p), nil
}

func TestReadOptionalBody(t *testing.T) {
	for _, body := range []string{"", " \r\n", "{}"} {
		o, err := read(body, Options{Optional: true})
		if err != nil {
			t.Fatalf("%q: %v", body, err)
		}
		o.String("reason", Required)
		if diff := cmp.Diff(map[string][]string{"reason": {msgRequired}}, o.Errors()); diff != "" {
			t.Errorf("%q: %s", body, diff)
		}
	}
	if _, err := read("null", Options{Optional: true}); !isSyntax(err) {
		t.Errorf("null: error %v, want a syntax error", err)
	}
}

func TestReadReturnsErrorsOfTheBody(t *testing.T) {
	broken := errors.New("connection reset")
	const body = `{"a":["þ\u00e9",1,true]} `
	for n := range len(body) + 1 {
		r := io.MultiReader(strings.NewReader(body[:n]), iotest.ErrReader(broken))
		if _, err := Read(r, Options{}); !errors.Is(err, broken) {
			t.Errorf("broken after %d bytes: error %v", n, err)
		}
	}
}

func TestReadReturnsMaxBytesError(t *testing.T) {
	limited := http.MaxBytesReader(httptest.NewRecorder(), io.NopCloser(strings.NewReader(`{"a":"bcdefgh"}`)), 8)
	_, err := Read(limited, Options{})
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); !ok || tooLarge.Limit != 8 {
		t.Errorf("error %v, want a *http.MaxBytesError", err)
	}
}

// TestEncodingJSONAllows reads bodies that encoding/json accepts and Read refuses (docs/decisions/json-reader.md).
func TestEncodingJSONAllows(t *testing.T) {
	for what, body := range map[string]string{
		"a member twice":              `{"role":"Viewer","role":"Signer"}`,
		"a string that is no Unicode": "{\"role\":\"\xff\"}",
		"half of a surrogate pair":    `{"role":"\ud800"}`,
	} {
		var read struct{ Role string }
		if err := json.Unmarshal([]byte(body), &read); err != nil {
			t.Errorf("%s: encoding/json refuses it too: %v", what, err)
		}
		o, err := Read(strings.NewReader(body), Options{})
		if err == nil && o.Errors() == nil {
			t.Errorf("%s is accepted", what)
		}
		t.Logf("%s: encoding/json reads %q; jsonbody refuses it", what, read.Role)
	}
}
