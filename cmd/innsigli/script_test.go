package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	catest "github.com/innsigli/innsigli/internal/test/ca"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/bolt"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
)

// The scripts of testdata/script are the contract with scripts that call the program, command by command. Beside
// the commands of package testscript they have
//
//	status N innsigli ARGUMENTS   like exec, and the exit status is N
//	sandbox [FLAGS]               starts "innsigli sandbox --json" on a free port; its
//	                              line is in ready.json, and BASE, CLIENT_ID and
//	                              CLIENT_SECRET ("null" when it is null) are set
//	stop-server [REGEXP]          ends it with an interrupt: status 0, no more output, and on
//	                              stderr nothing, or what the expression says
//	kill-sandbox                  ends it with SIGKILL
//	ready                         waits until it is ready
//	sign                          has a document signed in the sandbox by a new sandbox user
//	process                       has a process made in the sandbox, of two signers and a
//	                              viewer, and the first of them sign; its ID is in PROCESS
//	token ID SECRET               asks the sandbox for a token, prints status and scope
//	capture NAME REGEXP           sets NAME to the first group in the last stdout
//	mode FILE PERMISSIONS         checks a file's permissions
//	stamped FILE CORNER           checks that page 1 has a stamp in a corner
//	jobs FILE                     stores two jobs of the kind "trial" in a bbolt store: one is parked, one waits for 2036
//	break FILE OUT                copies a file with one byte changed: 842, in the PDFs a page's height, is 841
//
// and the files table.pdf and stream.pdf, unsigned, wide.xml, which is in UTF-16, full.pdf, which has no room for a stamp,
// field.pdf with the empty signature field "Buyer" and usage rights, and for the signers p256 and rsa3072 a chain and a key,
// under the root in root.pem.
func TestScripts(t *testing.T) {
	testscript.Run(t, scriptParams("script"))
}

func scriptParams(folder string) testscript.Params {
	return testscript.Params{
		Dir:                 filepath.Join("testdata", folder),
		Setup:               scriptFiles,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status":       scriptStatus,
			"sandbox":      scriptSandbox,
			"stop-server":  scriptStop,
			"kill-sandbox": scriptKill,
			"ready":        scriptReady,
			"sign":         scriptSign,
			"process":      scriptProcess,
			"token":        scriptToken,
			"capture":      scriptCapture,
			"mode":         scriptMode,
			"break":        scriptBreak,
			"stamped":      scriptStamped,
			"empty":        scriptEmpty,
			"absent":       scriptAbsent,
			"join":         scriptJoin,
			"jobs":         scriptJobs,
		},
	}
}

// In a script a builtin command of package testscript takes precedence over a command of ours with the same name, and the
// builtin "stop" ends a script as passed. So no command of ours has the name of a builtin, and no script uses "stop".
func TestScriptCommands(t *testing.T) {
	var called []string
	commands := scriptParams("script").Cmds
	names := slices.Sorted(maps.Keys(commands))
	for _, name := range names {
		commands[name] = func(*testscript.TestScript, bool, []string) { called = append(called, name) }
	}
	file := filepath.Join(t.TempDir(), "all.txtar")
	if err := os.WriteFile(file, []byte(strings.Join(names, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("all", func(t *testing.T) { // waits for the script, which runs in parallel
		testscript.Run(t, testscript.Params{Files: []string{file}, Cmds: commands})
	})
	if diff := cmp.Diff(names, called); diff != "" {
		t.Errorf("commands that testscript did not call have the name of a builtin, or follow one that ended the script (-want +got):\n%s", diff)
	}

	files, err := filepath.Glob(filepath.Join("testdata", "*", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	builtin := regexp.MustCompile(`(?m)^[ \t]*(\[[^\]]*\][ \t]*)*stop([ \t].*)?$`)
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if line := builtin.Find(content); line != nil {
			t.Errorf("%s: %q ends the script: the command that stops the server is stop-server", file, line)
		}
	}
}

// scriptFiles makes what the scripts find in their folder.
func scriptFiles(env *testscript.Env) error {
	env.Values[running{}] = new(*sandboxProcess)
	env.Setenv(cacheVariable, os.Getenv(cacheVariable))
	files, err := catest.SignerFiles()
	if err != nil {
		return err
	}
	for _, kind := range pdftest.Kinds {
		files[string(kind)+".pdf"] = pdftest.Build(pdftest.Options{Kind: kind})
	}
	files["field.pdf"] = pdftest.Build(pdftest.Options{
		Catalog: "/AcroForm << /Fields [100 0 R] >> /Perms << /UR3 << /Type /Sig >> >>",
		Page:    "/Annots [100 0 R]",
		Objects: []string{"<< /FT /Sig /T (Buyer) /Type /Annot /Subtype /Widget /Rect [10 10 110 60] /P 10 0 R >>"},
	})
	files["full.pdf"] = pdftest.Build(pdftest.Options{
		Page:    "/Annots [100 0 R]",
		Objects: []string{"<< /Type /Annot /Subtype /Square /Rect [0 0 595 842] >>"},
	})
	files["wide.xml"] = []byte("\xff\xfe<\x00l\x00e\x00t\x00t\x00e\x00r\x00/\x00>\x00")
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(env.WorkDir, name), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

func scriptStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N program [argument...]")
	}
	status, err := 0, ts.Exec(args[1], args[2:]...)
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		status = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if fmt.Sprint(status) != args[0] {
		ts.Fatalf("exit status %d, want %s", status, args[0])
	}
}

func scriptCapture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: capture NAME REGEXP")
	}
	found := regexp.MustCompile(args[1]).FindStringSubmatch(ts.ReadFile("stdout"))
	if found == nil {
		ts.Fatalf("no %q in stdout", args[1])
	}
	ts.Setenv(args[0], found[1])
}

func scriptJobs(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: jobs FILE")
	}
	db, err := bolt.Open(ts.MkAbs(args[0]), bolt.Options{})
	ts.Check(err)
	at := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	err = db.InTx(context.Background(), func(ctx context.Context) error {
		return db.Jobs().Enqueue(ctx,
			storage.Job{
				Kind: "trial", Group: sandboxAccount, Failures: 20, LastError: "because", FailedAt: at, Parked: true,
				Payload: []byte(`{"request":"6e1f5c9e-6c2f-4a0e-9a65-0f6d2a3c8b11","kennitala":"0101302989"}`),
			},
			storage.Job{Kind: "trial", Due: at.AddDate(10, 0, 0)})
	})
	ts.Check(err)
	ts.Check(db.Close())
}

func scriptMode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mode FILE PERMISSIONS")
	}
	stat, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if got := fmt.Sprintf("%04o", stat.Mode().Perm()); got != args[1] {
		ts.Fatalf("permissions %s, want %s", got, args[1])
	}
}

func scriptBreak(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: break FILE OUT")
	}
	before := ts.ReadFile(args[0])
	after := strings.Replace(before, "842", "841", 1)
	if before == after {
		ts.Fatalf("%s has no page to change", args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(after), 0o600))
}

// scriptAbsent checks that no file matches a pattern of filepath.Match: absent PATTERN.
func scriptAbsent(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: absent PATTERN")
	}
	found, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(found) > 0 {
		ts.Fatalf("there is %s", found[0])
	}
}

// scriptJoin writes what two files have into a third one: join FIRST SECOND OUT.
func scriptJoin(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: join FIRST SECOND OUT")
	}
	content := ts.ReadFile(args[0]) + ts.ReadFile(args[1])
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(content), 0o600))
}

// scriptEmpty checks that a folder has nothing in it: empty FOLDER.
func scriptEmpty(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: empty FOLDER")
	}
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(entries) > 0 {
		ts.Fatalf("%s has %s in it", args[0], entries[0].Name())
	}
}
