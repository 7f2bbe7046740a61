package webhook_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/webhook"
)

// guide returns docs/webhooks.md.
func guide(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(testenv.Root(t), "docs", "webhooks.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// block returns the code block of the guide that is in the language and contains a text.
func block(t *testing.T, language, containing string) string {
	t.Helper()
	var found []string
	for _, m := range regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$").FindAllStringSubmatch(guide(t), -1) {
		if m[1] == language && strings.Contains(m[2], containing) {
			found = append(found, m[2])
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d blocks of %s with %q", len(found), language, containing)
	}
	return found[0]
}

func shell(t *testing.T, folder, script string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), testenv.Program(t, "bash"), "-euo", "pipefail", "-c", script)
	command.Dir = folder
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return strings.TrimSpace(string(out))
}

// The guide has the keys and signatures of the vectors.
func TestGuideVectors(t *testing.T) {
	t.Parallel()
	rows := regexp.MustCompile("(?m)^\\| `([^`]+)`(?:, or `([^`]+)`)? \\| `(v1a?,[^`]+)` \\|$").FindAllStringSubmatch(guide(t), -1)
	if len(rows) != 3 {
		t.Fatalf("%d rows of vectors", len(rows))
	}
	for _, row := range rows {
		for _, key := range row[1:3] {
			if key == "" {
				continue
			}
			if err := webhook.VerifyAt(vectorTime, vectorHeaders(row[3]), []byte(vectorBody), mustParse(t, key)); err != nil {
				t.Errorf("%s: %v", key, err)
			}
		}
	}
	for _, text := range []string{vectorID, vectorBody, fmt.Sprint(vectorTime.Unix())} {
		if !strings.Contains(guide(t), "`"+text+"`") {
			t.Errorf("no %s", text)
		}
	}
}

// The guide's Go is part of an example that runs.
func TestGuideGo(t *testing.T) {
	t.Parallel()
	example, err := os.ReadFile("example_receive_test.go")
	if err != nil {
		t.Fatal(err)
	}
	squeezed := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	if code := block(t, "go", "webhook.Receiver"); !strings.Contains(squeezed(string(example)), squeezed(code)) {
		t.Errorf("not in the example:\n%s", code)
	}
}

// The guide's commands convert keys from one format to the other.
func TestGuideConvertsKeys(t *testing.T) {
	t.Parallel()
	testenv.Program(t, "basenc")
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "webhook-key.pub"), []byte(openSSHPublic+" webhooks\n"+openSSHPublic+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := shell(t, folder, "secret="+hexSecret+"\n"+block(t, "sh", "whsec_")); got != hexAsStandard {
		t.Error(got)
	}
	if got := shell(t, folder, block(t, "sh", "whpk_")); got != standardPublic {
		t.Error(got)
	}
}

// The guide's curl commands get the responses that the guide states.
func TestGuideCurl(t *testing.T) {
	t.Parallel()
	testenv.Program(t, "curl")
	testenv.Program(t, "openssl")
	receiver := webhook.Receiver{Keys: []webhook.Key{mustParse(t, hexSecret)}}
	server := httptest.NewServer(receiver.Handler(func(context.Context, webhook.Event) error { return nil }))
	defer server.Close()
	script := strings.ReplaceAll(block(t, "sh", "curl"), "https://example.com", server.URL)
	if got := shell(t, t.TempDir(), script); got != "204" {
		t.Error(got)
	}
	for _, change := range []*strings.Replacer{
		strings.NewReplacer("secret=0", "secret=1"),
		strings.NewReplacer("curl", "body=${body/ping/pong}\ncurl"),
	} {
		if got := shell(t, t.TempDir(), change.Replace(script)); got != "401" {
			t.Error(got)
		}
	}
}

// cases returns requests of the current time, and whether the keys verify them.
func cases(t *testing.T) []snippetCase {
	secret, private, now := mustHex(t, hexSecret), vectorKey(t), time.Now()
	other := strings.Replace(hexSecret, "00", "ff", 1)
	body := []byte("{\"name\":\"Jón\",\"raw\":\"\xff\"}\r\n")
	v1, v1a := webhook.SignV1(secret, "id", now, body), webhook.SignV1a(private, "id", now, body)
	late := now.Add(-6 * time.Minute)
	with := func(at time.Time, signatures ...string) http.Header { return headers("id", at, signatures...) }
	return []snippetCase{
		{"v1", with(now, v1), body, []string{hexSecret}, true},
		{"v1a", with(now, v1a), body, []string{openSSHPublic + " comment"}, true},
		{"both, one key", with(now, v1, v1a), body, []string{openSSHPublic}, true},
		{"behind others", with(now, "v2,AAAA", "v1,", "v1a,AAAA", "v1,????", "", v1), body, []string{other, openSSHPublic, hexSecret}, true},
		{"another secret", with(now, v1), body, []string{other}, false},
		{"another scheme's key", with(now, v1), body, []string{openSSHPublic}, false},
		{"another scheme's name", with(now, "v1a"+v1[2:], "v1"+v1a[3:]), body, []string{hexSecret, openSSHPublic}, false},
		{"another body", with(now, v1, v1a), body[1:], []string{hexSecret, openSSHPublic}, false},
		{"another time", with(now.Add(time.Second), v1, v1a), body, []string{hexSecret, openSSHPublic}, false},
		{"too late", with(late, webhook.SignV1(secret, "id", late, body)), body, []string{hexSecret}, false},
		{"a full stop", headers("i.d", now, webhook.SignV1(secret, "i.d", now, body)), body, []string{hexSecret}, false},
		{"no headers", http.Header{}, body, []string{hexSecret}, false},
		{"no keys", with(now, v1), body, nil, false},
	}
}

// snippetCase is a request, and whether it verifies.
type snippetCase struct {
	Name     string
	Header   http.Header
	Body     []byte
	Keys     []string
	Verifies bool
}

// The guide's verifiers for Node and Python accept the same requests as Verify.
func TestGuideVerifiers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		block, program string
		command        []string
	}{
		"Node":   {block(t, "js", "verify"), "verify.mjs", []string{testenv.Tool(t, "openid/bin/node"), "run.mjs"}},
		"Python": {block(t, "python", "verify"), "verify.py", []string{testenv.Tool(t, "pyhanko/bin/python"), "run.py"}},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			if err := os.WriteFile(filepath.Join(folder, test.program), []byte(test.block), 0o600); err != nil {
				t.Fatal(err)
			}
			want, all := make(map[string]bool), cases(t)
			for _, c := range all {
				want[c.Name] = c.Verifies
			}
			got := make(map[string]bool)
			runForeign(t, folder, test.command, asForeign(all), &got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// asForeign returns requests as other languages represent them, with one value for each header name in lower case.
func asForeign(all []snippetCase) []map[string]any {
	var out []map[string]any
	for _, c := range all {
		h := make(map[string]string)
		for name := range c.Header {
			h[strings.ToLower(name)] = c.Header.Get(name)
		}
		out = append(out, map[string]any{"name": c.Name, "headers": h, "body": c.Body, "keys": append([]string{}, c.Keys...)})
	}
	return out
}

// runForeign runs a program of testdata/foreign in a folder, with JSON as its input and output.
func runForeign(t *testing.T, folder string, command []string, in, out any) {
	t.Helper()
	if err := os.CopyFS(folder, os.DirFS(filepath.Join("testdata", "foreign"))); err != nil {
		t.Fatal(err)
	}
	input, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), command[0], command[1:]...)
	var stderr bytes.Buffer
	run.Dir, run.Stdin, run.Stderr = folder, bytes.NewReader(input), &stderr
	output, err := run.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", command, err, stderr.Bytes())
	}
	if err := json.Unmarshal(output, out); err != nil {
		t.Fatalf("%v: %v: %s", command, err, output)
	}
}

// judgement is another library's verdict on a request of this package, and its own signature.
type judgement struct {
	Verified  bool   // as it was sent
	Converted bool   // v1: with the secret as whsec_ alone; fed with hexadecimal, it is refused
	Changed   bool   // with a byte of the body changed
	Late      bool   // sent ten minutes ago
	Signature string // of the request
	PublicKey string // v1a: whpk_, of the key that made the signature
}

// The libraries standardwebhooks and svix verify v1 signatures of this package, and this package verifies theirs.
// For v1a, which no library supports, the same holds for Node's cryptography.
func TestOtherLibraries(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.Symlink(filepath.Dir(testenv.Tool(t, "webhooks/node_modules/svix")), filepath.Join(folder, "node_modules")); err != nil {
		t.Fatal(err)
	}
	secret := make([]byte, 32)
	rand.Read(secret)
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now, body := time.Now(), []byte(`{"type":"participant.signed","timestamp":"2026-06-17T12:00:00Z","data":{"name":"Jón Þór"}}`)
	late := now.Add(-10 * time.Minute)
	sign := func(at time.Time) string {
		return "v2,AAAA " + webhook.SignV1a(private, "id", at, body) + " " + webhook.SignV1(secret, "id", at, body)
	}
	judgements := make(map[string]judgement)
	runForeign(t, folder, []string{testenv.Tool(t, "openid/bin/node"), "libraries.mjs"}, map[string]any{
		"id": "id", "timestamp": now.Unix(), "body": string(body), "signature": sign(now),
		"late": late.Unix(), "lateSignature": sign(late),
		"whsec": standard("whsec_", secret), "hex": fmt.Sprintf("%x", secret), "openssh": sshLine(t, public),
	}, &judgements)

	got := make(map[string]judgement)
	for name, j := range judgements {
		key := webhook.Secret(secret)
		if j.PublicKey != "" {
			key = mustParse(t, j.PublicKey)
		}
		if err := webhook.VerifyAt(now, headers("id", now, j.Signature), body, key); err != nil {
			t.Errorf("%s: its signature: %v", name, err)
		}
		j.Signature, j.PublicKey = "", ""
		got[name] = j
	}
	want := map[string]judgement{
		"standardwebhooks": {Verified: true, Converted: true},
		"svix":             {Verified: true, Converted: true},
		"node:crypto":      {Verified: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
