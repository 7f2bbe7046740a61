package mail

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/wneessen/go-mail/log"
)

// tracer writes the commands of the client (C) and the replies of the server (S) to Options.Trace.
type tracer struct {
	write     func(line string)
	secret    string // replaced in all lines
	codesOnly bool   // only the codes of replies are written
}

// withCodesOnly returns a tracer for the time of the authentication, in which replies may contain the password in
// encoded form.
func (t tracer) withCodesOnly() tracer {
	t.codesOnly = true
	return t
}

var _ log.Logger = tracer{}

// Debugf implements [log.Logger]. The SMTP client calls it with each command and reply, and redacts secrets.
func (t tracer) Debugf(l log.Log) {
	if l.Direction == log.DirClientToServer {
		t.traceText("C", fmt.Sprintf(l.Format, l.Messages...))
		return
	}
	if code, ok := l.Messages[0].(int); ok && code != 0 {
		t.traceReply(code, fmt.Sprint(l.Messages[1]))
	}
}

// traceReply writes a reply with its code before each line (RFC 5321 4.2.1).
func (t tracer) traceReply(code int, text string) {
	if t.codesOnly {
		t.traceText("S", strings.TrimSpace(fmt.Sprint(code)+" "+enhancedCode.FindString(text)))
		return
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		separator := "-"
		if i == len(lines)-1 {
			separator = " "
		}
		t.traceText("S", fmt.Sprint(code)+separator+line)
	}
}

// Infof implements [log.Logger].
func (t tracer) Infof(log.Log) {}

// Warnf implements [log.Logger].
func (t tracer) Warnf(log.Log) {}

// Errorf implements [log.Logger].
func (t tracer) Errorf(log.Log) {}

// maxTraced is the number of bytes of a command or reply that are written.
const maxTraced = 4 << 10

// traceText writes a text of a party line by line. It replaces characters that are not printable, since the server
// could send control sequences of terminals.
func (t tracer) traceText(party, text string) {
	if t.secret != "" {
		text = strings.ReplaceAll(text, t.secret, "(secret)")
	}
	text = strings.ReplaceAll(text, "<SMTP auth data redacted>", "(secret)")
	if len(text) > maxTraced {
		text = text[:maxTraced] + "…"
	}
	for line := range strings.Lines(strings.ToValidUTF8(text, "?")) {
		t.write(party + ": " + strings.Map(printable, strings.TrimRight(line, "\r\n")))
	}
}

// printable returns r, or '?' if it is not printable.
func printable(r rune) rune {
	if !unicode.IsPrint(r) {
		return '?'
	}
	return r
}
