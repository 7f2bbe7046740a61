package pdf

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSetKey checks that SetKey replaces or adds one value, separates it from the tokens beside it, and leaves all
// other bytes unchanged.
func TestSetKey(t *testing.T) {
	for name, test := range map[string]struct {
		src   string
		key   Name
		value string
		want  any
	}{
		"replaced":                        {"<< /A 1 /B 2 >>", "A", "[3]", "<< /A [3] /B 2 >>"},
		"added":                           {"<< /A 1 >>", "B", "2", "<< /A 1 /B 2>>"},
		"added to an empty dictionary":    {"<<>>", "B", "<41>", "<</B<41>>>"},
		"added after an empty name":       {"<</A/>>", "B", "/", "<</A//B/>>"},
		"added after a comment":           {"<</A 1 % >>\n>>", "B", "2", "<</A 1 % >>\n/B 2>>"},
		"added after a string":            {"<</A<41>>>", "B", "true", "<</A<41>/B true>>"},
		"reference replaced":              {"<</A 1 0 R/B 2 0 R>>", "A", "3 0 R", "<</A 3 0 R/B 2 0 R>>"},
		"space added after a name":        {"<</A/B>>", "A", "5", "<</A 5>>"},
		"space added after an empty name": {"<</(x)>>", "", "5", "<</ 5>>"},
		"key with number signs":           {"<</#41#20B 1>>", "A B", "2", "<</#41#20B 2>>"},
		"new key needs number signs":      {"<<>>", "A/B#", "2", "<</A#2FB#23 2>>"},
		"repeated key":                    {"<</A 1/B 2/#41 (x)>>", "A", "3", "<</A 3/B 2/#41 3>>"},
		"key in nested dictionaries":      {"<</B<</A 1>>/C[<</A 2>>]>>", "A", "3", "<</B<</A 1>>/C[<</A 2>>]/A 3>>"},
		"key in a string":                 {"<</B(/A 1)>>", "A", "3", "<</B(/A 1)/A 3>>"},
		"comments in the source":          {"%x\n<</A %y\n1%z\n>>%w", "A", "2", "%x\n<</A %y\n2%z\n>>%w"},
		"comment in the value":            {"<</A 1/B 2>>", "A", " 3 % x", "<</A 3/B 2>>"},

		"source is an array":              {"[/A 1]", "A", "2", ErrDamaged},
		"source is empty":                 {"", "A", "2", ErrDamaged},
		"source is a hexadecimal string":  {"<41>", "A", "2", ErrDamaged},
		"source without an end":           {"<</A 1", "A", "2", ErrDamaged},
		"source with text after it":       {"<</A 1>> stream", "A", "2", ErrDamaged},
		"value is empty":                  {"<</A 1>>", "A", " %", ErrDamaged},
		"value of two objects":            {"<</A 1>>", "A", "2/B 3", ErrDamaged},
		"value that ends the dictionary":  {"<</A 1>>", "A", "2>>", ErrDamaged},
		"value is a keyword of the file":  {"<</A 1>>", "A", "endobj", ErrDamaged},
		"value is the end of a reference": {"<</A 1 0/B 1>>", "A", "R", ErrDamaged},
	} {
		src := []byte(test.src)
		expect(t, name, test.want)(SetKey(src, test.key, []byte(test.value)))
		if string(src) != test.src {
			t.Errorf("%s: SetKey changed its argument to %s", name, src)
		}
	}
}

// TestKey checks that Key returns the source text of a value.
func TestKey(t *testing.T) {
	for src, want := range map[string]any{
		"<</B 1/A [ 1 %x\n 2 ] >>": "[ 1 %x\n 2 ]",
		"<</A 1/#41 2 0 R>>":       "2 0 R",
		"<</A null>>":              "null",
		"<</B<</A 1>>>>":           "",
		"<</B/A/C 1>>":             "",
		"<</A/A>>":                 "/A",
		"[]":                       ErrDamaged,
	} {
		got, ok, err := Key([]byte(src), "A")
		if expect(t, src, want)(got, err); ok != (len(got) > 0) {
			t.Errorf("%s: got %s, ok %t", src, got, ok)
		}
	}
}

// TestAppendItem checks that AppendItem adds one item at the end of an array and leaves all other bytes unchanged.
func TestAppendItem(t *testing.T) {
	for _, test := range []struct {
		src, item string
		want      any
	}{
		{"[]", "1 0 R", "[1 0 R]"},
		{"[1 0 R]", "2 0 R", "[1 0 R 2 0 R]"},
		{"[1 0]", "5 0 R", "[1 0 5 0 R]"},
		{"[ 1 ]", "2", "[ 1 2]"},
		{"[(a)]", "(b)", "[(a)(b)]"},
		{"[/]", "5", "[/ 5]"},
		{"[1 % ]\n]", "2", "[1 % ]\n2]"},
		{"%x\n[]%y", "2", "%x\n[2]%y"},
		{"[[][[]]]", "[]", "[[][[]][]]"},
		{"<<>>", "1", ErrDamaged},
		{"[1", "1", ErrDamaged},
		{"[] 1", "1", ErrDamaged},
		{"[]", "", ErrDamaged},
		{"[]", "1 2", ErrDamaged},
		{"[1 0]", "R", ErrDamaged},
	} {
		expect(t, test.src, test.want)(AppendItem([]byte(test.src), []byte(test.item)))
	}
}

// FuzzPatch checks that a patched dictionary differs from the source in one key, and a patched array in one item.
func FuzzPatch(f *testing.F) {
	for src, value := range map[string]string{
		"<< /A 1 /B(x)>>": "[2 0 R]", "<</#41/ %x\n/A<41>>>": "7", "<</A<</A 1>>>>": "null", "[1 0 R]": "2 0 R",
		"%x\n[/ %y\n]": "7", "[1 0]": "<</A[]>>", "<</A[1 0 R (a\\(b) <41>]/B#20 -1.5/C null>>": "1", "%c\n/N": "(\\",
	} {
		f.Add([]byte(src), "A", []byte(value))
	}
	f.Fuzz(func(t *testing.T, src []byte, key string, value []byte) {
		before, err := Parse(src)
		checkError(t, err)
		item, itemErr := Parse(value)
		if checkError(t, itemErr); err != nil || itemErr != nil {
			return
		}
		array, isArray := before.(Array)
		patched, err := AppendItem(src, value)
		checkPatched(t, Object(append(array, item)), isArray, patched, err)
		dict, isDict := before.(Dict)
		if isDict {
			if dict[Name(key)] = item; item == nil {
				delete(dict, Name(key))
			}
		}
		patched, err = SetKey(src, Name(key), value)
		if checkPatched(t, Object(dict), isDict, patched, err); isDict && err == nil {
			if source, found, err := Key(patched, Name(key)); err != nil || !found || !bytes.Contains(value, source) {
				t.Errorf("the value of the key is %q, %t, error %v; want %q", source, found, err, value)
			}
		}
	})
}

// checkPatched checks the result of a patch. It has to be an error if the source has another type.
func checkPatched(t *testing.T, want Object, rightType bool, patched []byte, err error) {
	t.Helper()
	if !rightType || err != nil {
		if rightType == (err != nil) && !errors.Is(err, ErrLimit) {
			t.Errorf("got %q, error %v, for a source of the right type: %t", patched, err, rightType)
		}
		return
	}
	got, err := Parse(patched)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%q: error %v, -want +got:\n%s", patched, err, diff)
	}
}
