package pdf

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSetKey(t *testing.T) {
	tests := map[string]struct {
		src   string
		key   Name
		value string
		want  string
	}{
		"replaced":                        {"<< /A 1 /B 2 >>", "A", "[3]", "<< /A [3] /B 2 >>"},
		"added":                           {"<< /A 1 >>", "B", "2", "<< /A 1 /B 2>>"},
		"added to nothing":                {"<<>>", "B", "<41>", "<</B<41>>>"},
		"added behind an empty name":      {"<</A/>>", "B", "/", "<</A//B/>>"},
		"added behind a comment":          {"<</A 1 % >>\n>>", "B", "2", "<</A 1 % >>\n/B 2>>"},
		"reference replaced":              {"<</A 1 0 R/B 2 0 R>>", "A", "3 0 R", "<</A 3 0 R/B 2 0 R>>"},
		"space where tokens would merge":  {"<</A/B>>", "A", "5", "<</A 5>>"},
		"space behind an empty name":      {"<</(x)>>", "", "5", "<</ 5>>"},
		"no space where none is needed":   {"<</A 5>>", "A", "/B", "<</A /B>>"},
		"name written with a number sign": {"<</#41#20B 1>>", "A B", "2", "<</#41#20B 2>>"},
		"name that needs number signs":    {"<<>>", "A/B#", "2", "<</A#2FB#23 2>>"},
		"equal keys are all replaced":     {"<</A 1/B 2/#41 (x)>>", "A", "3", "<</A 3/B 2/#41 3>>"},
		"same key further down":           {"<</B<</A 1>>/C[<</A 2>>]>>", "A", "3", "<</B<</A 1>>/C[<</A 2>>]/A 3>>"},
		"key within a string":             {"<</B(/A 1)>>", "A", "3", "<</B(/A 1)/A 3>>"},
		"comments kept":                   {"%x\n<</A %y\n1%z\n>>%w", "A", "2", "%x\n<</A %y\n2%z\n>>%w"},
		"comment of the value dropped":    {"<</A 1/B 2>>", "A", " 3 % x", "<</A 3/B 2>>"},
		"null replaced":                   {"<</A null>>", "A", "true", "<</A true>>"},
		"hexadecimal string at the end":   {"<</A<41>>>", "B", "true", "<</A<41>/B true>>"},
		"dictionary at the end":           {"<</A<</B 1>>>>", "A", "<</C 2>>", "<</A<</C 2>>>>"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			src := []byte(test.src)
			got, err := SetKey(src, test.key, []byte(test.value))
			if err != nil || string(got) != test.want {
				t.Errorf("%s, error %v; want %s", got, err, test.want)
			}
			if string(src) != test.src {
				t.Errorf("the source became %s", src)
			}
		})
	}
}

func TestSetKeyRefuses(t *testing.T) {
	tests := map[string]struct{ src, value string }{
		"array":                 {"[/A 1]", "2"},
		"nothing":               {"", "2"},
		"hexadecimal string":    {"<41>", "2"},
		"no end":                {"<</A 1", "2"},
		"something behind":      {"<</A 1>> 7", "2"},
		"stream":                {"<</A 1>> stream", "2"},
		"no value":              {"<</A 1>>", " %"},
		"two values":            {"<</A 1>>", "2/B 3"},
		"value with an end":     {"<</A 1>>", "2>>"},
		"value that is no such": {"<</A 1>>", "endobj"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got, err := SetKey([]byte(test.src), "A", []byte(test.value)); !errors.Is(err, ErrDamaged) {
				t.Errorf("%s, error %v; want ErrDamaged", got, err)
			}
		})
	}
}

func TestKey(t *testing.T) {
	tests := map[string]struct {
		src, want string
		ok        bool
	}{
		"value":               {"<</B 1/A [ 1 %x\n 2 ] >>", "[ 1 %x\n 2 ]", true},
		"last of equal keys":  {"<</A 1/#41 2 0 R>>", "2 0 R", true},
		"null":                {"<</A null>>", "null", true},
		"missing":             {"<</B<</A 1>>>>", "", false},
		"name for a value":    {"<</B/A/C 1>>", "", false},
		"key after its value": {"<</A/A>>", "/A", true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok, err := Key([]byte(test.src), "A")
			if err != nil || ok != test.ok || string(got) != test.want {
				t.Errorf("%q, %v, error %v; want %q, %v", got, ok, err, test.want, test.ok)
			}
		})
	}
	if _, _, err := Key([]byte("[]"), "A"); !errors.Is(err, ErrDamaged) {
		t.Errorf("array: error %v, want ErrDamaged", err)
	}
}

func TestAppendItem(t *testing.T) {
	tests := map[string]struct{ src, item, want string }{
		"empty":                        {"[]", "1 0 R", "[1 0 R]"},
		"space where they would merge": {"[1 0 R]", "2 0 R", "[1 0 R 2 0 R]"},
		"numbers make no reference":    {"[1 0]", "5 0 R", "[1 0 5 0 R]"},
		"behind a space":               {"[ 1 ]", "2", "[ 1 2]"},
		"behind a delimiter":           {"[(a)]", "(b)", "[(a)(b)]"},
		"behind an empty name":         {"[/]", "5", "[/ 5]"},
		"behind a comment":             {"[1 % ]\n]", "2", "[1 % ]\n2]"},
		"comments around":              {"%x\n[]%y", "2", "%x\n[2]%y"},
		"arrays inside":                {"[[][[]]]", "[]", "[[][[]][]]"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := AppendItem([]byte(test.src), []byte(test.item))
			if err != nil || string(got) != test.want {
				t.Errorf("%s, error %v; want %s", got, err, test.want)
			}
		})
	}
}

func TestAppendItemRefuses(t *testing.T) {
	tests := map[string]struct{ src, item string }{
		"dictionary":          {"<<>>", "1"},
		"no end":              {"[1", "1"},
		"something behind":    {"[] 1", "1"},
		"no item":             {"[]", ""},
		"two items":           {"[]", "1 2"},
		"tail of a reference": {"[1 0]", "R"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got, err := AppendItem([]byte(test.src), []byte(test.item)); !errors.Is(err, ErrDamaged) {
				t.Errorf("%s, error %v; want ErrDamaged", got, err)
			}
		})
	}
}

// What is read is the same once it is written. What is patched parses, and differs in the one
// key only; what is appended to parses, and has one item more.
func FuzzPatch(f *testing.F) {
	f.Add([]byte("<< /A 1 /B(x)>>"), "A", []byte("[2 0 R]"))
	f.Add([]byte("<</#41/ %x\n/A<41>>>"), "A", []byte("7"))
	f.Add([]byte("<</A<</A 1>>>>"), "B C", []byte("null"))
	f.Add([]byte("[1 0 R]"), "", []byte("2 0 R"))
	f.Add([]byte("%x\n[/ %y\n]"), "", []byte("7"))
	f.Add([]byte("[1 0]"), "", []byte("<</A[]>>"))
	for _, src := range []string{
		"<</A[1 0 R (a\\(b) <41>]/B#20 -1.5/C null>>", "[true false null 1 2 R]", "%c\n/N", "(\\", "<<", "--1", "1 0 R",
	} {
		f.Add([]byte(src), "A", []byte("1"))
	}
	f.Fuzz(func(t *testing.T, src []byte, key string, value []byte) {
		before, err := reparsed(t, src)
		if err != nil {
			return
		}
		with, err := reparsed(t, value)
		if err != nil {
			return
		}
		checkAppendItem(t, src, before, value, with)
		checkSetKey(t, src, before, Name(key), value, with) // which sets it in the dictionary before
	})
}

func checkSetKey(t *testing.T, src []byte, before Object, key Name, value []byte, with Object) {
	want, ok := before.(Dict)
	patched, err := SetKey(src, key, value)
	if !ok || err != nil {
		if ok != (err == nil) && !errors.Is(err, ErrLimit) {
			t.Fatalf("%q: %T, error %v", src, before, err)
		}
		return
	}
	if want[key] = with; with == nil {
		delete(want, key)
	}
	got, err := Parse(patched)
	if diff := cmp.Diff(Object(want), got); err != nil || diff != "" {
		t.Fatalf("%q with /%s %q is %q, error %v\n%s", src, key, value, patched, err, diff)
	}
	source, found, err := Key(patched, key)
	if err != nil || !found || !bytes.Contains(value, source) {
		t.Fatalf("%q: the value is %q, %v, error %v", patched, source, found, err)
	}
}

func checkAppendItem(t *testing.T, src []byte, before Object, item []byte, last Object) {
	want, ok := before.(Array)
	patched, err := AppendItem(src, item)
	if !ok || err != nil {
		if ok != (err == nil) && !errors.Is(err, ErrLimit) {
			t.Fatalf("%q: %T, error %v", src, before, err)
		}
		return
	}
	got, err := Parse(patched)
	if diff := cmp.Diff(Object(append(want, last)), got); err != nil || diff != "" {
		t.Fatalf("%q with %q is %q, error %v\n%s", src, item, patched, err, diff)
	}
}
