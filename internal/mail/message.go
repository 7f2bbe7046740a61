package mail

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	gomail "github.com/wneessen/go-mail"
)

// message is a message as it is sent.
func (s sender) message(m Message) (*gomail.Msg, error) {
	for what, text := range map[string]string{"its ID": m.ID, "one of its languages": strings.Join(m.Languages, "-")} {
		if strings.ContainsFunc(text, outsideToken) || len(text) > 200 {
			return nil, fmt.Errorf("%w: %s has characters that a header cannot have", ErrRefused, what)
		}
	}
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	msg.FromMailAddress(s.from)
	msg.ReplyToMailAddress(s.replyTo)
	if err := msg.EnvelopeFrom(s.envelope.Address); err != nil {
		return nil, fmt.Errorf("%w: the address for failures is none", ErrRefused)
	}
	if err := msg.To(m.To...); err != nil || len(m.To) == 0 {
		return nil, fmt.Errorf("%w: a recipient is no address", ErrRefused)
	}
	msg.Subject(m.Subject)
	msg.SetMessageIDWithValue(m.ID + "@" + s.domain())
	msg.SetDate()
	msg.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834 5: no absence notes, please
	if len(m.Languages) > 0 {
		msg.SetGenHeader("Content-Language", slices.Clone(m.Languages)...)
	}
	msg.SetBodyString(gomail.TypeTextPlain, m.Text)
	if m.HTML != "" {
		msg.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	}
	if len(m.Logo) > 0 {
		err := msg.EmbedReader("logo.png", bytes.NewReader(m.Logo), gomail.WithFileContentID("<"+logoID+">"), gomail.WithFileContentType("image/png"))
		if err != nil {
			return nil, fmt.Errorf("mail: the logo: %w", err)
		}
	}
	return msg, nil
}

// outsideToken says whether a rune is none of those that a Message-ID and a language may have.
func outsideToken(r rune) bool {
	return !strings.ContainsRune("-_.", r) && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
}
