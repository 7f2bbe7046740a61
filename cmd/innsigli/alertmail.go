package main

import (
	"fmt"
	"net/url"

	"github.com/innsigli/innsigli/internal/mail"
	"github.com/innsigli/innsigli/webhook/delivery"
)

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
func alertMail(a delivery.Alert, head letterhead) (mail.Message, error) {
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
