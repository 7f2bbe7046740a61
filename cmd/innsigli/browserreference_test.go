package main

import (
	"os"
	"path/filepath"
	"testing"

	browsertest "github.com/innsigli/innsigli/internal/test/browser"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// The page at /reference in a real browser: all that the document describes is on it, it asks nobody but
// the server, and a token and a call are had on it.
func TestReferencePage(t *testing.T) {
	testenv.Slow(t, "a browser")
	t.Parallel()
	browsertest.Needed(t)
	p := startSandbox(t, installed(t), "bolt:"+filepath.Join(shortFolder(t), "store.db"), nil)
	stage := browsertest.Stage{BaseURL: p.BaseURL, API: p.BaseURL, Client: browsertest.Client{ID: clientID, Secret: clientSecret}}
	if os.Getenv("INNSIGLI_SCREENSHOTS") == "1" {
		stage.Screenshots = screenshotFolder(t)
	}
	browsertest.Play(t, stage)
}
