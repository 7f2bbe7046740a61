package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"regexp"
	"strconv"
	"time"

	"github.com/innsigli/innsigli/webhook"
)

// maxRequest is far more than a delivery has, in bytes.
const maxRequest = 8 << 20

// requestLine begins a request (RFC 9112 3), of any version.
var requestLine = regexp.MustCompile(`^[!-~]+ [!-~]+ HTTP/[0-9.]+\r?\n`)

// readRequest reads a request as it was received. The body is what follows the empty line, to
// the last byte.
func readRequest(r io.Reader) (http.Header, []byte, error) {
	content, err := io.ReadAll(io.LimitReader(r, maxRequest+1))
	if err != nil {
		return nil, nil, fmt.Errorf("reading the request: %w", err)
	}
	if len(content) > maxRequest {
		return nil, nil, errors.New("reading the request: it has more than 8 MiB")
	}
	content = content[len(requestLine.Find(content)):]
	rest := bufio.NewReader(bytes.NewReader(content))
	header, err := textproto.NewReader(rest).ReadMIMEHeader()
	if errors.Is(err, io.EOF) {
		return nil, nil, errors.New("reading the request: no empty line ends the headers")
	}
	if err != nil {
		return nil, nil, errors.New("reading the request: a line before the empty line is not a header")
	}
	body, err := io.ReadAll(rest)
	return http.Header(header), body, err
}

// sentText is when the request was sent, as far as it says so; empty otherwise.
func sentText(header http.Header) string {
	seconds, err := strconv.ParseInt(header.Get(webhook.HeaderTimestamp), 10, 64)
	if err != nil {
		return ""
	}
	return timeText(time.Unix(seconds, 0))
}

// shown is foreign text on one line, not too long, and without what a terminal obeys.
func shown(text string) string {
	const most = 256
	quoted := strconv.Quote(text[:min(len(text), most)])
	return quoted[1 : len(quoted)-1]
}

// deliveryAdvice is what usually is behind a refusal; empty when nobody can say.
func deliveryAdvice(refused error, header http.Header, body []byte) string {
	length := header.Get("Content-Length")
	switch {
	case errors.Is(refused, webhook.ErrTooOld), errors.Is(refused, webhook.ErrTooNew):
		return "--at " + sentText(header) + " judges as of when it was sent"
	case errors.Is(refused, webhook.ErrSignature) && length != "" && length != strconv.Itoa(len(body)):
		return fmt.Sprintf("the body has %d bytes, and Content-Length says %s: a line end more or less counts", len(body), shown(length))
	}
	return ""
}
