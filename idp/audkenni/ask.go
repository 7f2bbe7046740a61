package audkenni

import (
	"context"
	"encoding/base64"
	"errors"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/ciba"
)

// question is what a person is asked. binding_message and binding_content are always there,
// and may be empty.
func question(hint, acr, text string, sum []byte) ciba.Request {
	return ciba.Request{LoginHint: hint, ACR: acr, Extra: map[string]any{
		"binding_message": text,
		"binding_content": base64.StdEncoding.EncodeToString(sum),
	}}
}

// ask asks the person for something, or begins to.
func (p *Provider) ask(ctx context.Context, c *conversation, next phase, r ciba.Request) (idp.Event, error) {
	r.Scope, r.Ping = p.scope, c.Notification
	now := time.Now()
	asked, err := p.options.Client.Ask(ctx, r)
	if err != nil {
		return p.refused(ctx, c, err)
	}
	c.asked(next, asked, now)
	c.Unheard = 0
	return p.waiting(c, idp.Failure{}), nil
}

// mostUnheard is how often a person is asked the same again because the answer to the request
// was lost: their phone may have rung each time.
const mostUnheard = 2

// refused is what becomes of a conversation whose question was not taken, or of which nobody
// knows whether it was.
func (p *Provider) refused(ctx context.Context, c *conversation, err error) (idp.Event, error) {
	if f := p.errors.refusal(err); f != nil {
		return failed(*f, err), nil
	}
	if lost := new(ciba.TransportError); errors.As(err, &lost) && lost.Sent {
		c.Unheard++
	}
	if (c.AuthReqID == "" || c.Unheard > mostUnheard) && ctx.Err() == nil {
		if f, ok := p.errors.unreachable(err); ok {
			return failed(f, err), nil
		}
	}
	return nil, fault(err, max(c.Interval, 5*time.Second))
}

// fetch asks for the answer, which is given once.
func (p *Provider) fetch(ctx context.Context, c *conversation) (idp.Event, error) {
	tokens, err := p.options.Client.Tokens(ctx, c.AuthReqID)
	if err == nil {
		c.Tokens = &tokens
		return idp.Continue{Answer: c.Phase == signing}, nil
	}
	f, late := p.errors.refusal(err), !time.Now().Before(c.expires)
	switch {
	case f == nil && (ctx.Err() != nil || !late):
		return nil, fault(err, c.Interval)
	case late && (f == nil || f.Code.Pending() || f.Code == idp.InvalidGrant): // or it is forgotten by now
		return expired, nil
	case f.Code == idp.SlowDown: // for good (CIBA Core 11)
		c.Interval += 5 * time.Second
		return p.waiting(c, *f), nil
	case f.Code == idp.AuthorizationPending:
		return p.waiting(c, *f), nil
	}
	return failed(*f, err), nil
}

// pingPatience is how long nobody need poll where a ping tells that there is news. One may
// get lost.
const pingPatience = 30 * time.Second

// waiting says when there may be news: the end is, too. said is what the provider answered.
func (p *Provider) waiting(c *conversation, said idp.Failure) idp.Event {
	wait, slowDown := c.Interval, said.Code == idp.SlowDown
	if p.options.Ping && !slowDown {
		wait = max(wait, pingPatience)
	}
	return idp.Waiting{Code: c.Code, RetryAfter: max(0, min(wait, time.Until(c.expires))), SlowDown: slowDown, Description: said.Description}
}

// failed is a failure that is no answer to a poll, so that none can come after it. What the
// provider said is in the failure; of what it did not say, err tells more.
func failed(f idp.Failure, err error) idp.Event {
	if f.Code.Pending() {
		f.Code = ""
	}
	if said := new(ciba.Error); errors.As(err, &said) {
		err = nil
	}
	return idp.Failed{Failure: f, Cause: err}
}
