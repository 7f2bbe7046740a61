package notify

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/internal/mail"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// outbox takes messages, or refuses them.
type outbox struct {
	sent []mail.Message
	err  error
}

func (o *outbox) Enqueue(_ context.Context, _ string, m mail.Message) error {
	if o.err == nil {
		o.sent = append(o.sent, m)
	}
	return o.err
}

// knownAccounts are the accounts of a store; nil: it is away.
type knownAccounts map[string]account.Account

func (k knownAccounts) Account(_ context.Context, id string) (account.Account, error) {
	if k == nil {
		return account.Account{}, storage.ErrUnavailable
	}
	if a, ok := k[id]; ok {
		return a, nil
	}
	return account.Account{}, account.ErrNotFound
}

func TestAlerts(t *testing.T) {
	accounts := knownAccounts{"with": {Admins: []string{"one@example.is", "two@example.is"}}, "without": {}}
	temporary := errors.New("not now")
	for name, test := range map[string]struct {
		accounts knownAccounts
		account  string
		out      *outbox // nil: there is no mail
		want     error
		sent     int
		logged   bool
	}{
		"told":              {accounts, "with", &outbox{}, nil, 1, false},
		"no mail":           {accounts, "with", nil, nil, 0, true},
		"no recipient":      {accounts, "without", &outbox{}, nil, 0, true},
		"a deleted account": {accounts, "gone", &outbox{}, nil, 0, true},
		"no store":          {nil, "with", &outbox{}, storage.ErrUnavailable, 0, false},
		"neither":           {nil, "with", nil, storage.ErrUnavailable, 0, false},
		"no queue":          {accounts, "with", &outbox{err: temporary}, temporary, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			a := Alerts{Accounts: test.accounts, Log: slog.New(slog.NewTextHandler(&log, nil))}
			if test.out != nil {
				a.Mail = test.out
			}
			err := a.Alert(t.Context(), delivery.Digest{ID: "i", Account: test.account, Troubles: []delivery.Trouble{
				{Subscription: "s", URL: "https://example.is/secret", Since: time.Now()},
			}})
			if !errors.Is(err, test.want) || (log.Len() > 0) != test.logged {
				t.Errorf("%v, log %q", err, &log)
			}
			if test.out != nil && len(test.out.sent) != test.sent {
				t.Errorf("%d messages", len(test.out.sent))
			}
			if strings.Contains(log.String(), "@") || strings.Contains(log.String(), "example.is") {
				t.Errorf("the log tells too much: %s", &log)
			}
		})
	}
}

// Each alert is told in both languages, in text and in HTML, with the host and without the path.
func TestAlertMail(t *testing.T) {
	since := time.Date(2026, 3, 1, 7, 5, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		purpose delivery.Purpose
		reason  delivery.Reason
		subject string
		words   []string
		not     string
	}{
		"pings fail": {delivery.ForPing, "", "Vefkrókur svarar ekki rétt / A webhook does not answer correctly",
			[]string{"1. mars 2026 kl. 07:05", "í þrjá daga", "1 March 2026 at 07:05 UTC", "five minutes", "three days"}, "401"},
		"checks fail": {delivery.ForCheck, "", "Vefkrókur svarar öryggisprófunum ekki rétt / A webhook does not answer security checks correctly",
			[]string{"með stöðunni 401", "1. mars 2026 kl. 07:05", "áfram virkur", "with status 401", "1 March 2026 at 07:05 UTC", "five minutes", "stays active"}, "three days"},
		"off by pings": {delivery.ForPing, delivery.PingsFailed, "Vefkrókur var gerður óvirkur / A webhook was switched off",
			[]string{"í þrjá daga", "1. mars 2026 kl. 07:05", "for three days", "1 March 2026 at 07:05 UTC"}, "401"},
		"off by a check": {delivery.ForCheck, delivery.SecurityCheckFailed, "Vefkrókur var gerður óvirkur / A webhook was switched off",
			[]string{"undirskrift sem stenst ekki", "does not verify", "401"}, "three days"},
		"the same, queued by an older version": {delivery.ForPing, delivery.SecurityCheckFailed, "Vefkrókur var gerður óvirkur / A webhook was switched off",
			[]string{"undirskrift sem stenst ekki", "does not verify", "401"}, "three days"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := digestMail(delivery.Digest{ID: "i", Troubles: []delivery.Trouble{{
				Subscription: "0b6c8f0e", URL: "https://hooks.example.is:8443/secret?key=secret",
				Purpose: test.purpose, Reason: test.reason, Since: since,
			}}}, Letterhead{})
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{m.Text, m.HTML} {
				for _, word := range append(test.words, "hooks.example.is:8443", "0b6c8f0e") {
					if !strings.Contains(text, word) {
						t.Errorf("no %q in\n%s", word, text)
					}
				}
				for _, word := range []string{"secret", "HOST", "SINCE", test.not} {
					if strings.Contains(text, word) {
						t.Errorf("%q in\n%s", word, text)
					}
				}
			}
			if want := test.subject + ": hooks.example.is:8443"; m.Subject != want {
				t.Errorf("subject %q, want %q", m.Subject, want)
			}
		})
	}
}

// A digest of several subscriptions lists each with what is wrong with it.
func TestDigestMail(t *testing.T) {
	since := time.Date(2026, 3, 1, 7, 5, 0, 0, time.UTC)
	m, err := digestMail(delivery.Digest{ID: "i", Troubles: []delivery.Trouble{
		{Subscription: "0b6c8f0e", URL: "https://one.example.is/secret", Purpose: delivery.ForPing, Since: since},
		{Subscription: "7c9e6679", URL: "https://two.example.is/secret", Purpose: delivery.ForCheck, Since: since},
		{Subscription: "9a2b6f7c", URL: "https://three.example.is/secret", Purpose: delivery.ForCheck, Reason: delivery.SecurityCheckFailed, Since: since},
	}}, Letterhead{})
	if err != nil {
		t.Fatal(err)
	}
	if want := "Vefkrókar svara ekki rétt: 3 / Webhooks do not answer correctly: 3"; m.Subject != want {
		t.Errorf("subject %q, want %q", m.Subject, want)
	}
	for _, text := range []string{m.Text, m.HTML} {
		for _, word := range []string{
			"0b6c8f0e", "one.example.is has not answered correctly since 1 March 2026 at 07:05 UTC", "one.example.is hefur ekki svarað rétt frá 1. mars 2026 kl. 07:05",
			"7c9e6679", "two.example.is did not answer a security check with status 401, last on 1 March 2026", "síðast 1. mars 2026",
			"9a2b6f7c", "three.example.is accepted a request", "three.example.is samþykkti beiðni",
		} {
			if !strings.Contains(text, word) {
				t.Errorf("no %q in\n%s", word, text)
			}
		}
		for _, word := range []string{"secret", "HOST", "SINCE", "NUMBER"} {
			if strings.Contains(text, word) {
				t.Errorf("%q in\n%s", word, text)
			}
		}
	}
}
