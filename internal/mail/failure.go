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

// ErrRefused: the message, or one of its recipients, will not be taken later either.
var ErrRefused = errors.New("mail: refused for good")

// Failure is why a server did not take a message. It is [ErrRefused] if it is permanent.
type Failure struct {
	Step     Step
	Code     int    // the server's answer (RFC 5321 4.2); 0: none came
	Enhanced string // what it says more exactly, such as 5.1.1 (RFC 3463); "": nothing
	Says     string // what happened in place of an answer
	// Unclear: the message was handed over and no answer came, so that nobody knows whether it was taken
	// (RFC 1047). Who sends it again may send it twice, and who does not may lose it.
	Unclear   bool
	Permanent bool
}

// Step is where in the conversation with a server it was.
type Step string

// The steps of a conversation, in their order.
const (
	Connecting     Step = "connecting"
	Hello          Step = "EHLO"
	StartingTLS    Step = "STARTTLS"
	Authenticating Step = "AUTH"
	From           Step = "MAIL FROM"
	To             Step = "RCPT TO"
	Data           Step = "DATA"
	End            Step = "the end of the message"
)

func (f *Failure) Error() string {
	text := fmt.Sprintf("mail: %s: %s", f.Step, f.Says)
	if f.Code != 0 {
		text = fmt.Sprintf("mail: %s: the server answered %d", f.Step, f.Code)
	}
	if f.Enhanced != "" {
		text += " " + f.Enhanced
	}
	if f.Permanent {
		text += ", for good"
	}
	return text
}

func (f *Failure) Is(target error) bool { return target == ErrRefused && f.Permanent }

// failed is the failure of a step. Words of a server are left out: it likes to repeat recipients.
func failed(at Step, err error) error {
	f := &Failure{Step: at}
	said := new(textproto.Error)
	if !errors.As(err, &said) {
		f.Says = reason(at, err)
		f.Unclear = at == End
		return f
	}
	f.Code, f.Enhanced = said.Code, enhancedCode.FindString(said.Msg)
	f.Permanent = said.Code >= 500 && judges(at) && !slices.Contains(ofServer, said.Code)
	return f
}

// judges says whether an answer at the step is about the message. What is answered before is about the
// server, the login or the sender's address: an operator can mend that while messages wait.
func judges(at Step) bool { return at == To || at == Data || at == End }

// ofServer are answers that are not about a message at any step: the order of commands (RFC 5321 4.2.2),
// logins (RFC 4954 6) and hosts without mail (RFC 7504).
var ofServer = []int{500, 502, 503, 521, 530, 534, 535, 538}

// enhancedCode is at the beginning of an answer's text (RFC 2034 4).
var enhancedCode = regexp.MustCompile(`^[245]\.\d{1,3}\.\d{1,3}\b`)

// reason says what happened, in words of our own where those of others might name somebody.
func reason(at Step, err error) string {
	untrusted := new(tls.CertificateVerificationError)
	wrong, garbled := new(protocolError), textproto.ProtocolError("")
	switch {
	case errors.As(err, &wrong):
		return wrong.Error()
	case errors.As(err, &untrusted):
		return "the server's certificate is not trusted: " + short(untrusted.Err.Error())
	case errors.As(err, &garbled):
		return notSMTP
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return "no answer came in time"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed),
		errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "the connection was cut"
	case at == Connecting, at == StartingTLS:
		return short(err.Error())
	}
	return notSMTP
}

const notSMTP = "what the server says is no SMTP"

// short is the beginning of a text that others have a part in.
func short(text string) string {
	const enough = 300
	if len(text) > enough {
		text = strings.ToValidUTF8(text[:enough], "") + "…"
	}
	return text
}

// protocolError is what the server does or offers not as it should.
type protocolError string

func (e *protocolError) Error() string { return string(*e) }

func protocol(format string, args ...any) error {
	e := protocolError(fmt.Sprintf(format, args...))
	return &e
}
