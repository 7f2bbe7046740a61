package mail

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/wneessen/go-mail/log"
)

// dialogue tells what is said on both sides, C for us and S for the server.
type dialogue struct {
	told   func(line string)
	secret string // which nobody is told, whoever says it
	codes  bool   // of answers only codes are told
}

// ofCodes is for a login: the server may repeat what it was told then, in whatever form that was.
func (d dialogue) ofCodes() dialogue {
	d.codes = true
	return d
}

var _ log.Logger = dialogue{}

// Debugf is told of commands and answers, and of secrets that there were some.
func (d dialogue) Debugf(l log.Log) {
	if l.Direction == log.DirClientToServer {
		d.tell("C", fmt.Sprintf(l.Format, l.Messages...))
		return
	}
	if code, ok := l.Messages[0].(int); ok && code != 0 {
		d.answered(code, fmt.Sprint(l.Messages[1]))
	}
}

// answered tells an answer as it came, with its code before each line (RFC 5321 4.2.1).
func (d dialogue) answered(code int, text string) {
	if d.codes {
		d.tell("S", strings.TrimSpace(fmt.Sprint(code)+" "+enhancedCode.FindString(text)))
		return
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		between := "-"
		if i == len(lines)-1 {
			between = " "
		}
		d.tell("S", fmt.Sprint(code)+between+line)
	}
}

func (d dialogue) Infof(log.Log)  {}
func (d dialogue) Warnf(log.Log)  {}
func (d dialogue) Errorf(log.Log) {}

// maxTold is how much of one thing that is said is told.
const maxTold = 4 << 10

// tell tells text line by line. What it does to a terminal is taken out: it may be the server's.
func (d dialogue) tell(who, text string) {
	if d.secret != "" {
		text = strings.ReplaceAll(text, d.secret, "(secret)")
	}
	text = strings.ReplaceAll(text, "<SMTP auth data redacted>", "(secret)")
	if len(text) > maxTold {
		text = text[:maxTold] + "…"
	}
	for line := range strings.Lines(strings.ToValidUTF8(text, "?")) {
		d.told(who + ": " + strings.Map(printed, strings.TrimRight(line, "\r\n")))
	}
}

func printed(r rune) rune {
	if !unicode.IsPrint(r) {
		return '?'
	}
	return r
}
