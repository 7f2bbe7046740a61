package delivery

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptrace"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/innsigli/innsigli/internal/netguard"
	"github.com/innsigli/innsigli/webhook"
)

// Failure is why a request failed.
type Failure string

const (
	BadStatus    Failure = "status"     // the answer has the wrong status
	TimedOut     Failure = "timeout"    // no answer within 15 seconds
	BadAddress   Failure = "address"    // the host has an address that is not public
	NoName       Failure = "dns"        // the name was not found
	NoConnection Failure = "connection" // refused, or closed before there was an answer
	BadTLS       Failure = "tls"        // the handshake failed, or the certificate is not trusted
	BadAnswer    Failure = "answer"     // not an HTTP answer, or too long
)

// errLimit is the cause of the end of a request that took too long.
var errLimit = errors.New("webhook: the time limit has passed")

// proxyError is the error of a proxy that does not connect.
type proxyError struct{ status int }

func (e *proxyError) Error() string {
	return fmt.Sprintf("webhook: proxy answered with status %d", e.status)
}

// progress records how far a request came, which not all errors of net/http and crypto/tls tell. It does not record
// interim answers, because net/http would then not limit them.
type progress struct{ handshakeFailed, connected, answering atomic.Bool }

func (p *progress) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		TLSHandshakeDone:     func(_ tls.ConnectionState, err error) { p.handshakeFailed.Store(err != nil) },
		GotConn:              func(httptrace.GotConnInfo) { p.connected.Store(true) },
		GotFirstResponseByte: func() { p.answering.Store(true) },
	}
}

// failure returns why there was no answer. detail has neither the URL nor an address: owners of endpoints must not
// learn names in private networks.
func (p *progress) failure(err error, limited context.Context) (f Failure, detail string) {
	var (
		name  *net.DNSError
		proxy *proxyError
	)
	switch {
	case errors.Is(err, netguard.ErrAddress):
		return BadAddress, "The host resolves to an address that is not public."
	case timeIsUp(limited) && p.connected.Load():
		return TimedOut, timeoutDetail("answer")
	case timeIsUp(limited):
		return TimedOut, timeoutDetail("connection")
	case errors.As(err, &name) && name.IsNotFound:
		return NoName, "The host name was not found."
	case errors.As(err, &name):
		return NoName, "The host name could not be looked up."
	case errors.As(err, &proxy):
		return NoConnection, fmt.Sprintf("The egress proxy answered with status %d.", proxy.status)
	case p.handshakeFailed.Load() && !isBroken(err), isTLSAlert(err):
		return BadTLS, tlsDetail(err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return NoConnection, "The connection was refused."
	case !p.connected.Load():
		return NoConnection, "No connection could be made."
	case !p.answering.Load() || isBroken(err):
		return NoConnection, "The connection ended before there was an answer."
	}
	return BadAnswer, badAnswerDetail
}

var badAnswerDetail = fmt.Sprintf("The answer is not HTTP/1.1, or its headers are longer than %d KiB.", headerLimit>>10)

// timeoutDetail returns the sentence about what did not happen in time.
func timeoutDetail(what string) string {
	return fmt.Sprintf("There was no %s within %d seconds.", what, webhook.ResponseTimeout/time.Second)
}

// isBroken reports whether a connection was closed in the middle of an exchange.
func isBroken(err error) bool {
	for _, end := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE} {
		if errors.Is(err, end) {
			return true
		}
	}
	return false
}

// isTLSAlert reports whether the endpoint refused the connection by a TLS alert. In TLS 1.3, an endpoint that
// requires a client certificate does so after the handshake.
func isTLSAlert(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error"
}

func tlsDetail(err error) string {
	var (
		name    x509.HostnameError
		issuer  x509.UnknownAuthorityError
		invalid x509.CertificateInvalidError
		record  tls.RecordHeaderError
	)
	switch {
	case errors.As(err, &name):
		return "The certificate is not for this host."
	case errors.As(err, &issuer):
		return "The certificate was not issued by a trusted authority, or intermediate certificates are missing."
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "The certificate has expired, or is not valid yet."
	case errors.As(err, &record):
		return "The endpoint does not speak TLS."
	}
	return "The TLS handshake failed: version 1.2 or 1.3 and a trusted certificate are required."
}

// timeIsUp reports whether the deadline has passed. An operation may notice that before the context does.
func timeIsUp(limited context.Context) bool {
	end, ok := limited.Deadline()
	return limited.Err() != nil || ok && !time.Now().Before(end) // time: the deadline of a context
}
