package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/ades/report"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
	"github.com/innsigli/innsigli/internal/test/validators"
)

// portalSigners are how many sign one document at once, on a page that has room for them.
var portalSigners = inFull(64, 24)

// inFull returns full with INNSIGLI_FULL=1, and else sample.
func inFull(full, sample int) int {
	if testenv.Full() {
		return full
	}
	return sample
}

var poster = pdftest.Build(pdftest.Options{Page: "/MediaBox [0 0 1400 1000]"})

// spec 6.4: of all who sign at once, one does so at a time, and the others hear that
// they are to come again. In the end each has one signature in the document.
func TestPortalCrowd(t *testing.T) {
	testenv.Slow(t, "a crowd signs")
	t.Parallel()
	program := build(t)
	for name, store := range map[string]func(*testing.T) string{
		"bbolt":    func(t *testing.T) string { return "bolt:" + filepath.Join(shortFolder(t), "store.db") },
		"Postgres": func(t *testing.T) string { return postgrestest.Database(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			place := store(t)
			server := startSandbox(t, program, place, nil, "--master-key-file", filepath.Join(shortFolder(t), "master.key"))
			c := server.signIn(t)
			signed := crowdSigns(t, c)
			path := filepath.Join(shortFolder(t), "poster.pdf")
			if err := os.WriteFile(path, signed, 0o600); err != nil {
				t.Fatal(err)
			}
			checkCrowd(t, program, server.RootCertificate, path)
			if rest, err := server.stop(); err != nil || rest != "" {
				t.Errorf("the end of the server: %q, %v\n%s", rest, err, server.talk())
			}
			checkPlace(t, place, 1, int64(len(signed)), int64(portalSigners))
		})
	}
}

// crowdSigns has all sign at once, and returns what they have signed.
func crowdSigns(t *testing.T, c *client) []byte {
	t.Helper()
	var who []person
	var users []string
	for i := range portalSigners {
		who = append(who, numbered(i))
		users = append(users, c.must(t, http.MethodPost, "/api/v1/sandbox/users", who[i].profile()).UUID)
	}
	process := c.createProcess(t, processText(poster, who...)).processReply
	var group errgroup.Group
	var turnedAway atomic.Int64
	for i := range portalSigners {
		group.Go(func() error {
			body := fmt.Sprintf(`{"sandboxUserId":%q}`, users[i])
			for {
				a, err := c.call(t.Context(), http.MethodPost, process.answerPath(i, "sign"), strings.NewReader(body))
				switch {
				case err != nil:
					return err
				case a.Status == http.StatusNoContent:
					return nil
				case a.Status != http.StatusLocked:
					return fmt.Errorf("%s: %v %s", who[i].name, a, a.Body)
				}
				turnedAway.Add(1)
				pause(time.Duration(1000+10*i) * time.Millisecond)
			}
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	t.Logf("figure: %d people sign one document at once; %d calls were told that another signature is in progress", portalSigners, turnedAway.Load())
	if turnedAway.Load() == 0 {
		t.Error("no two people signed at the same time")
	}
	a, err := c.call(t.Context(), http.MethodGet, processesPath+"/"+process.ProcessID+"/document", nil)
	if err != nil || a.Status != http.StatusOK {
		t.Fatalf("the document: %v, %v", a, err)
	}
	return a.Content
}

// checkCrowd: each person's signature is in the document once, and verifies.
func checkCrowd(t *testing.T, program, root, path string) {
	t.Helper()
	roots := filepath.Join(filepath.Dir(path), "root.pem")
	if err := os.WriteFile(roots, []byte(root), 0o600); err != nil {
		t.Fatal(err)
	}
	var got report.Document
	verified, err := exec.Command(program, "verify", "--json", "--trust", roots, path).Output()
	if err := json.Unmarshal(verified, &got); err != nil {
		t.Fatal(err)
	}
	if err != nil || !got.Passed {
		t.Errorf("passed: %v, %v, the first: %+v", got.Passed, err, got.Signatures[:min(1, len(got.Signatures))])
	}
	var by, want []string
	for i, one := range got.Signatures {
		by = append(by, one.SerialNumber+" "+one.Format)
		want = append(want, numbered(i).kennitala+" PAdES-BASELINE-LT")
	}
	slices.Sort(by)
	if diff := cmp.Diff(want, by); diff != "" || len(by) != portalSigners {
		t.Errorf("signed by %d (-want +got):\n%s", len(by), diff)
	}
	foreign, err := validators.PDFSig(t, validators.PDFSigOptions{}, path)
	if err != nil || len(foreign) != portalSigners || slices.ContainsFunc(foreign, func(s validators.PDFSigSignature) bool { return !s.Valid() }) {
		t.Errorf("pdfsig: %+v, %v", foreign, err)
	}
}
