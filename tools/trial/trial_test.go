package main

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
)

// The servers of the trials use the page renderer that was compiled for all tests.
func TestMain(m *testing.M) {
	if err := os.Setenv("INNSIGLI_RENDERER_CACHE", testenv.RendererCache()); err != nil {
		panic(err)
	}
	postgrestest.Main(m)
}

// The trials of these tests are short, and run beside other tests, of other packages too. So their
// figures are logged, and promises about times and shares are for the benchmarks to judge, which
// .ci/full runs alone.

// span is how long the trials last here; INNSIGLI_TRIAL says another time.
func span(t testing.TB) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(cmp.Or(os.Getenv("INNSIGLI_TRIAL"), "3s"))
	if err != nil {
		t.Fatalf("INNSIGLI_TRIAL: %v", err)
	}
	return d
}

// ends logs a trial's figures, and fails the test when it says that a promise was broken.
func ends(t testing.TB, out *bytes.Buffer, err error) {
	t.Helper()
	for line := range strings.Lines(out.String()) {
		t.Logf("figure: %s", strings.TrimRight(line, "\n"))
	}
	if err != nil {
		t.Error(err)
	}
}

// Servers of one database are killed one after another while clients sign over all of
// them: each request is delivered, one and the same document, no signal has two holders,
// and no provider is asked twice.
func TestServers(t *testing.T) {
	testenv.Slow(t, "servers die under load")
	var out bytes.Buffer
	err := run(t.Context(), []string{"servers", "-postgres", postgrestest.Database(t), "-for", span(t).String(), "-kill-every", (span(t) / 3).String(), "-within", "0"}, &out)
	ends(t, &out, err)
}

// The database is restarted under load: 503 with Retry-After, and well again afterwards. How soon is for the benchmark
// to judge.
func TestOutage(t *testing.T) {
	testenv.Slow(t, "a database ends under load")
	cluster := postgrestest.Cluster(t)
	var out bytes.Buffer
	err := restarted(t, cluster, 0, &out)
	ends(t, &out, err)
}

// restarted is an outage that ends when it was met.
func restarted(t testing.TB, cluster *postgrestest.Server, within time.Duration, out *bytes.Buffer) error {
	return outage(t.Context(), cluster.URL("postgres"), span(t), 2, 16, within, out, func(_ context.Context, met <-chan struct{}) error {
		cluster.Stop(t)
		<-met
		cluster.Start(t)
		return nil
	})
}

// A poll that waits costs one read and no write. How long calls take beside a million
// requests is for the program to say: here are too few of them.
func TestGrowth(t *testing.T) {
	testenv.Slow(t, "thousands of requests are made")
	g, err := newGrown(t.Context(), postgrestest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.remove(); err != nil {
			t.Error(err)
		}
	})
	if err := g.fill(t.Context(), 1000, 100); err != nil {
		t.Fatal(err)
	}
	if err := g.measure(t.Context()); err != nil {
		t.Fatal(err)
	}
	const polls = 200
	c, err := g.costOfWaiting(t.Context(), polls)
	if err == nil && c.broken() { // in between there may have been what the server does each minute
		c, err = g.costOfWaiting(t.Context(), polls)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("figure: %d polls that wait: %d reads, %d rows written", c.polls, c.reads, c.writes)
	if c.broken() {
		t.Error(errBroken)
	}
}
