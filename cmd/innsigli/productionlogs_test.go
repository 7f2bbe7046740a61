package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/internal/test/collector"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

// keepsToItself: when the test ends, no secret and no personal data is in the log
// of any of its servers, at the level that says most. It is called before the first server
// runs, so that what the last one says when it ends counts too.
func (p *production) keepsToItself(t *testing.T) {
	t.Cleanup(func() {
		if p.sandboxProcess == nil {
			return
		}
		log, own := p.logs(), p.confidential(t)
		anonymous := anyDigits.ReplaceAllString(log, "")
		for _, text := range own {
			// An ID, a port or a count may have the digits of a code or a phone number in it by chance.
			among := log
			if digits.MatchString(text) {
				among = anonymous
			}
			if strings.Contains(among, text) {
				t.Errorf("%q is in a log:\n%s", text, log)
			}
		}
		if t.Failed() {
			return
		}
		t.Logf("figure: %d lines of logs with none of %d secrets and personal texts", strings.Count(log, "\n"), len(own))
	})
}

// confidential is what must not be in a log: what the provider knows of people and has issued,
// the keys and secrets of the server, and what clients send.
func (p *production) confidential(t *testing.T) []string {
	t.Helper()
	all := []string{"contract.pdf", "Undirritun", longName, reason}
	if p.provider != nil {
		all = append(all, p.provider.Confidential()...)
	}
	if p.client != nil {
		all = append(all, p.client.token, p.client.secret)
	}
	for _, one := range people {
		all = append(all, one.kennitala, one.phone, one.name)
	}
	for _, text := range all {
		if tenDigits.MatchString(text) {
			all = append(all, text[:6]+"-"+text[6:])
		}
	}
	return append(all, p.keys(t)...)
}

// keys are the lines of the server's key files that have keys.
func (p *production) keys(t *testing.T) (lines []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(p.folder, "*key*"))
	if err != nil || len(files) == 0 {
		t.Errorf("no key files: %v", err)
	}
	for _, file := range files {
		for _, word := range strings.Fields(string(testenv.ReadFile(t, file))) {
			if len(word) > 40 {
				lines = append(lines, word)
			}
		}
	}
	return lines
}

var (
	digits    = regexp.MustCompile(`^\d+$`)
	anyDigits = regexp.MustCompile(`\b(time|address|baseURL|requestId|status|bytes|milliseconds)=\S+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
)

// An ID, a port or a count with the digits of a code in it is not searched for the code; a message is.
func TestDigitsOfCodes(t *testing.T) {
	const line = `time=2026-11-25T19:15:27.942Z level=INFO msg="a code: 1582" requestId=KHEQ1582 status=200 bytes=1582 milliseconds=27.1582 address=127.0.0.1:41582 client=9922c74f-1582-493b-8842-81ec7edc6c5e`
	if got, want := anyDigits.ReplaceAllString(line, ""), ` level=INFO msg="a code: 1582"      client=`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

var tenDigits = regexp.MustCompile(`^\d{10}$`)

// What became of a request is found in the log by its pollingId: each step, each call to the
// provider, what failed on the way and how it ended.
func TestRequestsAreFoundInTheLog(t *testing.T) {
	testenv.Slow(t, "people are asked at the pace of production")
	t.Parallel()
	p := startProduction(t, installed(t), productionOptions{provider: eager})
	p.person(t, people[0], openidtest.Answer{})
	p.person(t, people[1], openidtest.Answer{Error: &openidtest.Refusal{Code: "access_denied", Description: "mssp_401"}})
	p.provider.Fault(openidtest.Fault{Endpoint: openidtest.UserInfo, Status: http.StatusInternalServerError})

	signed, cancelled := p.order(t, order{people[0], "IdpApp", "B"}).PollingID, p.order(t, order{people[1], "IdpSim", "B"}).PollingID
	if a := p.finish(t, signed); a.Status != http.StatusOK {
		t.Fatalf("%v %s", a, a.Body)
	}
	if a := p.finish(t, cancelled); a.ErrorCode != "UserCancelled" {
		t.Fatalf("%v %s", a, a.Body)
	}
	p.provider.Stop()
	if a := p.order(t, order{people[0], "IdpApp", "B"}); a.ErrorCode != "CommunicationError" {
		t.Fatalf("%v %s", a, a.Body)
	}
	p.provider.Go()
	p.waitFor(t, "step=signature.delivered", 1) // it is written when the client has its answer

	asked := func(call string) string { return fmt.Sprintf("provider.asked call=%q", call) }
	for name, want := range map[string][]string{
		signed: {
			"signature.asked", asked("begin waiting"),
			asked("poll continue"), asked("poll error"), "provider.failed error", asked("poll needdigest"), asked("sign waiting"), "signature.prepared",
			asked("poll continue"), asked("poll signed"), "signature.made", "signature.completed", "signature.delivered",
		},
		cancelled:    {"signature.asked", asked("begin waiting"), asked("poll failed"), "signature.failed errorCode=UserCancelled"},
		p.refused(t): {"signature.asked", asked("begin failed"), "provider.failed error", "signature.failed errorCode=CommunicationError"},
	} {
		if diff := cmp.Diff(want, p.stepsOf(name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%s", name, diff, p.logs())
		}
	}
}

// refused finds the request that was refused at its start, whose client has no pollingId.
func (p *production) refused(t *testing.T) string {
	t.Helper()
	found := regexp.MustCompile(`pollingId=(\S+) step=signature\.failed errorCode=CommunicationError`).FindStringSubmatch(p.logs())
	if found == nil {
		t.Fatal(p.logs())
	}
	return found[1]
}

// stepsOf are the steps of a request in the log, but for the polls that came to nothing, and
// without the words of errors.
func (p *production) stepsOf(id string) (steps []string) {
	for line := range strings.Lines(p.logs()) {
		_, step, ok := strings.Cut(strings.TrimSpace(line), "pollingId="+id+" step=")
		if !ok || strings.Contains(step, `"poll waiting"`) {
			continue
		}
		step, _, _ = strings.Cut(step, "=\"ciba:")
		steps = append(steps, step)
	}
	return steps
}

// What an operator sees of a signature, in production behind a proxy: lines of JSON that belong together by the
// ID of their request, spans under the proxy's trace, and metrics; and none of them has a secret or personal data.
func TestOperating(t *testing.T) {
	testenv.Slow(t, "people are asked at the pace of production")
	t.Parallel()
	c := collector.Start(t)
	p := startProduction(t, installed(t), productionOptions{
		provider: eager, sections: "[proxy]\ntrusted = [\"127.0.0.1\"]\n",
		environment: []string{"INNSIGLI_LOG_FORMAT=json", "INNSIGLI_ADMIN_LISTEN=127.0.0.1:0", "OTEL_EXPORTER_OTLP_ENDPOINT=" + c.URL},
	})
	own := p.confidential(t)
	p.person(t, people[0], openidtest.Answer{})
	const before = "4bf92f3577b34da6a3ce929d0e0e4736"
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.BaseURL+"/api/v1/signing", strings.NewReader(startText(document, people[0], "IdpApp", "Lt", "")))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+p.client.token)
	r.Header.Set("X-Request-Id", "of-the-proxy")
	r.Header.Set("traceparent", "00-"+before+"-00f067aa0ba902b7-01")
	r.Header.Set("X-Forwarded-For", "203.0.113.7")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var started struct{ PollingID string }
	if err := json.NewDecoder(response.Body).Decode(&started); err != nil || response.Header.Get("X-Request-Id") != "of-the-proxy" {
		t.Fatalf("%s, %v, %v", response.Status, response.Header, err)
	}
	if a := p.finish(t, started.PollingID); a.Status != http.StatusOK {
		t.Fatalf("%v %s", a, a.Body)
	}
	admin := regexp.MustCompile(`"msg":"serving metrics","address":"([^"]+)"`).FindStringSubmatch(p.talk())
	if admin == nil {
		t.Fatal(p.talk())
	}
	metrics := fetched(t, "http://"+admin[1]+"/metrics")
	if rest, err := p.stop(); err != nil || rest != "" {
		t.Fatal(rest, err)
	}

	steps := linesOf(t, p.talk(), "of-the-proxy")
	for _, want := range []string{"signature.asked", "provider.asked", "request"} {
		if !slices.Contains(steps, want) {
			t.Errorf("no %s among what the log says of the request: %q", want, steps)
		}
	}
	start := c.Named(t, "POST /api/v1/signing")
	if start.Trace() != before || start.Attributes["innsigli.request_id"] != "of-the-proxy" || start.Attributes["innsigli.client_id"] == "" {
		t.Errorf("%v", start.Attributes)
	}
	for _, name := range []string{"store.transaction", "provider.begin"} {
		if !slices.ContainsFunc(c.Spans(), func(s collector.Span) bool { return s.Name == name && slices.Equal(s.ParentSpanId, start.SpanId) }) {
			t.Errorf("no %s below the request", name)
		}
	}
	for _, name := range []string{"evidence.timestamp", "evidence.revocation"} {
		if s := c.Named(t, name); len(s.ParentSpanId) == 0 || s.Attributes["innsigli.result"] != "found" {
			t.Errorf("%s: %v", name, s.Attributes)
		}
	}
	for _, want := range []string{
		`innsigli_http_requests_total{method="POST",route="/api/v1/signing",status="200"} 1`,
		`innsigli_signatures_total{level="LT"} 1`,
		`innsigli_provider_call_duration_seconds_count{call="begin",result="pending"} 1`,
		`innsigli_evidence_call_duration_seconds_count{call="timestamp",result="found"} 1`,
		`innsigli_evidence_call_duration_seconds_count{call="revocation",result="found"} `,
		`innsigli_store_transaction_duration_seconds_count{result="committed"} `,
		`innsigli_http_inflight_bytes{of="requests"} 0`,
		`innsigli_job_oldest_due_seconds{kind="`,
		`innsigli_build_info{`,
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("no %s in\n%s", want, metrics)
		}
	}
	for _, secret := range append(own, "203.0.113.7") {
		if strings.Contains(metrics, secret) && !digits.MatchString(secret) || bytes.Contains(c.Raw(), []byte(secret)) {
			t.Errorf("%q is in metrics or traces", secret)
		}
	}
}

// linesOf are what the lines of a request are about: steps, and the message of others.
func linesOf(t *testing.T, log, request string) (about []string) {
	t.Helper()
	lines := bufio.NewScanner(strings.NewReader(log))
	for lines.Scan() {
		var l struct{ Msg, RequestID, Step, Time, Level string }
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil || l.Time == "" || l.Level == "" {
			t.Fatalf("no line of JSON: %s", lines.Text())
		}
		if l.RequestID == request {
			about = append(about, map[bool]string{true: l.Step, false: l.Msg}[l.Step != ""])
		}
	}
	return about
}

func fetched(t *testing.T, address string) string {
	t.Helper()
	response, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var text bytes.Buffer
	if _, err := text.ReadFrom(response.Body); err != nil || response.StatusCode != http.StatusOK {
		t.Fatal(response.Status, err)
	}
	return text.String()
}
