package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// otlpSettings are where spans are sent, as the variables say that OpenTelemetry has for it
// (OpenTelemetry Protocol Exporter).
type otlpSettings struct {
	endpoint string // URL; empty: there are no traces
	headers  http.Header
	timeout  time.Duration // of one try
	compress bool
	tls      *tls.Config
}

// environment are variables by their names, as [os.Getenv] knows them.
type environment func(name string) string

// ofTraces is what a variable of exporters says of traces.
func (e environment) ofTraces(name string) string {
	return strings.TrimSpace(cmp.Or(e("OTEL_EXPORTER_OTLP_TRACES_"+name), e("OTEL_EXPORTER_OTLP_"+name)))
}

// readOTLP reads the variables. Without any there are no traces.
func readOTLP(e environment, found *faults) (s otlpSettings) {
	exporter := e("OTEL_TRACES_EXPORTER")
	if strings.EqualFold(e("OTEL_SDK_DISABLED"), "true") || exporter == "none" || exporter == "" && e.ofTraces("ENDPOINT") == "" {
		return s
	}
	if exporter != "" && exporter != "otlp" {
		found.add("OTEL_TRACES_EXPORTER", "%q is neither otlp nor none", exporter)
	}
	if protocol := e.ofTraces("PROTOCOL"); protocol != "" && protocol != "http/protobuf" {
		found.add("OTEL_EXPORTER_OTLP_PROTOCOL", "%q is not to be had, but http/protobuf is", protocol)
	}
	s.endpoint = otlpEndpoint(e, found)
	s.headers = otlpHeaders(e.ofTraces("HEADERS"), found)
	s.timeout = 10 * time.Second
	if text := e.ofTraces("TIMEOUT"); text != "" {
		milliseconds, err := strconv.Atoi(text)
		if err != nil || milliseconds <= 0 || milliseconds > 600_000 {
			found.add("OTEL_EXPORTER_OTLP_TIMEOUT", "%q is no number of milliseconds of up to ten minutes", text)
			milliseconds = 1
		}
		s.timeout = time.Duration(milliseconds) * time.Millisecond
	}
	switch compression := e.ofTraces("COMPRESSION"); compression {
	case "gzip":
		s.compress = true
	case "", "none":
	default:
		found.add("OTEL_EXPORTER_OTLP_COMPRESSION", "%q is neither gzip nor none", compression)
	}
	s.tls = otlpTLS(e, found)
	if _, err := resource.New(context.Background(), resource.WithFromEnv()); err != nil {
		found.add("OTEL_RESOURCE_ATTRIBUTES", "is not of the form name=value,name=value")
	}
	return s
}

// otlpEndpoint is the address of a collector: that for traces as it is, that for all with the path of traces.
func otlpEndpoint(e environment, found *faults) string {
	text := e("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	name := "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	if text == "" {
		name = "OTEL_EXPORTER_OTLP_ENDPOINT"
		text = strings.TrimSuffix(cmp.Or(e(name), "http://localhost:4318"), "/") + "/v1/traces"
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		found.add(name, "is no http or https URL") // it may have a password in it
	}
	return text
}

// otlpHeaders reads "name=value,…", whose values are as in URLs.
func otlpHeaders(text string, found *faults) http.Header {
	headers := make(http.Header)
	for pair := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(pair), "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		switch {
		case pair == "" && text == "":
		case !ok || name == "" || err != nil:
			found.add("OTEL_EXPORTER_OTLP_HEADERS", "is not of the form name=value,name=value")
			return headers
		default:
			headers.Add(strings.TrimSpace(name), value)
		}
	}
	return headers
}

func otlpTLS(e environment, found *faults) *tls.Config {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if path := e.ofTraces("CERTIFICATE"); path != "" {
		roots, err := readRoots(path)
		if err != nil {
			found.add("OTEL_EXPORTER_OTLP_CERTIFICATE", "%v", err)
		}
		c.RootCAs = roots
	}
	certificate, key := e.ofTraces("CLIENT_CERTIFICATE"), e.ofTraces("CLIENT_KEY")
	if certificate != "" || key != "" {
		pair, err := tls.LoadX509KeyPair(certificate, key)
		if err != nil {
			found.add("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "%v", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c
}

func (s otlpSettings) client() *otlpClient {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: s.tls, ForceAttemptHTTP2: true, IdleConnTimeout: time.Minute}
	// Whoever else it would lead to is not to have the headers, which may authenticate the server.
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &otlpClient{s, &http.Client{Transport: transport, CheckRedirect: stay}}
}

// open makes the traces; nil when there are none. How many are recorded, and what is said of the server, is
// for the variables of OpenTelemetry too: OTEL_TRACES_SAMPLER, OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES.
func (s otlpSettings) open(ctx context.Context, log *slog.Logger) (*traces, error) {
	if s.endpoint == "" {
		return nil, nil
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("traces were not sent", "error", err) })) // else it has a log of its own
	exporter, err := otlptrace.New(ctx, s.client())
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	about := resource.NewSchemaless(attribute.String("service.name", "innsigli"), attribute.String("service.version", version()))
	said, err := resource.New(ctx, resource.WithFromEnv())
	if err == nil {
		about, err = resource.Merge(about, said)
	}
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	return newTraces(sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))), nil
}

// fromEnvironment are the variables of the process.
var fromEnvironment environment = os.Getenv
