package jsonbody

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// store is a sink that records the content.
type store struct {
	calls int
	bytes []byte
	err   error // returned by the reader
}

func (s *store) sink(r io.Reader) error {
	s.calls++
	s.bytes, s.err = io.ReadAll(r)
	return s.err
}

func (s *store) options() Options {
	return Options{Content: "file.contentB64", Sink: s.sink}
}

// readers return readers of a body that return pieces of several sizes.
func readers(body string) map[string]io.Reader {
	return map[string]io.Reader{
		"whole":         strings.NewReader(body),
		"byte by byte":  iotest.OneByteReader(strings.NewReader(body)),
		"halves":        iotest.HalfReader(strings.NewReader(body)),
		"error at last": iotest.DataErrReader(strings.NewReader(body)),
	}
}

func TestContentIsDecoded(t *testing.T) {
	tests := []struct{ name, chars, want string }{
		{"without padding", "UERG", "PDF"},
		{"one padding character", "UERGIQ==", "PDF!"},
		{"two", "UERGISE=", "PDF!!"},
		{"escaped slashes", `\/\/\/\/\/+8=`, "\xff\xff\xff\xff\xef"},
		{"unicode escapes", `\u0055ER\u0047IS\u0045\u003d`, "PDF!!"},
		{"an escape at every position of a quantum", `\u0055ERGU\u0045RGUE\u0052GUER\u0047`, "PDFPDFPDFPDF"},
		{"unused bits of the last character", "UERGIR==", "PDF!"},
	}
	for _, test := range tests {
		for piece, r := range readers(`{"file":{"name":"a.pdf","contentB64":"` + test.chars + `"},"x":1}`) {
			t.Run(test.name+"/"+piece, func(t *testing.T) {
				var s store
				o, err := Read(r, s.options())
				if err != nil || s.err != nil {
					t.Fatal(err, s.err)
				}
				if string(s.bytes) != test.want || s.calls != 1 {
					t.Errorf("%d calls, %q", s.calls, s.bytes)
				}
				if !o.Content(Required) || o.String("file.name") != "a.pdf" || o.Int("x") != 1 || o.Errors() != nil {
					t.Errorf("fields around the content: %v", o.Errors())
				}
			})
		}
	}
}

// TestContentOfEveryLength reads content whose buffers end at every position of a quantum.
func TestContentOfEveryLength(t *testing.T) {
	all := document(3 * blockBuffer)
	for _, around := range []int{1, blockBuffer / 4 * 3, blockBuffer, 2*blockBuffer/4*3 + 1} {
		for n := max(around-20, 1); n < around+20; n++ {
			for _, escapeSlash := range []bool{false, true} {
				var s store
				o, err := Read(bytes.NewReader(startBody(all[:n], escapeSlash)), s.options())
				if err != nil || !o.Content() || !bytes.Equal(s.bytes, all[:n]) {
					t.Fatalf("%d bytes: %v, %v, %d bytes were decoded", n, err, o.Errors(), len(s.bytes))
				}
			}
		}
	}
}

func TestContentThatIsNotBase64(t *testing.T) {
	big := strings.Repeat("UERG", blockBuffer)
	tests := []struct{ name, chars string }{
		{"empty", ""},
		{"white space", "    "},
		{"no padding", "UERGIQ"},
		{"half the padding", "UERGIQ="},
		{"padding alone", "===="},
		{"too much padding", "UERGIQ==="},
		{"padding inside", "UE==UERG"},
		{"something after padding", "UERGIQ==UERG"},
		{"one character too many", "UERGU"},
		{"URL alphabet", "__-_"},
		{"an escaped line break", `UERG\r\nUERG`},
		{"an escaped line break at the end", `UERG\n`},
		{"a space", "UERG UERG"},
		{"a data URL", "data:application/pdf;base64,UERG"},
		{"other characters", "UÉRG"},
		{"an escaped other character", `UERG\u00e9`},
		{"an escaped quote", `UERG\"UERG`},
		{"a fault after many blocks", big + "!" + big},
		{"padding at the end of a block", strings.Repeat("UERG", blockBuffer/4-1) + "UE==" + "UERG"},
		{"padding after many blocks", big + "UE==" + big},
	}
	for _, test := range tests {
		for piece, r := range readers(`{"file":{"contentB64":"` + test.chars + `","name":5}}`) {
			t.Run(test.name+"/"+piece, func(t *testing.T) {
				var s store
				o, err := Read(r, s.options())
				if err != nil {
					t.Fatal(err)
				}
				if s.calls != 1 || !errors.Is(s.err, ErrBase64) {
					t.Errorf("%d calls of the sink, whose reader ended with %v", s.calls, s.err)
				}
				if o.Content(Required) {
					t.Error("the content is reported as valid")
				}
				o.String("file.name", Required)
				want := map[string][]string{"file.contentB64": {msgBase64}, "file.name": {"Must be a string."}}
				if diff := cmp.Diff(want, o.Errors()); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// TestSyntaxInsideContent checks that content that is not a JSON string is a syntax error, before and after the first
// character that is not Base64.
func TestSyntaxInsideContent(t *testing.T) {
	tests := []struct{ name, chars, message string }{
		{"a line break", "UERG\nUERG", "The body is not valid JSON: unexpected character at byte offset 27."},
		{"a line break after a fault", "UE!G\nUERG", "The body is not valid JSON: unexpected character at byte offset 27."},
		{"no UTF-8", "UERG\xffUERG", "The body is not valid UTF-8 at byte offset 27."},
		{"no UTF-8 after a fault", "UE!G\xc3UERG", "The body is not valid UTF-8 at byte offset 27."},
		{"an invalid escape", `UERG\q`, "The body is not valid JSON: invalid escape at byte offset 27."},
		{"a surrogate alone after a fault", `UE!G\ud800`, "The body is not valid JSON: invalid escape at byte offset 27."},
	}
	for _, test := range tests {
		for piece, r := range readers(`{"file":{"contentB64":"` + test.chars + `"}}`) {
			t.Run(test.name+"/"+piece, func(t *testing.T) {
				var s store
				_, err := Read(r, s.options())
				checkSyntax(t, err, "$", test.message)
				if s.err == nil || s.calls != 1 {
					t.Errorf("%d calls of the sink, whose reader ended with %v", s.calls, s.err)
				}
			})
		}
	}
}

// TestContentCutOff checks that the reader of a sink never returns io.EOF for incomplete content.
func TestContentCutOff(t *testing.T) {
	broken := errors.New("connection reset")
	const body = `{"file":{"contentB64":"UERGUERG\/w==`
	for n := strings.Index(body, "UERG"); n <= len(body); n++ {
		var s store
		_, err := Read(strings.NewReader(body[:n]), s.options())
		checkSyntax(t, err, "$", "The body is not valid JSON: it ends too early.")
		if !isSyntax(s.err) {
			t.Errorf("cut after %d bytes: the sink's reader ended with %v", n, s.err)
		}
		_, err = Read(io.MultiReader(strings.NewReader(body[:n]), iotest.ErrReader(broken)), s.options())
		if !errors.Is(err, broken) || !errors.Is(s.err, broken) {
			t.Errorf("broken after %d bytes: error %v, the sink's reader ended with %v", n, err, s.err)
		}
	}
}

func TestContentOfAnotherType(t *testing.T) {
	const required, wrong, notObject = msgRequired, "Must be a string.", "Must be an object."
	tests := []struct {
		name, body string
		want       map[string][]string
	}{
		{"number", `{"file":{"contentB64":5}}`, map[string][]string{"file.contentB64": {wrong}}},
		{"object", `{"file":{"contentB64":{"contentB64":"UERG"}}}`, map[string][]string{"file.contentB64": {wrong}}},
		{"array", `{"file":{"contentB64":["UERG"]}}`, map[string][]string{"file.contentB64": {wrong}}},
		{"null", `{"file":{"contentB64":null}}`, map[string][]string{"file.contentB64": {required}}},
		{"absent", `{"file":{}}`, map[string][]string{"file.contentB64": {required}}},
		{"no parent", `{}`, map[string][]string{"file": {required}}},
		{"null parent", `{"file":null}`, map[string][]string{"file": {required}}},
		{"parent of another type", `{"file":"UERG"}`, map[string][]string{"file": {notObject}}},
		{"in another case", `{"file":{"contentb64":"UERG"}}`, map[string][]string{"file.contentB64": {required}}},
		{"with another path", `{"contentB64":"UERG","file":{"a":{"contentB64":"UERG"}}}`, map[string][]string{"file.contentB64": {required}}},
		{"a name with a dot", `{"file.contentB64":"UERG"}`, map[string][]string{"file": {required}}},
		{"in an array", `{"file":[{"contentB64":"UERG"}]}`, map[string][]string{"file": {notObject}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var s store
			o, err := Read(strings.NewReader(test.body), s.options())
			if err != nil {
				t.Fatal(err)
			}
			if o.Content(Required) || s.calls > 0 {
				t.Errorf("content was reported: %d calls of the sink", s.calls)
			}
			if diff := cmp.Diff(test.want, o.Errors()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestContentTwice(t *testing.T) {
	tests := []struct{ name, body, path string }{
		{"the member", `{"file":{"contentB64":"UERG","contentB64":"UERG"}}`, "file.contentB64"},
		{"the member, escaped", `{"file":{"contentB64":"UERG","content\u00424":"UERG","contentB6\u0034":"UERG"}}`, "file.contentB64"},
		{"its parent", `{"file":{"contentB64":"UERG"},"file":{"contentB64":"UERG"}}`, "file"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var s store
			_, err := Read(strings.NewReader(test.body), s.options())
			checkSyntax(t, err, test.path, "This member appears more than once.")
			if s.calls != 1 {
				t.Errorf("%d calls of the sink", s.calls)
			}
		})
	}
}

func TestSinkErrors(t *testing.T) {
	full := errors.New("disk full")
	const good = `{"file":{"contentB64":"UERGUERG"}}`
	const bad = `{"file":{"contentB64":"UERG!"}}`
	tests := []struct {
		name, body string
		sink       func(io.Reader) error
		want       error
	}{
		{"before reading", good, func(io.Reader) error { return full }, full},
		{"while reading", good, func(r io.Reader) error { r.Read(make([]byte, 2)); return full }, full},
		{"after reading", good, func(r io.Reader) error { io.Copy(io.Discard, r); return full }, full},
		{"after content that is no Base64", bad, func(r io.Reader) error { io.Copy(io.Discard, r); return full }, full},
		{"ErrBase64 of content that is Base64", good, func(io.Reader) error { return ErrBase64 }, ErrBase64},
		{"ErrBase64 wrapped", bad, func(r io.Reader) error {
			_, err := io.ReadAll(r)
			return fmt.Errorf("store document: %w", err)
		}, nil},
		{"ErrBase64 swallowed", bad, func(r io.Reader) error { io.Copy(io.Discard, r); return nil }, nil},
		{"none, and nothing read", good, func(io.Reader) error { return nil }, nil},
		{"none, and nothing read of what is no Base64", bad, func(io.Reader) error { return nil }, nil},
		{"no sink", good, nil, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o, err := Read(strings.NewReader(test.body), Options{Content: "file.contentB64", Sink: test.sink})
			if err != test.want {
				t.Fatalf("error %v, want %v", err, test.want)
			}
			if err == nil && o.Content() != (test.body == good) {
				t.Errorf("content %v, faults %v", o.Content(), o.Errors())
			}
		})
	}
}

// TestLimitExcludesContent checks that the limit applies to the rest of the body, before and after the content, and
// after content that is not Base64.
func TestLimitExcludesContent(t *testing.T) {
	const before, after = `{"file":{"contentB64":`, `,"a":1}}`
	for _, chars := range []string{strings.Repeat("UERG", 1000), "!" + strings.Repeat("\u00e9", 1000), ""} {
		body := before + `"` + chars + `"` + after
		rest := int64(len(body) - len(chars) - 1) // the closing quote goes with the content
		if _, err := Read(strings.NewReader(body), Options{Content: "file.contentB64", Limit: rest}); err != nil {
			t.Errorf("content of %d bytes: %v", len(chars), err)
		}
		_, err := Read(strings.NewReader(body), Options{Content: "file.contentB64", Limit: rest - 1})
		if !errors.Is(err, ErrTooLarge) {
			t.Errorf("content of %d bytes and one byte too many: error %v", len(chars), err)
		}
	}
}

// TestReadUsesConstantMemory reads generated content of several megabytes.
func TestReadUsesConstantMemory(t *testing.T) {
	const pieces = 2 << 20
	for _, piece := range []string{"UERG", `U\/RG`, "UE!G", "\u00e9\u00e9"} {
		body := io.MultiReader(strings.NewReader(`{"file":{"contentB64":"`),
			io.LimitReader(endless(piece), int64(pieces*len(piece))), strings.NewReader(`"}}`))
		allocated := testenv.Allocated(func() {
			_, err := Read(body, Options{Content: "file.contentB64", Sink: func(r io.Reader) error {
				_, err := io.Copy(io.Discard, r)
				return err
			}})
			if err != nil {
				t.Fatal(err)
			}
		})
		if allocated > 512<<10 {
			t.Errorf("%q: %d bytes allocated", piece, allocated)
		}
	}
}
