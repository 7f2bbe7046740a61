package pdf

import (
	"bytes"
	"strings"
	"testing"
)

// TestParse checks the syntax of each type of object (7.3), and the limits on nesting and items.
func TestParse(t *testing.T) {
	for name, test := range map[string]textCase{
		"7.2.4 comments are white space":        {"% a ) > ]\r[1%\n2]", Array{Integer(1), Integer(2)}},
		"7.3.2 booleans, 7.3.9 null":            {"[true false null]", Array{true, false, nil}},
		"7.3.3 integers":                        {"[0 +17 -98 007]", Array{Integer(0), Integer(17), Integer(-98), Integer(7)}},
		"7.3.3 real numbers":                    {"[34.5 -3.62 4. -.002 99999999999999999999]", Array{Real(34.5), Real(-3.62), Real(4), Real(-.002), Real(1e20)}},
		"7.3.4.2 balanced parentheses":          {"(a (b) c)", String("a (b) c")},
		"7.3.4.2 escapes":                       {`(\n\r\t\b\f\(\)\\\x)`, String("\n\r\t\b\f()\\x")},
		"7.3.4.2 octal codes":                   {`(\053\53a\0053\500)`, String("++a\x053\x40")},
		"7.3.4.2 continued lines":               {"(a\\\nb\\\r\nc\\\rd)", String("abcd")},
		"7.3.4.2 end of line becomes line feed": {"(a\r\nb\rc\nd)", String("a\nb\nc\nd")},
		"7.3.4.3 hexadecimal string":            {"[<4E6f> <4E 6f\n7> <>]", Array{String("No"), String("Nop"), String("")}},
		"7.3.5 names":                           {"[/ /A;Name_With-Various***Characters?]", Array{Name(""), Name("A;Name_With-Various***Characters?")}},
		"7.3.5 number signs":                    {"[/Lime#20Green#42 /A#G1#4]", Array{Name("Lime GreenB"), Name("A#G1#4")}},
		"7.3.6 array without spaces":            {"[/A(b)<63>[]<<>>/D]", Array{Name("A"), String("b"), String("c"), Array{}, Dict{}, Name("D")}},
		"7.3.7 dictionary":                      {"<</A/B/C 1/D<</E[2]>>>>", Dict{"A": Name("B"), "C": Integer(1), "D": Dict{"E": Array{Integer(2)}}}},
		"7.3.7 null values and repeated keys":   {"<</A null/B 1/B null/C 1/#43 2>>", Dict{"C": Integer(2)}},
		"7.3.10 references":                     {"[1 0 R 2 3 4 5 R 6]", Array{Ref{1, 0}, Integer(2), Integer(3), Ref{4, 5}, Integer(6)}},

		"no object":                      {" % \n", ErrDamaged},
		"two objects":                    {"1 2", ErrDamaged},
		"reference without R":            {"[1 0 Real]", ErrDamaged},
		"generation above 65535":         {"[1 65536 R]", ErrDamaged},
		"keyword":                        {"endobj", ErrDamaged},
		"number with two signs":          {"--1", ErrDamaged},
		"number with an exponent":        {"1e5", ErrDamaged},
		"literal string without end":     {"(a(b)", ErrDamaged},
		"hexadecimal string without end": {"<41", ErrDamaged},
		"hexadecimal string of letters":  {"<4x>", ErrDamaged},
		"array without end":              {"[1 2", ErrDamaged},
		"dictionary without end":         {"<</A 1", ErrDamaged},
		"dictionary with one bracket":    {"<</A 1>", ErrDamaged},
		"dictionary without a value":     {"<</A>>", ErrDamaged},
		"dictionary whose key is a text": {"<<(A) 1>>", ErrDamaged},
		"arrays nested too deep":         {strings.Repeat("[", maxDepth+1), ErrLimit},
		"dictionaries nested too deep":   {strings.Repeat("<</A", maxDepth+1), ErrLimit},
		"too many items":                 {"[" + strings.Repeat("0 ", maxItems+1) + "]", ErrLimit},
	} {
		expect(t, name, test.want)(Parse([]byte(test.text)))
	}
}

// TestCursor checks that a cursor reads the same objects from windows of every size, up to the limit.
func TestCursor(t *testing.T) {
	const first = "<< /Key#20 [12 0 R 12 0 -1.5 (text\\)\r\n) <48 49>] % comment\n/Last true >>"
	parsed := must(Parse([]byte(first)))
	src := []byte(first + " 7")
	for window := 1; window <= len(src); window++ {
		c := (&File{r: bytes.NewReader(src), size: int64(len(src))}).cursor(0, window)
		for _, want := range []Object{parsed, Integer(7)} {
			expect(t, window, want)(nextObject(c))
		}
	}
	long := append([]byte("("), bytes.Repeat([]byte("a"), maxObjectBytes)...)
	expect(t, "long string", ErrLimit)(nextObject((&File{r: bytes.NewReader(long), size: int64(len(long))}).cursor(0, 1<<10)))
}

func nextObject(c *cursor) (o Object, err error) {
	err = c.step(func(p *parser) (err error) {
		o, err = p.object()
		return err
	})
	return o, err
}
