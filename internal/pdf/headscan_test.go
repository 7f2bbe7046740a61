package pdf

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Behind what looks like heads to anybody there is a |, and behind nothing else.
func TestEachHead(t *testing.T) {
	for _, marked := range []string{
		"1 0 obj| << >> endobj 2 0 obj|", "12 0 obj|<<", "1 0obj|", "1\n0\robj|ects", "endobj1 0 obj|", "(1 0 obj|)",
		"1 % one\n0 obj|", "1%\r\n %0 obj\n0 % 5 \robj|", "1 0%obj\nobj|", "1 (%) 0 obj", "1\v0\xa0obj|", "1\x0000\x85obj|",
		"+1 -0 obj|", "1.0 0 obj|", "x1 0 obj|", "1 0 0 obj|", "1 x 0 obj", "1 0 xobj", "1 0 endobj", "1 0 ob j", "10obj", "1obj 0 Obj",
		"1 % obj", "1 0 % obj", strings.Repeat(" ", 256<<10-3) + "1 0 obj|",
	} {
		parts := strings.SplitAfter(strings.ReplaceAll(marked, "obj|", "obj\x01"), "\x01")
		var want, got []int64
		content := "%PDF-1.7 x"
		for _, part := range parts {
			trimmed := strings.TrimSuffix(part, "\x01")
			if content += trimmed; trimmed != part {
				want = append(want, int64(len(content)))
			}
		}
		f := &File{r: strings.NewReader(content), size: int64(len(content))}
		all, err := f.eachHead(int64(len("%PDF-1.7 ")), func(end int64) bool { got = append(got, end); return true })
		if diff := cmp.Diff(want, got); diff != "" || !all || err != nil {
			t.Errorf("%.40q: %t, %v\n%s", marked, all, err, diff)
		}
	}
}

// The number of startxref may be that of a head which goes on behind the end of a file.
func TestEachHeadThatBeganBefore(t *testing.T) {
	for _, text := range []string{"0 obj", "obj", "%\n0 obj"} {
		f := &File{r: strings.NewReader(text), size: int64(len(text))}
		if all, err := f.eachHead(0, func(int64) bool { return false }); all || err != nil {
			t.Errorf("%q: %t, %v", text, all, err)
		}
	}
}

// What stands there again and again is gone over at once, wherever it ends.
func TestRepeated(t *testing.T) {
	for n := range 40 {
		for _, behind := range []string{"", "b", "ba", strings.Repeat("b", 20)} {
			if got := repeated([]byte("a" + strings.Repeat("a", n) + behind)); got != n {
				t.Errorf("%d and %q: %d", n, behind, got)
			}
		}
	}
}
