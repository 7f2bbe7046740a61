package telemetry

import (
	"context"
	"errors"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/internal/queue"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/webhook/delivery"
)

func scrape(t *testing.T, m *Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// oldestDue is the value of the metric in a scrape.
func oldestDue(t *testing.T, text string) float64 {
	t.Helper()
	line := regexp.MustCompile(`(?m)^innsigli_webhook_oldest_due_seconds (\S+)$`).FindStringSubmatch(text)
	if line == nil {
		t.Fatalf("no oldest_due_seconds in\n%s", text)
	}
	age, err := strconv.ParseFloat(line[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return age
}

func TestMetrics(t *testing.T) {
	m := NewMetrics()
	due, failed := time.Now().Add(-time.Minute), error(nil)
	m.WatchDeliveries(func(context.Context) (time.Time, error) { return due, failed })
	for range 3 {
		m.Attempt(delivery.Attempt{Purpose: delivery.ForDelivery, Failure: delivery.TimedOut, Duration: 15 * time.Second})
	}
	m.Attempt(delivery.Attempt{Purpose: delivery.ForPing, Duration: 20 * time.Millisecond})
	before := time.Now()
	text := scrape(t, m)
	after := time.Now()
	if age := oldestDue(t, text); age < before.Sub(due).Seconds() || age > after.Sub(due).Seconds() {
		t.Errorf("due for %v s, since %v", age, due)
	}
	for _, want := range []string{
		`innsigli_webhook_attempts_total{failure="timeout",purpose="delivery"} 3`,
		`innsigli_webhook_attempts_total{failure="none",purpose="ping"} 1`,
		`innsigli_webhook_attempt_duration_seconds_bucket{purpose="ping",le="0.03"} 1`,
		"go_goroutines ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	for name, soon := range map[string]time.Time{"none": {}, "later": time.Now().Add(time.Hour)} {
		if due = soon; oldestDue(t, scrape(t, m)) != 0 {
			t.Errorf("%s: it is not 0", name)
		}
	}
	failed = errors.New("the store is away")
	if text := scrape(t, m); strings.Contains(text, "oldest_due_seconds") || !strings.Contains(text, "attempts_total") {
		t.Errorf("without a store:\n%s", text)
	}
}

// overrun is a context whose time limit has passed.
type overrun struct{ context.Context }

func (overrun) Err() error { return context.DeadlineExceeded }

// An attempt of a job that the runner cuts has a result of its own; one that takes longer than it may has failed.
func TestResultsOfJobs(t *testing.T) {
	o := Observer{Metrics: NewMetrics()}
	cut, cancel := context.WithCancel(t.Context())
	cancel()
	late := overrun{t.Context()}
	fault := errors.New("a fault")
	for _, test := range []struct {
		result string
		ctx    context.Context
		retry  time.Time
		err    error
	}{
		{"done", t.Context(), time.Time{}, nil},
		{"later", t.Context(), time.Now(), nil},
		{"failed", t.Context(), time.Now(), fault},
		{"failed", late, time.Time{}, late.Err()},
		{"cut", cut, time.Time{}, fault},
		{"done", cut, time.Time{}, nil}, // it was ready before
	} {
		do := o.Kind(queue.Kind{Name: "do", Do: func(context.Context, storage.Job) (time.Time, error) { return test.retry, test.err }})
		if retry, err := do.Do(test.ctx, storage.Job{}); retry != test.retry || err != test.err {
			t.Errorf("%s: the handler returned %v, %v", test.result, retry, err)
		}
		then := o.Kind(queue.Kind{Name: "then", DoThen: func(context.Context, storage.Job) (func(context.Context) error, error) { return nil, test.err }})
		if _, err := then.DoThen(test.ctx, storage.Job{}); err != test.err {
			t.Errorf("%s: the handler returned %v", test.result, err)
		}
	}
	text := scrape(t, o.Metrics)
	for _, want := range []string{
		`{kind="do",result="done"} 2`, `{kind="do",result="later"} 1`, `{kind="do",result="failed"} 2`, `{kind="do",result="cut"} 1`,
		`{kind="then",result="done"} 3`, `{kind="then",result="failed"} 2`, `{kind="then",result="cut"} 1`,
	} {
		if !strings.Contains(text, "innsigli_job_duration_seconds_count"+want+"\n") {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}
