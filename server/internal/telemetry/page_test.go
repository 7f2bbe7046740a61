package telemetry

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

const configurationPage = "docs/configuration.md"

// TestDocumentedMetrics compares the metrics with their page.
func TestDocumentedMetrics(t *testing.T) {
	testenv.SameAsTable(t, "docs/reference/logs-and-metrics.md", "metrics", metricTable(t))
}

// metricTable has what the registry describes, but for the runtime's.
func metricTable(t *testing.T) string {
	t.Helper()
	m := NewMetrics()
	m.WatchDeliveries(nil)
	m.WatchJobs(nil, nil)
	m.WatchFileSize(nil)
	descriptions := make(chan *prometheus.Desc, 1000)
	m.registry.Describe(descriptions)
	close(descriptions)
	form := regexp.MustCompile(`fqName: "(innsigli_[^"]*)", help: "((?:[^"\\]|\\.)*)", (?:unit: "[^"]*", )?constLabels: \{\}, variableLabels: \{([^}]*)\}`)
	lines := make(map[string]string)
	for d := range descriptions {
		if of := form.FindStringSubmatch(d.String()); of != nil {
			help, err := strconv.Unquote(`"` + of[2] + `"`)
			if err != nil {
				t.Fatal(err)
			}
			name := of[1]
			if of[3] != "" {
				name += "{" + of[3] + "}"
			}
			lines[name] = fmt.Sprintf("| `%s` | %s |\n", name, help)
		}
	}
	if len(lines) < 10 {
		t.Fatalf("%d metrics", len(lines))
	}
	table := "| Metric | Meaning |\n|---|---|\n"
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		table += lines[name]
	}
	return table
}

// Each variable of OpenTelemetry that the program reads is on the page.
func TestDocumentedVariables(t *testing.T) {
	page := string(testenv.ReadFile(t, filepath.Join(testenv.Root(t), configurationPage)))
	source := string(testenv.ReadFile(t, "otlp.go"))
	names := regexp.MustCompile(`"(OTEL_[A-Z_]*[A-Z])"`).FindAllStringSubmatch(source, -1)
	for _, part := range regexp.MustCompile(`ofTraces\("([A-Z_]+)"\)`).FindAllStringSubmatch(source, -1) {
		names = append(names, []string{"", "OTEL_EXPORTER_OTLP_" + part[1]})
	}
	if len(names) < 10 {
		t.Fatalf("%d variables", len(names))
	}
	for _, name := range names {
		if !strings.Contains(page, "`"+name[1]+"`") {
			t.Errorf("%s has no %s", configurationPage, name[1])
		}
	}
}
