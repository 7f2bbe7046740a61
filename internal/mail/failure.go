package mail

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// ErrRefused is returned if the message, or one of its recipients, will not be accepted later either.
var ErrRefused = errors.New("mail: refused permanently")

// Failure is the error of a message that a server did not accept. It is [ErrRefused] if it is permanent.
type Failure struct {
	Step     Step
	Code     int    // of the server's reply (RFC 5321 4.2); 0: no reply
	Enhanced string // the enhanced status code, such as 5.1.1 (RFC 3463); "": none
	Reason   string // if there is no reply
	// Unclear means that the message was sent and there was no reply, so that it is not known whether the server has
	// accepted it (RFC 1047). If the caller sends it again, it may be delivered twice; otherwise it may be lost.
	Unclear   bool
	Permanent bool
}

// Step is the step of a session in which a failure occurred.
type Step string

// The steps of a session, in their order.
const (
	StepConnect  Step = "connecting"
	StepHello    Step = "EHLO"
	StepStartTLS Step = "STARTTLS"
	StepAuth     Step = "AUTH"
	StepFrom     Step = "MAIL FROM"
	StepTo       Step = "RCPT TO"
	StepData     Step = "DATA"
	StepEnd      Step = "the end of the message"
)

func (f *Failure) Error() string {
	text := fmt.Sprintf("mail: %s: %s", f.Step, f.Reason)
	if f.Code != 0 {
		text = fmt.Sprintf("mail: %s: the server answered %d", f.Step, f.Code)
	}
	if f.Enhanced != "" {
		text += " " + f.Enhanced
	}
	if f.Permanent {
		text += ", permanently"
	}
	return text
}

// Is reports whether the target is [ErrRefused] and the failure is permanent.
func (f *Failure) Is(target error) bool { return target == ErrRefused && f.Permanent }

// failure returns the Failure of a step. It omits the text of the server's reply, which may contain recipients.
func failure(step Step, err error) error {
	f := &Failure{Step: step}
	reply := new(textproto.Error)
	if !errors.As(err, &reply) {
		f.Reason = reason(step, err)
		f.Unclear = step == StepEnd
		return f
	}
	f.Code, f.Enhanced = reply.Code, enhancedCode.FindString(reply.Msg)
	f.Permanent = reply.Code >= 500 && isAboutMessage(step) && !slices.Contains(serverCodes, reply.Code)
	return f
}

// isAboutMessage reports whether a reply in a step concerns the message. Replies in earlier steps concern the
// server, the login or the sender's address, which an operator can correct while messages wait.
func isAboutMessage(step Step) bool { return step == StepTo || step == StepData || step == StepEnd }

// serverCodes lists codes that do not concern the message in any step: those of the order of commands (RFC 5321 4.2.2),
// of logins (RFC 4954 6) and of hosts without mail (RFC 7504).
var serverCodes = []int{500, 502, 503, 521, 530, 534, 535, 538}

// enhancedCode matches the enhanced status code at the beginning of a reply's text (RFC 2034 4).
var enhancedCode = regexp.MustCompile(`^[245]\.\d{1,3}\.\d{1,3}\b`)

// reason returns the text for an error without a reply. It does not use texts of the server, which may contain personal
// data.
func reason(step Step, err error) string {
	untrusted := new(tls.CertificateVerificationError)
	ours, malformed := new(protocolError), textproto.ProtocolError("")
	switch {
	case errors.As(err, &ours):
		return ours.Error()
	case errors.As(err, &untrusted):
		return "the server's certificate is not trusted: " + truncate(untrusted.Err.Error())
	case errors.As(err, &malformed):
		return notSMTP
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return "no answer came in time"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed),
		errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "the connection was cut"
	case step == StepConnect, step == StepStartTLS:
		return truncate(err.Error())
	}
	return notSMTP
}

const notSMTP = "the answer is not SMTP"

// truncate returns the first 300 bytes of a text.
func truncate(text string) string {
	const maxReason = 300
	if len(text) > maxReason {
		text = strings.ToValidUTF8(text[:maxReason], "") + "…"
	}
	return text
}

// protocolError is a violation of the protocol by the server, or an extension that it lacks.
type protocolError string

func (e *protocolError) Error() string { return string(*e) }

func newProtocolError(format string, args ...any) error {
	e := protocolError(fmt.Sprintf(format, args...))
	return &e
}
