package handbook_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// What the introduction of the sandbox's OpenAPI document has typed signs a file, as it stands there.
func TestFirstStepsOfTheDocument(t *testing.T) {
	testenv.Slow(t, "what the document types is run")
	s := theSandbox(t)
	blocks := parsePage("openapi.json", []byte(apiDocument(t).Info.Description)).blocks
	if len(blocks) != 1 || blocks[0].info != "sh" {
		t.Fatalf("the introduction has the blocks %q", blocks)
	}
	for _, tool := range []string{"curl", "jq"} {
		testenv.Program(t, tool)
	}
	place := folder(t)
	write(t, filepath.Join(place, "contract.pdf"), contents(t, filepath.Join(place, "document.pdf")))
	write(t, filepath.Join(place, "root.pem"), []byte(s.RootCertificate))
	command := exec.CommandContext(t.Context(), testenv.Program(t, "bash"), "-euo", "pipefail", "-c", blocks[0].text+"\ninnsigli verify signed.pdf --trust root.pem")
	command.Dir, command.Env = place, environment(t, "CLIENT_ID="+s.ClientID, "CLIENT_SECRET="+s.ClientSecret)
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s\n--- printed:\n%s", err, blocks[0].text, output)
	}
}
