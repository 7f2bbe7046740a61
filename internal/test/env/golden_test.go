package env

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

// refused is a test that notes its errors.
type refused struct {
	testing.TB
	errors []string
}

func (r *refused) Helper() {}

func (r *refused) Errorf(format string, arguments ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, arguments...))
}

// A golden file is written once, keeps its bytes, and fails a test that makes other bytes.
func TestGoldenFiles(t *testing.T) {
	t.Setenv("INNSIGLI_GOLDEN", "1")
	path := filepath.Join(t.TempDir(), "testdata", "values.json")
	values := map[string][]byte{"b": []byte(`"<&>"`), "a": []byte(`{"x":1}`)}
	if got := SameAsGoldenJSON(t, path, values); string(got["a"]) != `{"x":1}` || string(got["b"]) != `"<&>"` {
		t.Errorf("%s", got)
	}
	values["a"] = []byte(`{"y":1}`)
	var r refused
	SameAsGoldenJSON(&r, path, values)
	if len(r.errors) != 1 {
		t.Errorf("%q", r.errors)
	}
	if content, err := os.ReadFile(path); err != nil || string(content) != "{\n\t\"a\": {\"x\":1},\n\t\"b\": \"<&>\"\n}\n" {
		t.Errorf("%s, %v", content, err)
	}
}

func TestFilled(t *testing.T) {
	type inner struct{ A, B int }
	type outer struct {
		inner
		Text    string
		At      time.Time
		Pointer *inner
		List    []inner
		hidden  int
	}
	full := outer{inner{1, 2}, "text", time.Unix(1, 0), &inner{1, 2}, []inner{{1, 2}}, 0}
	Filled(t, full)
	full.inner.B, full.Text, full.Pointer, full.List = 0, "", &inner{A: 1}, []inner{{B: 1}}
	var r refused
	Filled(&r, full)
	want := []string{"inner.B", "Text", "Pointer.B", "List[0].A"}
	for i := range want {
		want[i] = "env.outer." + want[i] + " is not set"
	}
	if !reflect.DeepEqual(want, r.errors) {
		t.Errorf("%q", r.errors)
	}
}
