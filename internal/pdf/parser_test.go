package pdf

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	tests := map[string]struct {
		src  string
		want Object
	}{
		"7.2.4 comments are white space":           {"% a ) > ]\r[1%\n2]", Array{Integer(1), Integer(2)}},
		"7.3.2 booleans":                           {"[true false]", Array{true, false}},
		"7.3.3 integers":                           {"[0 +17 -98 007]", Array{Integer(0), Integer(17), Integer(-98), Integer(7)}},
		"7.3.3 real numbers":                       {"[34.5 -3.62 +123.6 4. -.002 0.0]", Array{Real(34.5), Real(-3.62), Real(123.6), Real(4), Real(-.002), Real(0)}},
		"7.3.3 integer of more than 64 bits":       {"99999999999999999999", Real(1e20)},
		"7.3.4.2 balanced parentheses":             {"(a (b) c)", String("a (b) c")},
		"7.3.4.2 escapes":                          {`(\n\r\t\b\f\(\)\\\x)`, String("\n\r\t\b\f()\\x")},
		"7.3.4.2 octal codes":                      {`(\053\53a\0053\500)`, String("++a\x053\x40")},
		"7.3.4.2 line continued":                   {"(a\\\nb\\\r\nc\\\rd)", String("abcd")},
		"7.3.4.2 end of line is a line feed":       {"(a\r\nb\rc\nd)", String("a\nb\nc\nd")},
		"7.3.4.3 hexadecimal":                      {"<4E 6f\n7>", String("Nop")},
		"7.3.4.3 empty":                            {"<>", String("")},
		"7.3.5 name":                               {"/A;Name_With-Various***Characters?", Name("A;Name_With-Various***Characters?")},
		"7.3.5 number sign":                        {"/Lime#20Green#42", Name("Lime GreenB")},
		"7.3.5 number sign that stands for itself": {"/A#G1#4", Name("A#G1#4")},
		"7.3.5 empty name":                         {"[/ /A]", Array{Name(""), Name("A")}},
		"7.3.6 array without spaces":               {"[/A(b)<63>[]<<>>/D]", Array{Name("A"), String("b"), String("c"), Array{}, Dict{}, Name("D")}},
		"7.3.7 dictionary":                         {"<</A/B/C 1/D<</E[2]>>>>", Dict{"A": Name("B"), "C": Integer(1), "D": Dict{"E": Array{Integer(2)}}}},
		"7.3.7 null is no entry":                   {"<</A null/B 1/B null>>", Dict{}},
		"7.3.7 last of equal keys":                 {"<</A 1/#41 2>>", Dict{"A": Integer(2)}},
		"7.3.9 null":                               {"null", nil},
		"7.3.10 references":                        {"[1 0 R 2 3 4 5 R 6]", Array{Ref{1, 0}, Integer(2), Integer(3), Ref{4, 5}, Integer(6)}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Parse([]byte(test.src))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	tests := map[string]struct {
		src  string
		want error
	}{
		"nothing":                        {" % \n", ErrDamaged},
		"two objects":                    {"1 2", ErrDamaged},
		"no reference":                   {"[1 0 Real]", ErrDamaged},
		"generation above 65535":         {"[1 65536 R]", ErrDamaged},
		"keyword":                        {"endobj", ErrDamaged},
		"signs":                          {"--1", ErrDamaged},
		"exponent":                       {"1e5", ErrDamaged},
		"point alone":                    {".", ErrDamaged},
		"literal string without end":     {"(a(b)", ErrDamaged},
		"hexadecimal string without end": {"<41", ErrDamaged},
		"hexadecimal string of letters":  {"<4x>", ErrDamaged},
		"array without end":              {"[1 2", ErrDamaged},
		"dictionary without end":         {"<</A 1", ErrDamaged},
		"dictionary with one bracket":    {"<</A 1>", ErrDamaged},
		"dictionary without a value":     {"<</A>>", ErrDamaged},
		"dictionary with a wrong key":    {"<<(A) 1>>", ErrDamaged},
		"brackets that cross":            {"[<<]>>", ErrDamaged},
		"depth of arrays":                {strings.Repeat("[", maxDepth+1), ErrLimit},
		"depth of dictionaries":          {strings.Repeat("<</A", maxDepth+1), ErrLimit},
		"number of items":                {"[" + strings.Repeat("0 ", maxItems+1) + "]", ErrLimit},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if o, err := Parse([]byte(test.src)); !errors.Is(err, test.want) {
				t.Errorf("%v, error %v; want %v", o, err, test.want)
			}
		})
	}
}

// However small the window is at first, the same object is found.
func TestCursorWindows(t *testing.T) {
	src := "<< /Key#20 [12 0 R 12 0 -1.5 (text\\)\r\n) <48 49>] % comment\n/Last true >> 7"
	want, err := Parse([]byte(strings.TrimSuffix(src, "7")))
	if err != nil {
		t.Fatal(err)
	}
	for window := 1; window <= len(src); window++ {
		f := &File{r: bytes.NewReader([]byte(src)), size: int64(len(src))}
		c := f.cursor(0, window)
		for _, want := range []Object{want, Integer(7)} {
			var got Object
			err := c.step(func(p *parser) (err error) {
				got, err = p.object()
				return err
			})
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Fatalf("window of %d bytes: %v\n%s", window, err, diff)
			}
		}
	}
}

func TestCursorLimit(t *testing.T) {
	content := append([]byte("("), bytes.Repeat([]byte("a"), maxObjectBytes)...)
	f := &File{r: bytes.NewReader(content), size: int64(len(content))}
	err := f.cursor(0, 1<<10).step(func(p *parser) error {
		_, err := p.object()
		return err
	})
	if !errors.Is(err, ErrLimit) {
		t.Errorf("error %v, want ErrLimit", err)
	}
}

// reparsed reads an object and, written, once more.
func reparsed(t *testing.T, src []byte) (o Object, err error) {
	t.Helper()
	if o, err = Parse(src); err != nil {
		if sentinelOf(err) == nil {
			t.Fatalf("error of no kind: %v", err)
		}
		return nil, err
	}
	again, err := Parse(appendObject(nil, o))
	if err != nil {
		t.Fatalf("%q written as %q: %v", src, appendObject(nil, o), err)
	}
	if diff := cmp.Diff(o, again); diff != "" {
		t.Fatal(diff)
	}
	return o, nil
}
