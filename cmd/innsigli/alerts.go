package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/internal/mail"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// alerts tells the admins of accounts of trouble with their webhooks, by mail.
type alerts struct {
	accounts interface {
		Account(ctx context.Context, id string) (account.Account, error)
	}
	mail interface {
		enqueue(ctx context.Context, m mail.Message) error
	} // nil: there is none
	head letterhead
	log  *slog.Logger
}

var _ delivery.Alerts = alerts{}

// Alert has mail sent to all admins. What cannot be told to anybody is in the log.
func (a alerts) Alert(ctx context.Context, alert delivery.Alert) error {
	owner, err := a.accounts.Account(ctx, alert.Account)
	if err != nil && !errors.Is(err, account.ErrNotFound) {
		return err
	}
	if a.mail == nil || len(owner.Admins) == 0 {
		return a.untold(alert, "there is no mail, or the account has no admins")
	}
	m, err := alertMail(alert, a.head)
	if err != nil {
		return err
	}
	m.To = owner.Admins
	if err := a.mail.enqueue(ctx, m); err != nil {
		return fmt.Errorf("telling admins of a webhook: %w", err)
	}
	return nil
}

func (a alerts) untold(alert delivery.Alert, why string) error {
	a.log.Warn("nobody was told of trouble with a webhook", "account", alert.Account, "subscription", alert.Subscription,
		"purpose", string(alert.Purpose), "reason", string(alert.Reason), "since", alert.Since, "why", why)
	return nil
}
