package portal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/portal/process"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

// ProcessView is a process at a time, with what depends on the time: the status, EndedAt and the paths.
type ProcessView struct {
	Process
	Status       Status
	Participants []ParticipantState
}

// ParticipantState is a participant of a [ProcessView].
type ParticipantState struct {
	Participant
	Status Status
	Path   string // [Process.Path]
}

// ParticipantView is a process as the page of one participant shows it.
type ParticipantView struct {
	ProcessView
	Participant ParticipantState
	Link        process.LinkState // of the participant
}

// DocumentCopy is the document of a process at a time. The caller closes it.
type DocumentCopy struct {
	FileName string
	Revision int // [Process.Revision]
	storage.Blob
}

func (p *Process) view(now time.Time) ProcessView {
	v := ProcessView{Process: *p, Status: p.Status(now)}
	v.setEndedAt(now)
	for _, one := range p.Participants {
		v.Participants = append(v.Participants, p.participantState(one, now))
	}
	return v
}

func (p *Process) participantState(one Participant, now time.Time) ParticipantState {
	return ParticipantState{one, one.Status(), p.Path(one, now)}
}

// participantView returns the view of one of the participants; [ErrNotFound] if one is nil.
func (p *Process) participantView(one *Participant, now time.Time) (ParticipantView, error) {
	if one == nil {
		return ParticipantView{}, ErrNotFound
	}
	return ParticipantView{ProcessView: p.view(now), Participant: p.participantState(*one, now), Link: one.LinkState(now)}, nil
}

// Process returns a process of an account that was created with the API (spec 4.5). [ErrNotFound] if there is no such
// process.
func (s *Service) Process(ctx context.Context, account, id string) (ProcessView, error) {
	p, err := s.ofAccount(ctx, account, id)
	if err != nil {
		return ProcessView{}, err
	}
	return p.view(s.now(ctx)), nil
}

// Document opens the document of a process of an account, at any status of the process, and returns its file name. The
// caller closes it. [ErrNotFound] as for [Service.Process].
func (s *Service) Document(ctx context.Context, account, id string) (fileName string, content storage.Blob, err error) {
	p, err := s.ofAccount(ctx, account, id)
	if err != nil {
		return "", nil, err
	}
	if content, err = s.open(ctx, p); err != nil {
		return "", nil, err
	}
	return p.FileName, content, nil
}

// LinkView returns the view of the participant that a link belongs to, by its token, also if the link is used up or has
// expired. It changes nothing. [ErrNotFound] if there is no such link, if a new link has replaced it or if the process
// was deleted.
func (s *Service) LinkView(ctx context.Context, token string) (ParticipantView, error) {
	hash := hashToken(token)
	p, err := s.store.ProcessByLink(ctx, hash)
	if err != nil {
		return ParticipantView{}, readError(err)
	}
	return p.participantView(p.linked(hash), s.now(ctx))
}

// ParticipantView returns the view of a participant. [ErrNotFound] if there is no such participant.
func (s *Service) ParticipantView(ctx context.Context, process, participant string) (ParticipantView, error) {
	p, err := s.process(ctx, process)
	if err != nil {
		return ParticipantView{}, err
	}
	return p.participantView(p.participant(participant), s.now(ctx))
}

// openAttempts is how often [Service.Open] opens a document to which signatures are added meanwhile.
const openAttempts = 5

// Open opens the document of a process for a participant, at any status of the process. The caller closes it. Errors:
// [ErrNotFound] if there is no such participant; [ErrChanged] if signatures were added during each attempt.
func (s *Service) Open(ctx context.Context, process, participant string) (DocumentCopy, error) {
	p, err := s.process(ctx, process)
	if err != nil {
		return DocumentCopy{}, err
	}
	if p.participant(participant) == nil {
		return DocumentCopy{}, ErrNotFound
	}
	for range openAttempts {
		content, err := s.open(ctx, p)
		if err != nil {
			return DocumentCopy{}, err
		}
		c := DocumentCopy{FileName: p.FileName, Revision: p.Revision(), Blob: content}
		if p, err = s.process(ctx, process); err == nil && p.Revision() == c.Revision {
			return c, nil // one transaction changes the process and the document, so no signature was added meanwhile
		}
		if err = errors.Join(err, content.Close()); err != nil {
			return DocumentCopy{}, err
		}
	}
	return DocumentCopy{}, ErrChanged
}

// open opens the document of a process. [ErrNotFound] if the process was deleted meanwhile.
func (s *Service) open(ctx context.Context, p Process) (storage.Blob, error) {
	content, err := s.documents.Open(ctx, p.Document)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("portal: opening the document: %w", err)
	}
	return content, nil
}

// Progress returns the progress of a request of [Service.Sign]. If request is empty, it is the request of the
// participant's current turn. [ErrNotFound] if the request is not one of this participant, if it was deleted, or if the
// participant has no turn.
func (s *Service) Progress(ctx context.Context, process, participant, request string) (signing.Progress, error) {
	p, err := s.process(ctx, process)
	if err != nil {
		return signing.Progress{}, err
	}
	if request == "" {
		if p.Turn == nil || p.Turn.Participant != participant {
			return signing.Progress{}, ErrNotFound
		}
		request = p.Turn.Request
	}
	progress, err := s.signing.Progress(ctx, request)
	switch {
	case errors.Is(err, signing.ErrFinished):
		return signing.Progress{}, ErrNotFound
	case err != nil:
		return signing.Progress{}, fmt.Errorf("portal: looking at the signature under way: %w", err)
	}
	if turn, err := parseTurnID(progress.Order); err != nil || turn.participantRef != (participantRef{process, participant}) {
		return signing.Progress{}, ErrNotFound
	}
	return progress, nil
}

// process reads a process of any account and origin. [ErrNotFound] if there is no such process.
func (s core) process(ctx context.Context, id string) (Process, error) {
	p, err := s.store.Process(ctx, id)
	return p, readError(err)
}

// ofAccount reads a process that the API shows to an account. [ErrNotFound] if there is no such process.
func (s *Service) ofAccount(ctx context.Context, account, id string) (Process, error) {
	p, err := s.process(ctx, id)
	if err == nil && !(p.Origin == API && p.Account == account) {
		return Process{}, ErrNotFound
	}
	return p, err
}

// readError returns [ErrNotFound] for storage.ErrNotFound, and wraps other errors.
func readError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, storage.ErrNotFound):
		return ErrNotFound
	}
	return fmt.Errorf("portal: reading the process: %w", err)
}
