package pdf

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

func TestXRefStreamRefuses(t *testing.T) {
	stream := func(dict string, payload string) []byte {
		b := newBuilder()
		at := b.here()
		b.stream(1, "/Type /XRef /Size 1 "+dict, []byte(payload))
		return b.finish(at)
	}
	tests := map[string]struct {
		content []byte
		want    error
	}{
		"no W":                    {stream("", ""), ErrDamaged},
		"W of two":                {stream("/W [1 2]", ""), ErrDamaged},
		"W of four":               {stream("/W [1 2 1 1]", ""), ErrUnsupported},
		"W of nothing":            {stream("/W [0 0 0]", ""), ErrUnsupported},
		"W below 0":               {stream("/W [1 -2 1]", ""), ErrDamaged},
		"W above 8":               {stream("/W [1 9 1]", ""), ErrDamaged},
		"too few entries":         {stream("/W [1 2 1] /Index [0 2]", "\x00\x00\x00\x00\x00"), ErrDamaged},
		"Index below 0":           {stream("/W [1 2 1] /Index [-1 1]", ""), ErrDamaged},
		"Index with a huge count": {stream("/W [1 2 1] /Index [0 9223372036854775807]", ""), ErrLimit},
		"Index with huge counts":  {stream("/W [1 2 1] /Index [0 4000000 0 4000000]", ""), ErrLimit},
		"Index with a huge first": {stream("/W [1 2 1] /Index [9223372036854775807 1]", ""), ErrLimit},
		"unknown filter":          {stream("/W [1 2 1] /Filter /JPXDecode", ""), ErrUnsupported},
		"wrong Length":            {bytes.Replace(stream("/W [1 2 1]", "\x00\x00\x00\x00"), []byte("/Length 4"), []byte("/Length 3"), 1), ErrDamaged},
		"indirect Length":         {bytes.Replace(stream("/W [1 2 1]", "\x00\x00\x00\x00"), []byte("/Length 4"), []byte("/Length 4 0 R"), 1), ErrDamaged},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := Open(bytes.NewReader(test.content), int64(len(test.content))); !errors.Is(err, test.want) {
				t.Errorf("error %v, want %v", err, test.want)
			}
		})
	}
}

// In a hybrid file the table wins over its XRefStm, and that over Prev (7.5.8.4).
func TestHybridFile(t *testing.T) {
	f := mustOpen(t, hybridFile())
	if n, err := f.PageCount(); n != 1 || err != nil {
		t.Errorf("%d pages, error %v; want 1", n, err)
	}
	if f.sections[0].stream {
		t.Error("the last section counts as a stream")
	}
}

// The trailer of an update may be a copy, XRefStm and all, which is no circle.
func TestHybridFileWithXRefStmTwice(t *testing.T) {
	b := newBuilder()
	b.object(1, "<< /Type /Catalog /Pages 2 0 R >>")
	compressed := b.objectStream(4, map[int]string{2: "<< /Kids [3 0 R] >>", 3: "<< /Rotate 90 >>"})
	at := b.here()
	b.writeXRefStream(5, 6, compressed, "")
	delete(b.offsets, 5)
	trailer := fmt.Sprintf("/Root 1 0 R /XRefStm %d", at)
	b.table(6, trailer)
	b.object(3, "<< /Rotate 180 >>")
	f := mustOpen(t, b.table(6, trailer))
	if page, err := f.Page(1); err != nil || page.Rotate != 180 || len(f.sections) != 2 {
		t.Errorf("page %+v, error %v, in %d sections", page, err, len(f.sections))
	}
}

// Prev may be written as a real number without a fraction.
func TestPrevious(t *testing.T) {
	tests := map[string]struct {
		prev Object
		want int64
		more bool
		err  error
	}{
		"none":             {nil, 0, false, nil},
		"integer":          {Integer(116), 116, true, nil},
		"real number":      {Real(116), 116, true, nil},
		"fraction":         {Real(116.5), 0, false, ErrDamaged},
		"beyond all files": {Real(1e300), 0, false, ErrDamaged},
		"reference":        {Ref{Num: 1}, 0, false, ErrDamaged},
		"name":             {Name("x"), 0, false, ErrDamaged},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, more, err := previous(Dict{"Prev": test.prev})
			if got != test.want || more != test.more || !errors.Is(err, test.err) {
				t.Errorf("%d, %v, error %v; want %d, %v, %v", got, more, err, test.want, test.more, test.err)
			}
		})
	}
}

func TestHybridFileRefuses(t *testing.T) {
	content := string(hybridFile())
	at := strings.Index(content, "xref\n0 1")
	for name, value := range map[string]string{"no offset": "/x", "a table": fmt.Sprint(at), "nothing there": "9", "outside": "99999"} {
		broken := regexp.MustCompile(`/XRefStm \d+`).ReplaceAllString(content, "/XRefStm "+value)
		if _, err := Open(strings.NewReader(broken), int64(len(broken))); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: error %v, want ErrDamaged", name, err)
		}
	}
}

// Entries of a table may be separated by any white space, and lead to nothing.
func TestTableEntries(t *testing.T) {
	tests := map[string]struct {
		entry string
		kind  entryKind
		err   error
	}{
		"7.5.4 in use":             {"0000000009 00000 n \n", uncompressedEntry, nil},
		"7.5.4 free":               {"0000000009 00001 f \n", freeEntry, nil},
		"19 bytes":                 {"0000000009 00000 n\n", uncompressedEntry, nil},
		"short numbers":            {"9\t0\tn\r", uncompressedEntry, nil},
		"at 0":                     {"0000000000 00000 n \n", freeEntry, nil},
		"generation out of bounds": {"0000000009 65536 n \n", freeEntry, nil},
		"outside of the file":      {"9223372036854775807 00000 n \n", uncompressedEntry, nil},
		"offset of 64 bits":        {"9223372036854775808 00000 n \n", freeEntry, ErrDamaged},
		"other letter":             {"0000000009 00000 x \n", freeEntry, ErrDamaged},
		"below 0":                  {"-000000009 00000 n \n", freeEntry, ErrDamaged},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBuilder()
			b.object(1, "(x)")
			at := b.here()
			b.WriteString("xref\n1 1\n" + test.entry + "trailer\n<< /Size 2 >>\n")
			content := b.finish(at)
			f, err := Open(bytes.NewReader(content), int64(len(content)))
			if !errors.Is(err, test.err) {
				t.Fatalf("error %v, want %v", err, test.err)
			}
			if err == nil && f.entries.get(1).kind != test.kind {
				t.Errorf("%+v, want kind %d", f.entries.get(1), test.kind)
			}
		})
	}
}
