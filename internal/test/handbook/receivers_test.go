package handbook_test

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/webhook"
)

// The receiver of each language passes the checks of an activation, refuses what does not verify,
// and gets the event of a process that was signed, once.
func TestExamplesReceiveWebhooks(t *testing.T) {
	testenv.Slow(t, "programs in each language are built and run")
	s := theSandbox(t)
	c := s.client(t)
	printed := map[string]<-chan string{}
	for _, l := range languages {
		if l.webhook == nil {
			continue
		}
		address := testenv.Address(t)
		made := c.call(t, "/api/v1/portal/webhooks", map[string]any{"url": "http://" + address + "/hooks", "eventTypes": []string{"process.completed"}})
		secret := made["secret"].(string)
		printed[l.name] = l.receive(t, address, secret)
		t.Run(l.name, func(t *testing.T) { judges(t, "http://"+address+"/hooks", secret) })
		c.call(t, "/api/v1/portal/webhooks/"+made["id"].(string)+"/activate", nil)
	}
	process := c.process(t)
	for name, lines := range printed {
		for _, want := range []string{"of a test", process} {
			if line := <-lines; !strings.HasPrefix(line, "process.completed ") || !strings.Contains(line, want) {
				t.Errorf("%s printed %q, and not that %s was completed", name, line, want)
			}
		}
	}
}

// receive runs the receiver until the test ends, and returns what it prints, line by line.
func (l language) receive(t *testing.T, address, secret string) <-chan string {
	t.Helper()
	_, port, _ := strings.Cut(address, ":")
	command := l.webhook(t, folder(t))
	run := exec.CommandContext(t.Context(), command[0], command[1:]...)
	run.Env, run.Stderr = environment(t, "PORT="+port, "WEBHOOK_SECRET="+secret), os.Stderr
	out, err := run.StdoutPipe()
	if err == nil {
		err = run.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines, ended := make(chan string, 10), make(chan struct{})
	go func() {
		defer close(ended)
		defer close(lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			lines <- s.Text()
		}
	}()
	t.Cleanup(func() {
		run.Process.Kill() // it has no end of its own
		run.Wait()
	})
	testenv.Wait(t, "the receiver", func() bool {
		connection, err := net.Dial("tcp", address)
		if err == nil {
			connection.Close()
			return true
		}
		select {
		case <-ended:
			t.Fatalf("%s: the receiver has ended", l.name)
		default:
		}
		return false
	})
	return lines
}

// delivery is a request to an endpoint.
type delivery struct {
	name   string
	header http.Header
	body   []byte
	want   int // the status of its answer
}

// deliveries are what an endpoint has to tell apart.
func deliveries(t *testing.T, secret string) []delivery {
	t.Helper()
	key, err := hex.DecodeString(secret)
	if err != nil {
		t.Fatal(err)
	}
	now, body := time.Now(), []byte(`{"type":"process.completed","timestamp":"2026-06-17T12:00:00+00:00","data":{"name":"of a test, by Jón"}}`)
	with := func(id string, sent time.Time, signatures ...string) http.Header {
		return http.Header{
			"Webhook-Id": {id}, "Webhook-Timestamp": {fmt.Sprint(sent.Unix())}, "Webhook-Signature": {strings.Join(signatures, " ")},
		}
	}
	right := webhook.SignV1(key, "once", now, body)
	early, late := now.Add(10*time.Minute), now.Add(-10*time.Minute)
	return []delivery{
		{"another secret", with("once", now, webhook.SignV1(key[1:], "once", now, body)), body, http.StatusUnauthorized},
		{"another body", with("once", now, right), append([]byte(" "), body...), http.StatusUnauthorized},
		{"another time", with("once", now.Add(time.Second), right), body, http.StatusUnauthorized},
		{"another id", with("twice", now, right), body, http.StatusUnauthorized},
		{"too late", with("once", late, webhook.SignV1(key, "once", late, body)), body, http.StatusUnauthorized},
		{"too early", with("once", early, webhook.SignV1(key, "once", early, body)), body, http.StatusUnauthorized},
		{"a full stop in the id", with("on.ce", now, webhook.SignV1(key, "on.ce", now, body)), body, http.StatusUnauthorized},
		{"another scheme", with("once", now, "v2"+strings.TrimPrefix(right, "v1")), body, http.StatusUnauthorized},
		{"no headers", http.Header{}, body, http.StatusUnauthorized},
		{"right", with("once", now, right), body, http.StatusNoContent},
		{"again, behind others", with("once", now, "v2,AAAA", "v1,AAAA", "", right), body, http.StatusNoContent},
	}
}

// judges sends them all.
func judges(t *testing.T, url, secret string) {
	t.Helper()
	for _, d := range deliveries(t, secret) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(d.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = d.header
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != d.want {
			t.Errorf("%s: status %d, want %d", d.name, answer.StatusCode, d.want)
		}
	}
}

// The shell's example judges requests that were kept.
func TestShellVerifiesWebhooks(t *testing.T) {
	testenv.Program(t, "openssl")
	work, secret := folder(t), strings.Repeat("5a", 32)
	for _, d := range deliveries(t, secret) {
		var heads bytes.Buffer
		if err := d.header.Write(&heads); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(work, "headers.txt"), heads.Bytes())
		write(t, filepath.Join(work, "body.json"), d.body)
		run := exec.CommandContext(t.Context(), testenv.Program(t, "bash"), example(t, "curl/webhook.sh"), "headers.txt", "body.json")
		run.Dir, run.Env = work, append(os.Environ(), "WEBHOOK_SECRET="+secret)
		said, err := run.CombinedOutput()
		if err != nil && run.ProcessState.ExitCode() != 1 || (err == nil) != (d.want == http.StatusNoContent) || len(said) > 0 {
			t.Errorf("%s: %v\n%s", d.name, err, said)
		}
	}
}
