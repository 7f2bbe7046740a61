package portal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

// ParticipantView is a participant's, with all that their page tells.
type ParticipantView struct {
	ProcessView
	Participant ParticipantState
	Link        LinkState // of the participant
}

// DocumentCopy is the document of a process as it is at a time. Its Blob is to be closed.
type DocumentCopy struct {
	FileName string
	Revision int // [Process.Revision]
	storage.Blob
}

// LinkView returns the view of the participant that a link leads to, by its token, also when the link was opened or has
// expired. It changes nothing. [ErrNotFound]: there never was such a link, another one has taken its
// place, or the process is deleted.
func (s *Service) LinkView(ctx context.Context, token string) (ParticipantView, error) {
	hash := hashOf(token)
	p, err := s.store.ProcessByLink(ctx, hash)
	if err != nil {
		return ParticipantView{}, found(err)
	}
	return p.place(p.linked(hash), s.now(ctx))
}

// ParticipantView returns the view of a participant. [ErrNotFound].
func (s *Service) ParticipantView(ctx context.Context, process, participant string) (ParticipantView, error) {
	p, err := s.process(ctx, process)
	if err != nil {
		return ParticipantView{}, err
	}
	return p.place(p.participant(participant), s.now(ctx))
}

// place is that of one of the participants; nil: [ErrNotFound].
func (p *Process) place(one *Participant, now time.Time) (ParticipantView, error) {
	if one == nil {
		return ParticipantView{}, ErrNotFound
	}
	return ParticipantView{ProcessView: p.view(now), Participant: p.viewOf(*one, now), Link: one.LinkState(now)}, nil
}

// openTries bounds how often a call finds that the document has moved on while it was opened.
const openTries = 5

// Open opens the document for a participant, whatever has become of the process. The caller closes it.
// [ErrNotFound]; [ErrChanged]: it changes all the time.
func (s *Service) Open(ctx context.Context, process, participant string) (DocumentCopy, error) {
	p, err := s.process(ctx, process)
	if err != nil {
		return DocumentCopy{}, err
	}
	if p.participant(participant) == nil {
		return DocumentCopy{}, ErrNotFound
	}
	for range openTries {
		content, err := s.open(ctx, p)
		if err != nil {
			return DocumentCopy{}, err
		}
		c := DocumentCopy{FileName: p.FileName, Revision: p.Revision(), Blob: content}
		if p, err = s.process(ctx, process); err == nil && p.Revision() == c.Revision {
			return c, nil // a signature lands in the process and in the document at once, so there was none
		}
		if err = errors.Join(err, content.Close()); err != nil {
			return DocumentCopy{}, err
		}
	}
	return DocumentCopy{}, ErrChanged
}

// open opens the document of a process as it is now. [ErrNotFound].
func (s *Service) open(ctx context.Context, p Process) (storage.Blob, error) {
	content, err := s.documents.Open(ctx, p.Document)
	if errors.Is(err, storage.ErrNotFound) { // the process was deleted meanwhile
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("portal: opening the document: %w", err)
	}
	return content, nil
}

// Progress says what has become of a request of [Service.Sign], or of the participant's present turn
// when request is empty. [ErrNotFound]: it is not this participant's, or not known any more.
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
	if o, err := parseOrder(progress.Order); err != nil || o.process != process || o.participant != participant {
		return signing.Progress{}, ErrNotFound
	}
	return progress, nil
}
