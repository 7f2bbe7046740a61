package telemetry

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
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
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Collector is the collector that spans are sent to, as the environment variables of OpenTelemetry set it (OpenTelemetry
// Protocol Exporter).
type Collector struct {
	Endpoint string // URL, which may have a password in it; empty: nothing is traced
	headers  http.Header
	timeout  time.Duration // of one request
	compress bool
	tls      *tls.Config
}

// environment is a function such as [os.Getenv].
type environment func(name string) string

// ofTraces returns the variable of an exporter for traces, or else that for all signals.
func (e environment) ofTraces(name string) string {
	return strings.TrimSpace(cmp.Or(e("OTEL_EXPORTER_OTLP_TRACES_"+name), e("OTEL_EXPORTER_OTLP_"+name)))
}

// ReadCollector reads the variables, and calls fault for each that is faulty. If none is set, nothing is traced.
func ReadCollector(getenv func(name string) string, fault func(name, text string)) (c Collector) {
	e := environment(getenv)
	exporter := e("OTEL_TRACES_EXPORTER")
	if strings.EqualFold(e("OTEL_SDK_DISABLED"), "true") || exporter == "none" || exporter == "" && e.ofTraces("ENDPOINT") == "" {
		return c
	}
	if exporter != "" && exporter != "otlp" {
		fault("OTEL_TRACES_EXPORTER", fmt.Sprintf("%q must be otlp or none", exporter))
	}
	if protocol := e.ofTraces("PROTOCOL"); protocol != "" && protocol != "http/protobuf" {
		fault("OTEL_EXPORTER_OTLP_PROTOCOL", fmt.Sprintf("%q is not supported: use http/protobuf", protocol))
	}
	c.Endpoint = e.endpoint(fault)
	c.headers = e.headers(fault)
	c.timeout = e.timeout(fault)
	switch compression := e.ofTraces("COMPRESSION"); compression {
	case "gzip":
		c.compress = true
	case "", "none":
	default:
		fault("OTEL_EXPORTER_OTLP_COMPRESSION", fmt.Sprintf("%q must be gzip or none", compression))
	}
	c.tls = e.tls(fault)
	if _, err := resource.New(context.Background(), resource.WithFromEnv()); err != nil {
		fault("OTEL_RESOURCE_ATTRIBUTES", "must have the form name=value,name=value")
	}
	return c
}

// endpoint returns the URL of the collector: the one for traces as it is, or the one for all signals with the path of
// traces.
func (e environment) endpoint(fault func(name, text string)) string {
	text := e("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	name := "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	if text == "" {
		name = "OTEL_EXPORTER_OTLP_ENDPOINT"
		text = strings.TrimSuffix(cmp.Or(e(name), "http://localhost:4318"), "/") + "/v1/traces"
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		fault(name, "is not an http or https URL") // not repeated: it may have a password in it
	}
	return text
}

// headers reads headers of the form "name=value,…", whose values are percent-encoded.
func (e environment) headers(fault func(name, text string)) http.Header {
	text, headers := e.ofTraces("HEADERS"), make(http.Header)
	if text == "" {
		return headers
	}
	for pair := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(pair), "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || name == "" || err != nil {
			fault("OTEL_EXPORTER_OTLP_HEADERS", "must have the form name=value,name=value")
			return headers
		}
		headers.Add(strings.TrimSpace(name), value)
	}
	return headers
}

func (e environment) timeout(fault func(name, text string)) time.Duration {
	text := e.ofTraces("TIMEOUT")
	if text == "" {
		return 10 * time.Second
	}
	milliseconds, err := strconv.Atoi(text)
	if err != nil || milliseconds <= 0 || milliseconds > 600_000 {
		fault("OTEL_EXPORTER_OTLP_TIMEOUT", fmt.Sprintf("%q must be a number of milliseconds between 1 and 600000", text))
		return time.Millisecond
	}
	return time.Duration(milliseconds) * time.Millisecond
}

func (e environment) tls(fault func(name, text string)) *tls.Config {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if path := e.ofTraces("CERTIFICATE"); path != "" {
		content, err := os.ReadFile(path)
		c.RootCAs = x509.NewCertPool()
		if err == nil && !c.RootCAs.AppendCertsFromPEM(content) {
			err = fmt.Errorf("reading %s: there is no certificate in PEM", path)
		}
		if err != nil {
			fault("OTEL_EXPORTER_OTLP_CERTIFICATE", err.Error())
		}
	}
	certificate, key := e.ofTraces("CLIENT_CERTIFICATE"), e.ofTraces("CLIENT_KEY")
	if certificate != "" || key != "" {
		pair, err := tls.LoadX509KeyPair(certificate, key)
		if err != nil {
			fault("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", err.Error())
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c
}

// Open returns a provider that sends spans to the collector; nil if there is none. The caller shuts it down. The
// variables of OpenTelemetry also set which requests are traced and the attributes of the server: OTEL_TRACES_SAMPLER,
// OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES. failed is called when spans could not be sent.
func (c Collector) Open(ctx context.Context, failed func(error)) (*sdktrace.TracerProvider, error) {
	if c.Endpoint == "" {
		return nil, nil
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(failed)) // by default it writes to its own log
	exporter, err := otlptrace.New(ctx, c.client())
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	attributes := resource.NewSchemaless(attribute.String("service.name", "innsigli"), attribute.String("service.version", Version()))
	fromEnvironment, err := resource.New(ctx, resource.WithFromEnv())
	if err == nil {
		attributes, err = resource.Merge(attributes, fromEnvironment)
	}
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	return sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(attributes)), nil
}

// Check returns an error unless the collector accepts requests. It sends no spans.
func (c Collector) Check(ctx context.Context) error {
	_, err := c.client().post(ctx, nil)
	return err
}

func (c Collector) client() *otlpClient {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: c.tls, ForceAttemptHTTP2: true, IdleConnTimeout: time.Minute}
	// Redirects are not followed: the headers may authenticate the server, and only the collector may get them.
	noRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &otlpClient{c, &http.Client{Transport: transport, CheckRedirect: noRedirect}}
}

// otlpClient sends spans to a collector with OTLP over HTTP. It is used because the client of OpenTelemetry depends on
// gRPC.
type otlpClient struct {
	settings Collector
	http     *http.Client
}

// Start implements otlptrace.Client.
func (c *otlpClient) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client.
func (c *otlpClient) Stop(context.Context) error {
	c.http.CloseIdleConnections()
	return nil
}

// UploadTraces implements otlptrace.Client. It sends spans again that the collector could not accept for now (OTLP 1.9,
// OTLP/HTTP Response), until the context ends.
func (c *otlpClient) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	// TracesData encodes as an ExportTraceServiceRequest, whose package depends on gRPC.
	content, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return fmt.Errorf("traces: %w", err)
	}
	if c.settings.compress {
		content = gzipped(content)
	}
	for pause := time.Second; ; pause *= 2 {
		wait, err := c.post(ctx, content)
		if err == nil || wait < 0 {
			return err
		}
		timer := time.NewTimer(max(wait, pause))
		select {
		case <-ctx.Done():
			timer.Stop()
			return err
		case <-timer.C:
		}
	}
}

// post sends content once. With an error it returns how long to wait before sending it again; a negative wait means never.
func (c *otlpClient) post(ctx context.Context, content []byte) (wait time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.settings.timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.settings.Endpoint, bytes.NewReader(content))
	if err != nil {
		return -1, errors.New("traces: the address of the collector cannot be used")
	}
	r.Header = c.settings.headers.Clone()
	r.Header.Set("Content-Type", "application/x-protobuf")
	if c.settings.compress {
		r.Header.Set("Content-Encoding", "gzip")
	}
	response, err := c.http.Do(r)
	if err != nil {
		return 0, fmt.Errorf("traces: the collector cannot be reached: %w", withoutURL(err))
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 64<<10)) // so that the connection can be reused
	switch response.StatusCode {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
		return 0, nil
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
	default:
		wait = -1
	}
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && wait == 0 && seconds > 0 {
		wait = time.Duration(min(seconds, 60)) * time.Second
	}
	return wait, fmt.Errorf("traces: the collector answered %d", response.StatusCode)
}

func gzipped(content []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(content) // writing to memory does not fail
	_ = w.Close()
	return out.Bytes()
}

// withoutURL returns an error without the URL, which may have secrets in it.
func withoutURL(err error) error {
	if u := new(url.Error); errors.As(err, &u) {
		return u.Err
	}
	return err
}
