package portal

import (
	"context"

	"github.com/innsigli/innsigli/internal/failpoint"
	"github.com/innsigli/innsigli/portal/process"
	"github.com/innsigli/innsigli/storage"
)

// Login has somebody whom an electronic ID has identified take the place that a link leads to, by its
// token, which is used up then; the same person may do so again, which is nothing new and not recorded.
// At of the person is set here. It returns whose page the link leads on to. [ErrNotFound]: the link has
// expired, another has taken its place, or it never was one. [ErrOtherPerson]: the place is another's;
// the link stays as it is.
func (s *Service) Login(ctx context.Context, token string, who Person) (processID, participant string, err error) {
	hash := hashOf(token)
	who = normal(who)
	err = storage.InTx(ctx, s.tx, func(ctx context.Context) error {
		p, err := s.store.ProcessByLink(ctx, hash)
		if err != nil {
			return found(err)
		}
		e := process.LogIn{Link: hash, Person: who}
		effects, err := p.apply(e, s.now(ctx))
		if err != nil {
			return err
		}
		processID, participant = p.ID, p.linked(hash).ID
		if len(effects) == 0 { // the same person has used the link before
			return nil
		}
		if err := s.carryOut(ctx, &p, e, effects); err != nil {
			return err
		}
		return s.save(ctx, p)
	})
	if err != nil {
		return "", "", err
	}
	failpoint.Here("portal/loggedin")
	return processID, participant, nil
}

// LoginAgain admits somebody whom an electronic ID has identified to the page of a participant, which
// only the person may see who logged in with the link (spec 4.3); also after the answer, to read.
// [ErrNotFound], [ErrNotLoggedIn], [ErrOtherPerson].
func (s *Service) LoginAgain(ctx context.Context, processID, participant string, who Person) error {
	return s.change(ctx, processID, process.LogInAgain{Participant: participant, Person: normal(who)})
}
