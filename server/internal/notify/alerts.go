package notify

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/internal/mail"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// Alerts sends mail about failing webhooks to the admins of accounts.
type Alerts struct {
	Accounts interface {
		Account(ctx context.Context, id string) (account.Account, error)
	}
	Mail interface {
		Enqueue(ctx context.Context, account string, m mail.Message) error
	} // nil: the server sends no mail
	Letterhead Letterhead
	Log        *slog.Logger
}

var _ delivery.Alerts = Alerts{}

// Alert implements [delivery.Alerts]. It enqueues mail to all admins. Without admins or a mail server it logs the troubles
// instead.
func (a Alerts) Alert(ctx context.Context, d delivery.Digest) error {
	owner, err := a.Accounts.Account(ctx, d.Account)
	if err != nil && !errors.Is(err, account.ErrNotFound) {
		return err
	}
	if a.Mail == nil || len(owner.Admins) == 0 {
		a.logTroubles(d)
		return nil
	}
	m, err := digestMail(d, a.Letterhead)
	if err != nil {
		return err
	}
	m.To = owner.Admins
	if err := a.Mail.Enqueue(ctx, d.Account, m); err != nil {
		return fmt.Errorf("sending an alert about webhooks: %w", err)
	}
	return nil
}

func (a Alerts) logTroubles(d delivery.Digest) {
	for _, one := range d.Troubles {
		a.Log.Warn("no recipient for an alert about a webhook", "account", d.Account, "subscription", one.Subscription,
			"purpose", string(one.Purpose), "reason", string(one.Reason), "since", one.Since)
	}
}

// wordings are the texts of mail about webhooks in one language. HOST is the host of the endpoint, and SINCE
// [delivery.Trouble.Since].
type wordings struct {
	pings, checks                    wording // are not answered correctly; the webhook stays active
	pingsFailed, securityCheckFailed wording // the webhook was deactivated
	several                          wording // subscriptions; NUMBER is how many
	subscription                     string
	time                             func(time.Time) string
}

func (w wordings) of(t delivery.Trouble) wording {
	switch {
	case t.Reason == delivery.SecurityCheckFailed:
		return w.securityCheckFailed
	case t.Reason == delivery.PingsFailed:
		return w.pingsFailed
	case t.Purpose == delivery.ForCheck:
		return w.checks
	}
	return w.pings
}

var alertsInIcelandic = wordings{
	pings: wording{"Vefkrókur svarar ekki rétt", "HOST hefur ekki svarað rétt frá SINCE. Reynt er aftur á fimm mínútna fresti. " +
		"Ef vefkrókurinn svarar ekki rétt í þrjá daga verður hann gerður óvirkur."},
	checks: wording{"Vefkrókur svarar öryggisprófunum ekki rétt", "HOST svaraði öryggisprófun ekki með stöðunni 401, síðast SINCE. " +
		"Öryggisprófun er beiðni með undirskrift sem stenst ekki. Reynt er aftur á fimm mínútna fresti. " +
		"Vefkrókurinn er áfram virkur, en verður gerður óvirkur ef hann samþykkir slíka beiðni."},
	pingsFailed: wording{"Vefkrókur var gerður óvirkur", "HOST hefur ekki svarað rétt í þrjá daga, frá SINCE. " +
		"Engir atburðir eru sendir þangað fyrr en vefkrókurinn hefur verið virkjaður aftur."},
	securityCheckFailed: wording{"Vefkrókur var gerður óvirkur", "HOST samþykkti beiðni með undirskrift sem stenst ekki. " +
		"Slíkri beiðni á að svara með stöðunni 401. Lagfærið sannprófun undirskrifta og virkið vefkrókinn svo aftur."},
	several:      wording{"Vefkrókar svara ekki rétt: NUMBER", "Þessar áskriftir svara ekki rétt, eða voru gerðar óvirkar vegna þess."},
	subscription: "Áskrift",
	time:         icelandicTime,
}

var alertsInEnglish = wordings{
	pings: wording{"A webhook does not answer correctly", "HOST has not answered correctly since SINCE. The service tries again every five minutes. " +
		"If the webhook does not answer correctly for three days, it will be switched off."},
	checks: wording{"A webhook does not answer security checks correctly", "HOST did not answer a security check with status 401, last on SINCE. " +
		"A security check is a request whose signature does not verify. The service tries again every five minutes. " +
		"The webhook stays active, but will be switched off if it accepts such a request."},
	pingsFailed: wording{"A webhook was switched off", "HOST has not answered correctly for three days, since SINCE. " +
		"No events are sent there until the webhook is activated again."},
	securityCheckFailed: wording{"A webhook was switched off", "HOST accepted a request whose signature does not verify. " +
		"The correct answer to such a request is status 401. Correct the verification of signatures, then activate the webhook again."},
	several:      wording{"Webhooks do not answer correctly: NUMBER", "These subscriptions do not answer correctly, or were switched off for that reason."},
	subscription: "Subscription",
	time:         englishTime,
}

// digestMail returns the message for a digest, in Icelandic and in English. It has only the hosts of URLs, since the
// rest may be secret.
func digestMail(d delivery.Digest, head Letterhead) (mail.Message, error) {
	hosts := make([]string, len(d.Troubles))
	for i, one := range d.Troubles {
		endpoint, err := url.Parse(one.URL)
		if err != nil {
			return mail.Message{}, fmt.Errorf("the URL of subscription %s cannot be read", one.Subscription)
		}
		hosts[i] = endpoint.Host
	}
	is, en := alertsInIcelandic.translation("is", d.Troubles, hosts), alertsInEnglish.translation("en", d.Troubles, hosts)
	subject := is.Title + " / " + en.Title
	if len(hosts) == 1 {
		subject += ": " + hosts[0]
	}
	return notice{Head: head, Subject: subject, Languages: []translation{is, en}}.message(d.ID)
}

// translation returns the text of a digest: for one trouble its own text, for several a list.
func (w wordings) translation(lang string, troubles []delivery.Trouble, hosts []string) translation {
	text := func(i int) string {
		return w.of(troubles[i]).with("HOST", hosts[i], "SINCE", w.time(troubles[i].Since))
	}
	if len(troubles) == 1 {
		return translation{
			Lang: lang, Title: w.of(troubles[0]).title, Text: text(0),
			Facts: []fact{{w.subscription, troubles[0].Subscription}},
		}
	}
	all := translation{
		Lang: lang, Title: strings.ReplaceAll(w.several.title, "NUMBER", strconv.Itoa(len(troubles))), Text: w.several.text,
	}
	for i, one := range troubles {
		all.List = append(all.List, fact{w.subscription + " " + one.Subscription, text(i)})
	}
	return all
}
