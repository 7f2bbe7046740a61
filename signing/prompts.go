package signing

import (
	"context"
	"errors"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/internal/promptlimit"
)

// The limits of how often a person is asked (spec 1.9). A request counts from the transaction that stores it. One that ends
// in a signature, or before the person was asked, is forgotten; any other remains counted, and is pending until the person
// has answered or it ends. A request that is deleted before, as when its start died, is pending as long as it could have run.

// prompt returns the request as package promptlimit counts it. order is nil unless the request is being stored.
func (s *Service) prompt(r *Request, order *Order) promptlimit.Prompt {
	p := promptlimit.Prompt{
		ID: r.ID, Account: r.Account, Until: s.limit(r),
		Persons: []string{promptlimit.Kennitala(r.Person.Kennitala)},
	}
	if r.Person.Method == idp.SIM {
		p.Persons = append(p.Persons, promptlimit.Phone(r.Person.Phone))
	}
	if order != nil {
		p.Link = order.Signer
	}
	return p
}

// unanswered reports whether the person may still have to answer.
func (r *Request) unanswered() bool { return r.Phase == Starting || r.Phase == Waiting }

// countPrompt counts a new request, in the transaction that stores it.
func (s *Service) countPrompt(ctx context.Context, r *Request, order *Order) error {
	return s.options.Prompts.Count(ctx, r.CreatedAt, s.prompt(r, order))
}

// settlePrompt records what became of the prompt, in the transaction that stores it.
func (s *Service) settlePrompt(ctx context.Context, r *Request) error {
	now, p := s.now(ctx), s.prompt(r, nil)
	signed := r.Phase == Signed || r.Phase == Complete
	if signed || r.Refused && (r.Failure.Code == idp.CommunicationError || r.Failure.Code == idp.SystemUnderMaintenance) {
		return s.options.Prompts.Forget(ctx, now, p)
	}
	return s.options.Prompts.Answered(ctx, now, p)
}

// settleFailedStart records what became of the prompt of a start that failed with sess.startError. If no conversation with
// the identity provider has begun, the person was not asked. If the provider refused the start because of a limit, the
// account does not ask the person again for a while.
func (sess *session) settleFailedStart(ctx context.Context, r *Request) error {
	now, p := sess.now(ctx), sess.prompt(r, nil)
	var limit *idp.TooManyRequestsError
	if errors.As(sess.startError, &limit) {
		return sess.options.Prompts.Defer(ctx, now, p, limit.RetryAfter)
	}
	if !sess.begun {
		return sess.options.Prompts.Forget(ctx, now, p)
	}
	return sess.options.Prompts.Answered(ctx, now, p)
}
