package pdfium

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"

	"github.com/google/go-cmp/cmp"
)

// Who has no folder for it is not told that it is kept.
func TestColdRendererWithoutFolder(t *testing.T) {
	t.Parallel()
	var said []string
	renderer := New(Options{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := renderer.WarmTelling(ctx, func(text string) {
		said = append(said, text)
		cancel()
	})
	if diff := cmp.Diff([]string{"compiling the page renderer"}, said); diff != "" || !errors.Is(err, context.Canceled) {
		t.Errorf("%v\n%s", err, diff)
	}
	if err := renderer.Close(); err != nil {
		t.Error(err)
	}
}

// A folder that others can write to is not used, and it is said.
func TestCodeThatIsNotKept(t *testing.T) {
	testenv.Slow(t, "the page renderer is compiled")
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "cache")
	for _, made := range []string{folder, filepath.Join(folder, "of-others")} {
		if err := errors.Join(os.Mkdir(made, 0o700), os.Chmod(made, 0o777)); err != nil {
			t.Fatal(err)
		}
	}
	for cache, wants := range map[string]string{"": "", testenv.RendererCache(): "", folder: "not kept: " + folder + " has to be a folder"} {
		renderer := New(Options{Cache: cache})
		if wants == "" && cache != "" {
			if _, err := renderer.Warm(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if got := renderer.notKept(); !strings.Contains(got, wants) || (got == "") != (wants == "") {
			t.Errorf("of %q: %q", cache, got)
		}
		if err := renderer.Close(); err != nil {
			t.Error(err)
		}
	}
}
