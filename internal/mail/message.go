package mail

import (
	"fmt"

	gomail "github.com/wneessen/go-mail"
)

// message is a message as it is sent.
func (s sender) message(m Message) (*gomail.Msg, error) {
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	msg.FromMailAddress(s.from)
	msg.ReplyToMailAddress(s.replyTo)
	if err := msg.EnvelopeFrom(s.envelope.Address); err != nil {
		return nil, fmt.Errorf("%w: the address for failures is none", ErrRefused)
	}
	if err := msg.To(m.To...); err != nil {
		return nil, fmt.Errorf("%w: a recipient is no address", ErrRefused)
	}
	msg.Subject(m.Subject)
	msg.SetMessageIDWithValue(m.ID + "@" + s.domain())
	msg.SetDate()
	msg.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834 5: no absence notes, please
	msg.SetBodyString(gomail.TypeTextPlain, m.Text)
	if m.HTML != "" {
		msg.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	}
	return msg, nil
}
