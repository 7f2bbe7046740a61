package handbook_test

import (
	"path/filepath"
	"regexp"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// TestImagesArePinned checks that each image of others is named with its tag and its digest, and everywhere with the same.
func TestImagesArePinned(t *testing.T) {
	image := regexp.MustCompile(`(?m)^\s*(?:FROM |image: |container: )([^\s#]+)`)
	pinned := regexp.MustCompile(`^docker\.io/library/([a-z]+):[0-9][\w.-]*@sha256:[0-9a-f]{64}$`)
	seen := make(map[string]string)
	for _, file := range []string{"deploy/Containerfile", "deploy/compose/compose.yaml", ".github/workflows/checks.yml"} {
		for _, found := range image.FindAllSubmatch(contents(t, filepath.Join(testenv.Root(t), file)), -1) {
			name := string(found[1])
			switch name {
			case "scratch", "innsigli": // nothing, and what the Containerfile makes
				continue
			}
			parts := pinned.FindStringSubmatch(name)
			if parts == nil {
				t.Errorf("%s: image %s is not pinned by a digest", file, name)
				continue
			}
			if other := seen[parts[1]]; other != "" && other != name {
				t.Errorf("%s: image %s is elsewhere %s", file, name, other)
			}
			seen[parts[1]] = name
		}
	}
	for _, name := range []string{"golang", "postgres", "haproxy"} {
		if seen[name] == "" {
			t.Errorf("no image %s was found", name)
		}
	}
}
