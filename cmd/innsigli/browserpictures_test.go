package main

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// Each picture of a page is in its documentation, wide enough to read and not too large to load.
func TestPicturesOfPagesAreShown(t *testing.T) {
	testenv.Slow(t, "a browser")
	shown := string(testenv.ReadFile(t, filepath.Join("..", "..", "docs", "signing-page.md")))
	pictures, err := os.ReadDir(screenshotFolder(t))
	if err != nil || len(pictures) == 0 {
		t.Fatalf("%d pictures, %v", len(pictures), err)
	}
	for _, one := range pictures {
		content := testenv.ReadFile(t, filepath.Join(screenshotFolder(t), one.Name()))
		looks, err := png.DecodeConfig(bytes.NewReader(content))
		if err != nil || looks.Width < 640 || looks.Width > 1000 || len(content) > 150<<10 {
			t.Errorf("%s: %d pixels wide, %d bytes, %v", one.Name(), looks.Width, len(content), err)
		}
		if !strings.Contains(shown, "screenshots/"+one.Name()) {
			t.Errorf("docs/signing-page.md does not show %s", one.Name())
		}
	}
}

// screenshotFolder is where pictures of the pages are kept.
func screenshotFolder(t *testing.T) string {
	t.Helper()
	folder, err := filepath.Abs(filepath.Join("..", "..", "docs", "screenshots"))
	if err == nil {
		err = os.MkdirAll(folder, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	return folder
}
