package notify

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/internal/mail"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// Alerts tells the admins of accounts of trouble with their webhooks, by mail.
type Alerts struct {
	Accounts interface {
		Account(ctx context.Context, id string) (account.Account, error)
	}
	Mail interface {
		Enqueue(ctx context.Context, m mail.Message) error
	} // nil: the server sends no mail
	Letterhead Letterhead
	Log        *slog.Logger
}

var _ delivery.Alerts = Alerts{}

// Alert implements [delivery.Alerts]: it has mail sent to all admins. Where there is nobody to tell, the log says so.
func (a Alerts) Alert(ctx context.Context, alert delivery.Alert) error {
	owner, err := a.Accounts.Account(ctx, alert.Account)
	if err != nil && !errors.Is(err, account.ErrNotFound) {
		return err
	}
	if a.Mail == nil || len(owner.Admins) == 0 {
		return a.logUntold(alert, "there is no mail, or the account has no admins")
	}
	m, err := alertMail(alert, a.Letterhead)
	if err != nil {
		return err
	}
	m.To = owner.Admins
	if err := a.Mail.Enqueue(ctx, m); err != nil {
		return fmt.Errorf("telling admins of a webhook: %w", err)
	}
	return nil
}

func (a Alerts) logUntold(alert delivery.Alert, why string) error {
	a.Log.Warn("nobody was told of trouble with a webhook", "account", alert.Account, "subscription", alert.Subscription,
		"purpose", string(alert.Purpose), "reason", string(alert.Reason), "since", alert.Since, "why", why)
	return nil
}

// wordings are what alerts say in one language. HOST is the endpoint's, SINCE since when it has not
// done what it should.
type wordings struct {
	pings, checks                    wording // are not answered as they should be
	pingsFailed, securityCheckFailed wording // and it was switched off
}

func (w wordings) of(a delivery.Alert) wording {
	switch {
	case a.Reason == delivery.SecurityCheckFailed:
		return w.securityCheckFailed
	case a.Reason == delivery.PingsFailed:
		return w.pingsFailed
	case a.Purpose == delivery.ForCheck:
		return w.checks
	}
	return w.pings
}

var alertsInIcelandic = wordings{
	pings: wording{"Vefkrókur svarar ekki rétt", "HOST hefur ekki svarað rétt frá SINCE. Reynt er aftur á fimm mínútna fresti. " +
		"Svari hann ekki rétt í þrjá daga verður hann gerður óvirkur."},
	checks: wording{"Vefkrókur svarar öryggisprófunum ekki rétt", "HOST hefur ekki svarað öryggisprófunum með stöðunni 401 frá SINCE. " +
		"Það eru beiðnir með undirskrift sem stenst ekki. Reynt er aftur á fimm mínútna fresti. " +
		"Vefkrókurinn er áfram virkur, en verður gerður óvirkur ef hann samþykkir slíka beiðni."},
	pingsFailed: wording{"Vefkrókur var gerður óvirkur", "HOST hefur ekki svarað rétt í þrjá daga, frá SINCE. " +
		"Engir atburðir eru sendir þangað fyrr en vefkrókurinn hefur verið virkjaður aftur."},
	securityCheckFailed: wording{"Vefkrókur var gerður óvirkur", "HOST samþykkti beiðni með undirskrift sem stenst ekki. " +
		"Slíkri beiðni á að svara með stöðunni 401. Lagfærið sannprófun undirskrifta og virkið vefkrókinn svo aftur."},
}

var alertsInEnglish = wordings{
	pings: wording{"A webhook does not answer as it should", "HOST has not answered as it should since SINCE. It is tried again every five minutes. " +
		"After three days it will be switched off."},
	checks: wording{"A webhook does not answer security checks as it should", "HOST has not answered security checks with status 401 since SINCE. " +
		"They are requests whose signature does not verify. They are tried again every five minutes. " +
		"The webhook stays active, and will be switched off if it accepts one."},
	pingsFailed: wording{"A webhook was switched off", "HOST has not answered as it should for three days, since SINCE. " +
		"No events are sent there until the webhook is activated again."},
	securityCheckFailed: wording{"A webhook was switched off", "HOST accepted a request whose signature does not verify. " +
		"Such a request is to be answered with status 401. Mend the verification of signatures, then activate the webhook again."},
}

// alertMail is the message for an alert, in Icelandic and in English. Of the URL it tells the host:
// the rest may be a secret.
func alertMail(a delivery.Alert, head Letterhead) (mail.Message, error) {
	endpoint, err := url.Parse(a.URL)
	if err != nil {
		return mail.Message{}, fmt.Errorf("the URL of subscription %s cannot be read", a.Subscription)
	}
	is, en := alertsInIcelandic.of(a), alertsInEnglish.of(a)
	return notice{
		Head:    head,
		Subject: fmt.Sprintf("%s / %s: %s", is.title, en.title, endpoint.Host),
		Languages: []translation{
			{Lang: "is", Title: is.title, Text: is.with("HOST", endpoint.Host, "SINCE", icelandicTime(a.Since)), Facts: []fact{{"Áskrift", a.Subscription}}},
			{Lang: "en", Title: en.title, Text: en.with("HOST", endpoint.Host, "SINCE", englishTime(a.Since)), Facts: []fact{{"Subscription", a.Subscription}}},
		},
	}.message(a.ID)
}
