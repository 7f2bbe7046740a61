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

// Failure is what kept a request from going well.
type Failure string

const (
	BadStatus    Failure = "status"     // the answer is not the one that was wanted
	TimedOut     Failure = "timeout"    // no answer within 15 seconds
	BadAddress   Failure = "address"    // the name leads to an address that is not a public one
	NoName       Failure = "dns"        // the name was not found
	NoConnection Failure = "connection" // refused, or broken before there was an answer
	BadTLS       Failure = "tls"        // no handshake, or a certificate that is not trusted
	BadAnswer    Failure = "answer"     // what came is no answer over HTTP, or too long
)

// errLimit ends a request that has taken too long.
var errLimit = errors.New("webhook: time is up")

// proxyError is a proxy that does not connect.
type proxyError struct{ status int }

func (e *proxyError) Error() string {
	return fmt.Sprintf("webhook: proxy answered with status %d", e.status)
}

// progress is how far a request came. Not all errors of net/http and crypto/tls say where they
// happened. It does not watch interim answers: net/http would then no longer bound them.
type progress struct{ handshakeFailed, connected, answering atomic.Bool }

func (p *progress) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		TLSHandshakeDone:     func(_ tls.ConnectionState, err error) { p.handshakeFailed.Store(err != nil) },
		GotConn:              func(httptrace.GotConnInfo) { p.connected.Store(true) },
		GotFirstResponseByte: func() { p.answering.Store(true) },
	}
}

// failure says why there was no answer. detail names neither the URL nor an address: the names of
// private networks are not for the owners of endpoints.
func (p *progress) failure(err error, limited context.Context) (f Failure, detail string) {
	var (
		name  *net.DNSError
		proxy *proxyError
	)
	switch {
	case errors.Is(err, netguard.ErrAddress):
		return BadAddress, "The host leads to an address that is not public."
	case over(limited) && p.connected.Load():
		return TimedOut, late("answer")
	case over(limited):
		return TimedOut, late("connection")
	case errors.As(err, &name) && name.IsNotFound:
		return NoName, "The host name was not found."
	case errors.As(err, &name):
		return NoName, "The host name could not be looked up."
	case errors.As(err, &proxy):
		return NoConnection, fmt.Sprintf("The egress proxy answered with status %d.", proxy.status)
	case p.handshakeFailed.Load() && !broken(err), alerted(err):
		return BadTLS, tlsDetail(err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return NoConnection, "The connection was refused."
	case !p.connected.Load():
		return NoConnection, "No connection could be made."
	case !p.answering.Load() || broken(err):
		return NoConnection, "The connection broke before there was an answer."
	}
	return BadAnswer, fmt.Sprintf("What came is not an answer over HTTP/1.1, or its headers are longer than %d KiB.", headLimit>>10)
}

// late says what did not come in time.
func late(what string) string {
	return fmt.Sprintf("There was no %s within %d seconds.", what, webhook.ResponseTimeout/time.Second)
}

// broken says whether a connection ended in the middle of something.
func broken(err error) bool {
	for _, end := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE} {
		if errors.Is(err, end) {
			return true
		}
	}
	return false
}

// alerted says whether the other side refused over TLS. In TLS 1.3 one that wants a certificate of
// ours does so after the handshake.
func alerted(err error) bool {
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
		return "The certificate is not one for the host."
	case errors.As(err, &issuer):
		return "The certificate is not under a trusted authority, or intermediate certificates are missing."
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "The certificate has expired, or is not valid yet."
	case errors.As(err, &record):
		return "What listens there does not speak TLS."
	}
	return "There was no TLS handshake: version 1.2 or 1.3 and a trusted certificate are required."
}

// over says whether there is no time left. A deadline that has passed may be noticed by what heeds it,
// as a lookup does, before the context says so.
func over(limited context.Context) bool {
	end, ok := limited.Deadline()
	return limited.Err() != nil || ok && !time.Now().Before(end) // time: the deadline of a context
}
