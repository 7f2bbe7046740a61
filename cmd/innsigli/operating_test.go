package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/internal/test/collector"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

// What an operator sees of a signature, in production behind a proxy: lines of JSON that belong together by the
// ID of their request, spans under the proxy's trace, and metrics; and in none of them a secret or somebody's own.
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
