package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// otlpClient sends spans to a collector by OTLP over HTTP. It is our own because that of OpenTelemetry
// brings all of gRPC with it.
type otlpClient struct {
	settings otlpSettings
	http     *http.Client
}

// Start implements otlptrace.Client.
func (c *otlpClient) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client.
func (c *otlpClient) Stop(context.Context) error {
	c.http.CloseIdleConnections()
	return nil
}

// UploadTraces implements otlptrace.Client. What a collector cannot take just now it is sent again (OTLP
// 1.9, OTLP/HTTP Response), until the context ends.
func (c *otlpClient) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	// Its one member is that of an ExportTraceServiceRequest, which package of its own has gRPC in it.
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

// post sends once. After an error it says how long to wait before it is sent again; negative: not at all.
func (c *otlpClient) post(ctx context.Context, content []byte) (wait time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.settings.timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.settings.endpoint, bytes.NewReader(content))
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
		return 0, fmt.Errorf("traces: the collector cannot be reached: %w", unwrapURL(err)) // there may be secrets in the address
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 64<<10)) // so that the connection can be used again
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
	_, _ = w.Write(content) // to memory
	_ = w.Close()
	return out.Bytes()
}
