package main

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/ades/report"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// What docs/xml.md has typed, typed as it stands there but for the authority's address.
func TestXMLPaperSigns(t *testing.T) {
	shell := testenv.Program(t, "sh")
	if _, err := exec.LookPath("innsigli"); err != nil {
		t.Fatal(err)
	}
	blocks := testenv.Blocks(t, "docs/xml.md", "sh")
	if len(blocks) != 1 || strings.Count(blocks[0], "https://tsa.example/") != 1 {
		t.Fatalf("%q", blocks)
	}
	ca := catest.New(t)
	tsa := catest.Serve(t, ca) + sandboxca.PathTimestamp
	folder := t.TempDir()
	writeSigner(t, folder, ca)
	for from, to := range map[string]string{"in.xml": "invoice.xml", "root.pem": "roots.pem"} {
		if err := os.Rename(filepath.Join(folder, from), filepath.Join(folder, to)); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.CommandContext(t.Context(), shell, "-e", "-c", strings.Replace(blocks[0], "https://tsa.example/", tsa, 1))
	command.Dir = folder
	command.Env = append(os.Environ(), "INNSIGLI_INSECURE_ALLOW_PRIVATE_ADDRESSES=true") // the authority is on this machine
	if said, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	for name, level := range map[string]string{"signed.xml": "B", "archived.xml": "LTA"} {
		wantXML(t, filepath.Join(folder, name), filepath.Join(folder, "roots.pem"), report.Signature{
			Format: "XAdES-BASELINE-" + level, Signer: "Local Signer", Location: "Akureyri, IS", Coverage: ades.WholeDocument,
		})
	}
}

// The body that it has makes such a signature in the API.
func TestXMLPaperStarts(t *testing.T) {
	program, err := exec.LookPath("innsigli")
	if err != nil {
		t.Fatal(err)
	}
	folder := shortFolder(t)
	p := startSandbox(t, program, "bolt:"+filepath.Join(folder, "store.db"), nil)
	c := p.signIn(t)
	c.addPeople(t, people[0]) // whose kennitala the paper has
	bodies := testenv.Blocks(t, "docs/xml.md", "json")
	if len(bodies) != 1 || strings.Count(bodies[0], "…") != 1 {
		t.Fatalf("%q", bodies)
	}
	body := strings.Replace(bodies[0], "…", base64.StdEncoding.EncodeToString([]byte(invoice)), 1)
	started := c.must(t, http.MethodPost, "/api/v1/signing", body)
	ended, err := c.pollOn(t.Context(), started.PollingID)
	if err != nil || ended.Status != http.StatusOK {
		t.Fatalf("%v, %v", ended, err)
	}
	for name, content := range map[string][]byte{"signed.xml": ended.SignedFile, "root.pem": []byte(p.RootCertificate)} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if object := "<ds:Object "; !strings.Contains(string(ended.SignedFile), object) {
		t.Errorf("no %s", object)
	}
	wantXML(t, filepath.Join(folder, "signed.xml"), filepath.Join(folder, "root.pem"), report.Signature{
		Format: "XAdES-BASELINE-LTA", Signer: people[0].name, Location: "Akureyri, IS", Reason: "Samþykkt", Coverage: ades.WholeDocument,
	})
}

// wantXML checks that a file passes, and what is said of its only signature.
func wantXML(t *testing.T, path, roots string, want report.Signature) {
	t.Helper()
	var got report.Document
	if err := json.Unmarshal([]byte(output(t, done, "verify", "--json", "--trust", roots, path)), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Signatures) != 1 || !got.Passed {
		t.Fatalf("%+v", got)
	}
	s := got.Signatures[0]
	said := report.Signature{Format: s.Format, Signer: s.Signer, Location: s.Location, Reason: s.Reason, Coverage: s.Coverage}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Error(diff)
	}
}
