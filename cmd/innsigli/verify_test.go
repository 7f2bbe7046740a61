package main

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/ades/report"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// "--online" asks for the revocation data that a file lacks, where a certificate leads to a root, and through the
// guard: without the flag for trials, nobody on this machine is called.
func TestVerifyOnline(t *testing.T) {
	ca := catest.New(t)
	catest.Serve(t, ca)
	t.Chdir(t.TempDir())
	writeSigner(t, ".", ca)
	for _, name := range []string{"in.pdf", "in.xml"} {
		output(t, done, "sign", name, "--cert", "chain.pem", "--key", "key.pem", "-o", "signed-"+name)
		for _, test := range []struct {
			flags []string
			want  ades.Indication
		}{
			{nil, ades.Indeterminate},
			{[]string{"--online"}, ades.Indeterminate},
			{[]string{"--online", "--insecure-allow-private-addresses"}, ades.TotalPassed},
		} {
			var got report.Document
			args := append([]string{"verify", "signed-" + name, "--json", "--trust", "root.pem"}, test.flags...)
			if err := json.Unmarshal([]byte(output(t, done, args...)), &got); err != nil {
				t.Fatal(err)
			}
			if s := got.Signatures; len(s) != 1 || s[0].Indication != test.want {
				t.Errorf("%v: want %s: %+v", args, test.want, got)
			}
		}
	}
}

// "--timestamp-trust" has the roots of timestamp authorities, and "--trust" those of signers alone then.
func TestTimestampTrust(t *testing.T) {
	ca, stamps := catest.New(t), catest.New(t)
	catest.Serve(t, ca)
	url := catest.Serve(t, stamps) + sandboxca.PathTimestamp
	t.Chdir(t.TempDir())
	writeSigner(t, ".", ca)
	if err := os.WriteFile("stamps.pem", stamps.RootPEM(), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"in.pdf", "in.xml"} {
		trust := []string{"--trust", "root.pem", "--timestamp-trust", "stamps.pem"}
		output(t, done, append([]string{"sign", name, "--cert", "chain.pem", "--key", "key.pem", "--level", "LT", "--tsa", url,
			"--insecure-allow-private-addresses", "-o", "signed-" + name}, trust...)...)
		for _, test := range []struct {
			trust   []string
			trusted bool
		}{
			{trust, true},
			{trust[:2], false},
			{[]string{"--trust", "root.pem", "--timestamp-trust", "root.pem"}, false},
		} {
			var got report.Document
			args := append([]string{"verify", "signed-" + name, "--json"}, test.trust...)
			if err := json.Unmarshal([]byte(output(t, done, args...)), &got); err != nil {
				t.Fatal(err)
			}
			if s := got.Signatures; len(s) != 1 || len(s[0].Timestamps) != 1 || s[0].Timestamps[0].Trusted != test.trusted {
				t.Errorf("%v: %+v", args, got)
			}
		}
	}
}
