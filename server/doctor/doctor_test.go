package doctor

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"

	"github.com/innsigli/innsigli/idp/ciba"
	"github.com/innsigli/innsigli/server/config"
)

// What explains a difference between clocks is none.
func TestSkew(t *testing.T) {
	second := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct{ began, ended, want time.Duration }{
		{0, 0, 0}, {-time.Second, 0, 0}, {900 * time.Millisecond, 900 * time.Millisecond, 0}, {0, 10 * time.Second, 0},
		{-5 * time.Second, -4 * time.Second, 4 * time.Second}, {5 * time.Second, 6 * time.Second, -4 * time.Second},
	} {
		if got := skewOf(second, second.Add(test.began), second.Add(test.ended)); got != test.want {
			t.Errorf("from %v to %v: %v, want %v", test.began, test.ended, got, test.want)
		}
	}
}

// An authority that does not answer takes no time from the next one.
func TestDoctorAsksSideBySide(t *testing.T) {
	asked := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-asked:
		case <-r.Context().Done():
		}
	}))
	defer slow.Close()
	answered := sync.OnceFunc(func() { close(asked) })
	quick := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { answered() }))
	defer quick.Close()
	path := filepath.Join(t.TempDir(), "conf.toml")
	if err := os.WriteFile(path, []byte(fmt.Sprintf("[[timestamp]]\nurl = %q\n[[timestamp]]\nurl = %q\n", slow.URL, quick.URL)), 0o600); err != nil {
		t.Fatal(err)
	}
	file, faults := config.ReadFile(path)
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	d := doctor{&config.Config{File: file}}
	for _, line := range runAll(t.Context(), d.timestamps()) {
		if line.Verdict == Fault && strings.Contains(line.Says, "deadline") {
			t.Errorf("%s: %s", line.Check, line.Says)
		}
	}
	select {
	case <-asked:
	default:
		t.Error("the second was not asked")
	}
}

// A topic that there is no place for is not left out.
func TestEveryTopicIsSaid(t *testing.T) {
	var r Results
	r.addReport(ciba.Report{Problems: []ciba.Problem{{Topic: "weather", Text: "it rains"}}}, config.Provider{}, nil)
	if last := r[len(r)-1]; last != (Finding{Fault, "weather", "it rains", ""}) {
		t.Errorf("%+v", r)
	}
}

// A folder for the page renderer that others can write to is doubtful.
func TestUnsafeRendererFolder(t *testing.T) {
	testenv.Slow(t, "the page renderer is compiled")
	t.Parallel()
	folder := t.TempDir()
	cache := filepath.Join(folder, "cache")
	for _, made := range []string{cache, filepath.Join(cache, "of-others")} {
		if err := errors.Join(os.Mkdir(made, 0o700), os.Chmod(made, 0o777)); err != nil {
			t.Fatal(err)
		}
	}
	var r Results // of a doctor with all the time that it takes to compile
	c := &config.Config{Store: config.Store{Path: filepath.Join(folder, "store.db")}, Flags: config.Flags{RendererFlag: config.RendererFlag{RendererCache: cache}}}
	doctor{c}.renderer(t.Context(), &r)
	if len(r) != 1 || r[0].Verdict != Doubt || !strings.Contains(r[0].Says, cache) {
		t.Errorf("the doctor: %+v", r)
	}
}
