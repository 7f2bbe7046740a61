package jsonbody

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"math"
	"math/big"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

var number1 = json.Number("1")

// plain converts a value to the value of encoding/json.
func plain(v *value) any {
	switch v.kind {
	case boolean:
		return v.text == "true"
	case number:
		return json.Number(v.text)
	case text:
		return v.text
	case array:
		all := make([]any, len(v.elements))
		for i, element := range v.elements {
			all[i] = plain(element)
		}
		return all
	case object:
		all := make(map[string]any, len(v.members))
		for name, member := range v.members {
			all[name] = plain(member)
		}
		return all
	}
	return nil
}

// oracle returns the value that encoding/json decodes from a body.
func oracle(t *testing.T, body []byte) map[string]any {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var all map[string]any
	if err := d.Decode(&all); err != nil {
		t.Fatalf("encoding/json refuses %q: %v", body, err)
	}
	return all
}

var seeds = []string{
	`{}`, ``, ` {"a" : [1, -2.5e+3, true, false, null, {}], "b":{"c":"\u00e9\ud83d\ude00\/"}} `,
	`{"file":{"contentB64":"UERGIQ==","name":"a"}}`, `{"file":{"contentB64":"\/\u002b8="}}`,
	`{"file":{"contentB64":"UE RG"}}`, `{"file":{"contentB64":""}}`, `{"file":{"contentB64":5}}`,
	`{"file":{"contentB64":"UE==UERG"},"file":{}}`, `{"a":1,"a":2}`, "{\"a\":\"\xff\"}", `{"a":"\ud800"}`,
	`{"a":01}`, `{"a":"x` + "\n" + `"}`, `[]`, `{"a":[[[[[[[[]]]]]]]]}`, "\ufeff{}", `{} {}`,
}

// FuzzRead compares Read with encoding/json: a body that Read accepts is JSON with the same values, the content is
// equal to that of a JSON decoder and a Base64 decoder, and Read accepts all objects that encoding/json writes.
func FuzzRead(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		checkWritten(t, body)
		var s store
		o, err := Read(bytes.NewReader(body), s.options())
		slow, slowErr := Read(iotest.OneByteReader(bytes.NewReader(body)), Options{Content: "file.contentB64"})
		if (err == nil) != (slowErr == nil) || err != nil && err.Error() != slowErr.Error() {
			t.Fatalf("%q at once: %v; byte by byte: %v", body, err, slowErr)
		}
		if err != nil {
			checkError(t, err)
			return
		}
		if !json.Valid(body) {
			t.Fatalf("accepted %q, which is not JSON", body)
		}
		if diff := cmp.Diff(o.Errors(), slow.Errors()); diff != "" {
			t.Fatal(diff)
		}
		want := oracle(t, body)
		checkContent(t, want, o, &s)
		if diff := cmp.Diff(want, plain(o.value)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// checkError checks that an error is of the types that Read documents and may be sent to the client.
func checkError(t *testing.T, err error) {
	if !isSyntax(err) && err != ErrTooLarge || len(err.Error()) > 3000 {
		t.Fatalf("error %v", err)
	}
}

// checkContent compares the content with that in want, and removes it from want.
func checkContent(t *testing.T, want map[string]any, o *Object, s *store) {
	file, _ := want["file"].(map[string]any)
	chars, isString := file["contentB64"].(string)
	if !isString {
		if s.calls != 0 {
			t.Fatal("the sink was called without content")
		}
		return
	}
	decoded, err := base64.StdEncoding.DecodeString(chars)
	valid := err == nil && chars != "" && !strings.ContainsAny(chars, "\r\n")
	if s.calls != 1 || valid != o.Content() || valid != (s.err == nil) || valid && !bytes.Equal(decoded, s.bytes) {
		t.Fatalf("content %q: %d calls, %v, %q", chars, s.calls, s.err, s.bytes)
	}
	file["contentB64"] = nil // like the result of plain
}

// checkWritten reads a body after encoding/json has decoded and encoded it.
func checkWritten(t *testing.T, body []byte) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var all map[string]any
	if d.Decode(&all) != nil || all == nil {
		return
	}
	written, err := json.Marshal(all) // without repeated members, and in UTF-8
	if err != nil {
		t.Fatal(err)
	}
	o, err := Read(bytes.NewReader(written), Options{MaxDepth: len(written), MaxValues: len(written)})
	if err != nil {
		t.Fatalf("%q: %v", written, err)
	}
	if diff := cmp.Diff(oracle(t, written), plain(o.value)); diff != "" {
		t.Fatal(diff)
	}
}

// FuzzInteger compares integer with exact arithmetic.
func FuzzInteger(f *testing.F) {
	for _, seed := range []string{
		"0", "-0", "-0.0e5", "1.0", "10e-1", "12e3", "42", "42.000", "4.2e1", "4200e-2", "0.042E+3", "-1e2", "0.5", "42e-1",
		"9223372036854775807", "-9223372036854775808", "9223372036854775807.0", "9223372036854775808", "-9223372036854775809",
		"1e18", "1e19", "1e20", "1.00000000000000000001", "0." + strings.Repeat("0", 1000) + "7e1001",
		"7" + strings.Repeat("0", 900) + "e-900", strings.Repeat("9", 1000), "", "-", "01", "1.", ".5", "1e", "1e+",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !isNumber(s) {
			if json.Valid([]byte(s)) && strings.Trim(s, "-+.eE0123456789") == "" {
				t.Fatalf("%q is a number", s)
			}
			return
		}
		if !json.Valid([]byte(s)) {
			t.Fatalf("%q is no number", s)
		}
		got, whole := integer(s)
		exact, fits := new(big.Rat).SetString(s)
		if _, exponent, _ := strings.Cut(strings.ToLower(s), "e"); !fits || len(exponent) > 4 {
			return // too large for the oracle
		}
		want := int64(math.MaxInt64)
		switch {
		case exact.Num().IsInt64():
			want = exact.Num().Int64()
		case exact.Sign() < 0:
			want = math.MinInt64
		}
		if whole != exact.IsInt() || whole && got != want {
			t.Fatalf("%s: %d, %v", s, got, whole)
		}
	})
}

// FuzzWriteBase64 reads the written Base64 with Read.
func FuzzWriteBase64(f *testing.F) {
	f.Add([]byte("PDF!"))
	f.Add(document(1000))
	f.Fuzz(func(t *testing.T, document []byte) {
		var b bytes.Buffer
		if err := WriteBase64(&b, `{"file":{"contentB64":"`, bytes.NewReader(document), int64(len(document)), `"}}`); err != nil {
			t.Fatal(err)
		}
		var s store
		_, err := Read(io.Reader(&b), s.options())
		if err != nil || len(document) > 0 && (s.err != nil || !bytes.Equal(s.bytes, document)) {
			t.Fatal(err, s.err)
		}
	})
}
