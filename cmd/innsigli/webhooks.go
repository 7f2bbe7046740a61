package main

import (
	"context"
	"net/url"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/sealed"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// privateWebhooksFlag is for trials with an endpoint on this machine.
type privateWebhooksFlag struct {
	PrivateWebhooks bool `name:"insecure-allow-private-webhooks" help:"Let the URLs of webhooks be http, and lead to this machine and private networks: for trials. In production it needs a base URL on this machine."`
}

// hooks makes the service of the webhooks, with a key to sign them.
func (c setup) hooks(ctx context.Context, db store, tx storage.Transactor, keys *sealed.Keys, accounts *account.Service, measured *metrics) (*delivery.Service, error) {
	if c.private {
		c.log.Warn("webhooks may go to this machine and private networks")
	}
	o := delivery.Options{
		EventTypes:       portal.EventTypes(),
		MaxSubscriptions: c.webhooks.maxSubscriptions,
		Endpoints:        c.endpoints(),
		Observed:         measured.attempt,
	}
	if c.production { // the sandbox sends no mail (service.md 4.4 item 10)
		told := alerts{accounts: accounts, head: headOf(c.operator), log: c.log}
		if c.mail != nil {
			told.mail = c.mailJobs(db)
		}
		o.Alerts = told
	}
	hooks := delivery.New(sealed.Webhooks(db.Webhooks(), keys), tx, db.Jobs(), o)
	measured.backlog(hooks.OldestDue)
	return hooks, hooks.EnsureKey(ctx)
}

// mailJobs is for a server with mail.
func (c setup) mailJobs(db store) mailJobs {
	return mailJobs{db, db.Jobs(), c.mail, c.log, db.EvidenceLog()}
}

// endpoints are those that webhooks may go to.
func (c setup) endpoints() delivery.Endpoints {
	e := delivery.Endpoints{AllowPrivate: c.private}
	if proxy := c.webhooks.proxy; proxy != (url.URL{}) {
		e.Proxy = &proxy
	}
	return e
}
