package portal

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/internal/failpoint"
	"github.com/innsigli/innsigli/portal/process"
	"github.com/innsigli/innsigli/storage"
)

// tokenSize is the size of a link's token in bytes, before it is encoded in base64url.
const tokenSize = 32

// newLink returns the link of an invitation.
func newLink(now time.Time) Link {
	random := make([]byte, tokenSize)
	rand.Read(random)
	token := base64.RawURLEncoding.EncodeToString(random)
	return Link{InvitedAt: now, Hash: hashToken(token), Token: []byte(token)}
}

// hashToken returns the hash by which the store finds a link. The token cannot be computed from it.
func hashToken(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// Login records the login of a person, whom an electronic ID has identified, with the token of a link. The person becomes
// the participant and the link is used up. If the same person logs in with the link again, nothing changes and nothing
// is recorded. Login sets the person's At. It returns the process and the participant that the link belongs to.
//
// Errors: [ErrNotFound] if there is no such link, if it has expired or if a new link has replaced it; [ErrOtherPerson]
// if the participant is another person; [ErrTurn] while a sandbox user signs as the participant. An error does not use up
// the link.
func (s *Service) Login(ctx context.Context, token string, who Person) (processID, participant string, err error) {
	hash := hashToken(token)
	e := process.LogIn{Link: hash, Person: normalizePerson(who)}
	err = storage.InTx(ctx, s.tx, func(ctx context.Context) error {
		p, err := s.store.ProcessByLink(ctx, hash)
		if err != nil {
			return readError(err)
		}
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

// LoginAgain records a login on the page of a participant. Only the person who logged in with the link may do so
// (spec 4.3), also after the participant has answered. Errors: [ErrNotFound], [ErrNotLoggedIn], [ErrOtherPerson].
func (s *Service) LoginAgain(ctx context.Context, processID, participant string, who Person) error {
	return s.change(ctx, processID, process.LogInAgain{Participant: participant, Person: normalizePerson(who)})
}

// normalizePerson returns the person with the kennitala in the form that package process compares.
func normalizePerson(who Person) Person {
	who.Kennitala = idp.NormalizeKennitala(who.Kennitala)
	return who
}

// Resend invites the signers that a process waits for again, and the viewers who have not opened their link, as described
// at [process.InviteAgain]. It returns how many participants were invited. Operators call it. Errors: [ErrNotFound];
// [ErrNotWaiting] if there is no participant to invite.
func (s *Service) Resend(ctx context.Context, id string) (n int, err error) {
	err = storage.InTx(ctx, s.tx, func(ctx context.Context) error {
		p, err := s.process(ctx, id)
		if err != nil {
			return err
		}
		at := s.now(ctx)
		e := process.InviteAgain{NewLink: func() Link { return newLink(at) }}
		effects, err := p.apply(e, at)
		if err != nil {
			return err
		}
		var invited []string
		for _, effect := range effects {
			if effect.Kind == process.SendInvitation {
				invited = append(invited, effect.Participant)
			}
		}
		n = len(invited)
		if err := s.record(ctx, &p, invitedEntry, invitedFacts{invited}); err != nil {
			return err
		}
		if err := s.carryOut(ctx, &p, e, effects); err != nil {
			return err
		}
		return s.save(ctx, p)
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}
