package main

import (
	"bytes"
	"crypto/x509"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	catest "github.com/innsigli/innsigli/internal/test/ca"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/validators"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// writeSigner writes chain.pem, key.pem and root.pem for a signer of the authority, and in.pdf and in.xml
// to sign.
func writeSigner(t *testing.T, folder string, ca *sandboxca.Authority) {
	t.Helper()
	catest.WriteSigner(t, folder, ca)
	for name, content := range map[string][]byte{"in.pdf": pdftest.Build(pdftest.Options{}), "in.xml": []byte("<letter><sum>842</sum></letter>\n")} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// program runs the program in this process, in a folder.
func program(t *testing.T, folder string, args ...string) (status int, out, talk string) {
	t.Helper()
	t.Chdir(folder)
	var stdout, stderr bytes.Buffer
	status = run(t.Context(), args, &stdout, &stderr)
	return status, stdout.String(), stderr.String()
}

// "innsigli sign" makes every level and "innsigli extend" raises to each, over
// HTTP from addresses in certificates; EU DSS finds that level and passes it. The timestamps
// of an authority that leads to another root are passed over.
// In XML the other packings have it too.
func TestSignAndExtendToEachLevel(t *testing.T) {
	testenv.Slow(t, "foreign programs verify what is signed")
	t.Run("PDF", func(t *testing.T) { signAndExtendToEachLevel(t, "pdf", "PAdES-BASELINE-") })
	t.Run("XML", func(t *testing.T) {
		signAndExtendToEachLevel(t, "xml", "XAdES-BASELINE-", "enveloping", "internally-detached")
	})
}

func signAndExtendToEachLevel(t *testing.T, extension, baseline string, packings ...string) {
	ca := catest.New(t)
	address := catest.Serve(t, ca)
	folder := t.TempDir()
	writeSigner(t, folder, ca)
	untrusted := catest.Serve(t, catest.New(t)) + sandboxca.PathTimestamp
	over := []string{"--tsa", untrusted, "--tsa", address + sandboxca.PathTimestamp, "--trust", "root.pem", "--insecure-allow-private-addresses"}
	must := func(args ...string) {
		t.Helper()
		if status, _, talk := program(t, folder, append(args, over...)...); status != done {
			t.Fatalf("innsigli %v: exit status %d: %s", args, status, talk)
		}
	}
	formats := map[bool]map[string]string{true: {}, false: {}} // by whether they may lack revocation data
	made := func(name, level string) {
		formats[level == "B" || level == "T"][filepath.Join(folder, name+"."+extension)] = baseline + level
	}
	for _, level := range []string{"B", "T", "LT", "LTA"} {
		must("sign", "in."+extension, "--cert", "chain.pem", "--key", "key.pem", "--level", level, "-o", level+"."+extension)
		made(level, level)
	}
	for _, step := range [][3]string{
		{"B", "T", "T"}, {"B", "LT", "LT"}, {"B", "LTA", "LTA"}, {"T", "LTA", "LTA"}, {"LT", "LTA", "LTA"},
		{"LTA", "LTA", "LTA"}, {"LTA", "T", "LTA"}, // reached already
	} {
		name := step[0] + "-to-" + step[1]
		must("extend", step[0]+"."+extension, "--level", step[1], "-o", name+"."+extension)
		made(name, step[2])
	}
	for _, name := range []string{"B", "LTA"} {
		must("extend", name+"."+extension, "--level", "LTA", "--renew", "-o", name+"-renewed."+extension)
		made(name+"-renewed", "LTA")
	}
	for _, packing := range packings {
		must("sign", "in."+extension, "--cert", "chain.pem", "--key", "key.pem", "--packing", packing, "--level", "T", "-o", packing+"."+extension)
		made(packing, "T")
		for _, level := range []string{"LT", "LTA"} {
			must("extend", packing+"."+extension, "--level", level, "-o", packing+"-"+level+"."+extension)
			made(packing+"-"+level, level)
		}
	}
	for optional, want := range formats {
		options := validators.DSSOptions{Roots: []*x509.Certificate{ca.Root()}, RevocationOptional: optional}
		for _, report := range validators.DSS(t, options, slices.Sorted(maps.Keys(want))...) {
			if s := report.Signatures; len(s) != 1 || s[0].Format != want[report.File] || s[0].Indication != "TOTAL_PASSED" {
				t.Errorf("%s: want %s: %+v", report.File, want[report.File], s)
			}
		}
	}
}

// A level that cannot be had is an error, and nothing is written.
func TestLevelsThatCannotBeHad(t *testing.T) {
	ca := catest.New(t)
	address := catest.Serve(t, ca)
	folder := t.TempDir()
	writeSigner(t, folder, ca)
	sign := []string{"sign", "in.pdf", "--cert", "chain.pem", "--key", "key.pem", "-o", "out.pdf"}
	extend := []string{"extend", "in.pdf", "-o", "out.pdf"}
	tsa := address + sandboxca.PathTimestamp
	for _, test := range []struct {
		name   string
		args   []string
		status int
		says   string
	}{
		{"no TSA", append(sign, "--level", "T"), failed, "no authority is configured"},
		{"TSA that is none", append(sign, "--level", "T", "--tsa", "ftp://tsa.example"), usage, "is not an http or https URL"},
		{"TSA that answers something else", append(sign, "--level", "T", "--tsa", address+sandboxca.PathCRL), failed, "no timestamp"},
		{"addresses that are not public", append(sign, "--level", "LT", "--tsa", tsa), failed, "address not allowed"},
		{"level that is none", append(sign, "--level", "Q"), usage, "level"},
		{"nothing signed", append(extend, "--level", "LT", "--trust", "root.pem"), failed, "has no signature"},
		{"no roots", append(extend, "--level", "LT"), usage, "--trust"},
		{"a renewal of less than LTA", append(extend, "--level", "LT", "--trust", "root.pem", "--renew"), usage, "--renew requires --level LTA"},
		{"to level B", append(extend, "--level", "B"), usage, "--level"},
	} {
		t.Run(test.name, func(t *testing.T) {
			status, _, talk := program(t, folder, test.args...)
			if status != test.status || !strings.Contains(talk, test.says) {
				t.Errorf("exit status %d, want %d; %q does not say %q", status, test.status, talk, test.says)
			}
			if written, err := filepath.Glob("out.pdf*"); err != nil || len(written) > 0 {
				t.Error("written:", written, err)
			}
		})
	}
}

// "innsigli extend --level LTA" leaves a file of that level as it is, and with --renew puts
// a document timestamp over it each time (EN 319 142-1 5.5).
func TestRenew(t *testing.T) {
	ca := catest.New(t)
	address := catest.Serve(t, ca)
	folder := t.TempDir()
	writeSigner(t, folder, ca)
	innsigli, err := exec.LookPath("innsigli")
	if err != nil {
		t.Fatal(err)
	}
	file := "in.pdf"
	for _, step := range []struct {
		args   []string
		stamps int
	}{
		{[]string{"sign", "--cert", "chain.pem", "--key", "key.pem", "--level", "LTA"}, 1},
		{[]string{"extend", "--level", "LTA"}, 1},
		{[]string{"extend", "--level", "LTA", "--renew"}, 2},
		{[]string{"extend", "--level", "LTA"}, 2},
		{[]string{"extend", "--level", "LTA", "--renew"}, 3},
	} {
		next := fmt.Sprintf("%d-%s", step.stamps, file)
		command := exec.Command(innsigli, append(step.args, file, "-o", next, "--trust", "root.pem",
			"--tsa", address+sandboxca.PathTimestamp, "--insecure-allow-private-addresses")...)
		command.Dir = folder
		if talk, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", step.args, err, talk)
		}
		if n := bytes.Count(testenv.ReadFile(t, filepath.Join(folder, next)), []byte("/SubFilter /ETSI.RFC3161")); n != step.stamps {
			t.Errorf("%v: %d document timestamps, want %d", step.args, n, step.stamps)
		}
		file = next
	}
}
