package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/innsigli/innsigli/webhook"
)

type webhookVerifyCommand struct {
	Secret string    `placeholder:"HEX" help:"The secret of the subscription: 64 hexadecimal characters, or whsec_ and Base64."`
	Key    string    `placeholder:"FILE" help:"File with public keys of the service, as /.well-known/webhook-key.pub answers; or with whpk_ and Base64, or a secret, which other users of this machine then do not see."`
	At     time.Time `placeholder:"TIME" help:"Judge as of this time, such as 2026-06-17T12:00:00Z (default now)."`
}

func (webhookVerifyCommand) Help() string {
	return "It reads a request from stdin as it was received: the request line, if there, the headers, an empty line, and the body with no byte more or less. A request verifies when one of its signatures does and it was sent at most five minutes before or after the time of --at. Then the exit status is 0, else 1; 2 is for wrong usage.\n\nExample: innsigli webhook verify --key webhook-key.pub --at 2026-06-17T12:00:00Z < request.txt"
}

func (c webhookVerifyCommand) Run(s streams) error {
	keys, err := c.keys()
	if err != nil {
		return err
	}
	header, body, err := readRequest(os.Stdin)
	if err != nil {
		return err
	}
	if c.At.IsZero() {
		c.At = time.Now()
	}
	verified, refused := verifyDelivery(c.At, header, body, keys)
	if err := printDelivery(s.out, header, body, verified); err != nil {
		return err
	}
	if refused == nil {
		return nil
	}
	s.say(strings.TrimPrefix(refused.Error(), "webhook: "))
	if advice := deliveryAdvice(refused, header, body); advice != "" {
		s.say(advice)
	}
	return errSilent
}

// keys are those of the flags.
func (c webhookVerifyCommand) keys() ([]webhook.Key, error) {
	var keys []webhook.Key
	if c.Secret != "" {
		key, err := webhook.ParseKey(c.Secret)
		if err != nil {
			return nil, fmt.Errorf("%w: --secret: %w", errUsage, keyFault(err))
		}
		keys = append(keys, key)
	}
	if c.Key != "" {
		text, err := os.ReadFile(c.Key)
		if err != nil {
			return nil, err
		}
		more, err := webhook.ParseKeys(string(text))
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", c.Key, keyFault(err))
		}
		keys = append(keys, more...)
	}
	if keys == nil {
		return nil, fmt.Errorf("%w: --secret or --key is needed", errUsage)
	}
	return keys, nil
}

// keyFault is why a text is no key, without what names the package.
func keyFault(err error) error {
	var refused *webhook.KeyError
	switch {
	case !errors.As(err, &refused):
		return err
	case refused.Line > 0:
		return fmt.Errorf("line %d: %s", refused.Line, refused.Message)
	}
	return errors.New(refused.Message)
}

// verifyDelivery returns the schemes that verify, each once, or why none does.
func verifyDelivery(at time.Time, header http.Header, body []byte, keys []webhook.Key) (verified []string, refused error) {
	for _, scheme := range []webhook.Scheme{webhook.V1, webhook.V1a} {
		var those []webhook.Key
		for _, k := range keys {
			if k.Scheme() == scheme {
				those = append(those, k)
			}
		}
		err := webhook.VerifyAt(at, header, body, those...)
		switch {
		case err == nil:
			verified = append(verified, string(scheme))
		case !errors.Is(err, webhook.ErrNoKeys):
			refused = err
		}
	}
	if verified != nil {
		return verified, nil
	}
	return nil, refused
}

// printDelivery prints what the request says, whether or not it verifies.
func printDelivery(w io.Writer, header http.Header, body []byte, verified []string) error {
	verdict := "none"
	if verified != nil {
		verdict = strings.Join(verified, " ")
	}
	rows := [][2]string{{"verified", verdict}, {"id", shown(header.Get(webhook.HeaderID))}}
	if e, err := webhook.ParseEvent(header, body); err != nil {
		rows = append(rows, [2]string{"event", "none: the body is not that of an event"})
	} else {
		rows = append(rows, [2]string{"type", shown(e.Type)}, [2]string{"time", timeText(e.Timestamp)})
	}
	rows = append(rows, [2]string{"sent", sentText(header)}, [2]string{"subscription", shown(header.Get(webhook.HeaderSubscription))})
	for _, row := range rows {
		if row[1] == "" {
			continue
		}
		if _, err := fmt.Fprintf(w, "%-14s %s\n", row[0], row[1]); err != nil {
			return err
		}
	}
	return nil
}
