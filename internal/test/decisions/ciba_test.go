package decisions

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docs/decisions/ciba.md: the libraries for OpenID Connect and OAuth 2.0 have nothing of CIBA.
func TestCIBA(t *testing.T) {
	word := regexp.MustCompile(`(?i)\bciba\b|backchannel_authentication|auth_req_id|bc-authorize`)
	for _, module := range []string{"github.com/coreos/go-oidc/v3", "golang.org/x/oauth2", "github.com/go-jose/go-jose/v4"} {
		files, hits := 0, 0
		err := filepath.WalkDir(source(t, module), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") {
				return err
			}
			content, err := os.ReadFile(path)
			files++
			hits += len(word.FindAll(content, -1))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		shows(t, "ciba.md", "%s: %d mentions of CIBA", module, hits)
		if hits > 0 || files == 0 {
			t.Errorf("%s has something of CIBA, or no files: look again", module)
		}
	}
}
