package webhook_test

import (
	"context"
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

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/webhook"
)

// paper is docs/webhooks.md.
func paper(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(testenv.Root(t), "docs", "webhooks.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// block is the only code block of the paper in a language that has a text in it.
func block(t *testing.T, language, having string) string {
	t.Helper()
	var found []string
	for _, m := range regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$").FindAllStringSubmatch(paper(t), -1) {
		if m[1] == language && strings.Contains(m[2], having) {
			found = append(found, m[2])
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d blocks of %s with %q", len(found), language, having)
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

// The paper's keys and signatures are those of the vectors.
func TestPaperHasTheVectors(t *testing.T) {
	t.Parallel()
	rows := regexp.MustCompile("(?m)^\\| `([^`]+)`(?:, or `([^`]+)`)? \\| `(v1a?,[^`]+)` \\|$").FindAllStringSubmatch(paper(t), -1)
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
	for _, said := range []string{vectorID, vectorBody, fmt.Sprint(vectorTime.Unix())} {
		if !strings.Contains(paper(t), "`"+said+"`") {
			t.Errorf("no %s", said)
		}
	}
}

// The paper's Go is part of an example that runs.
func TestPaperCompiles(t *testing.T) {
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

// The paper's one-liners make one form of a key from the other.
func TestPaperConvertsKeys(t *testing.T) {
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

// The paper's curl is answered as it says.
func TestPaperTriesEndpoints(t *testing.T) {
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

// cases are requests as of now, and whether the keys given verify them.
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
