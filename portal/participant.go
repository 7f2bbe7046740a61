package portal

import "github.com/innsigli/innsigli/idp"

// present finds a signer who may still answer and has logged in. [ErrNotFound], [ErrViewer],
// [ErrAnswered], [ErrNotLoggedIn].
func (p *Process) present(participant string) (*Participant, error) {
	one, err := p.unanswered(participant)
	if err == nil && one.Person == nil {
		err = ErrNotLoggedIn
	}
	return one, err
}

// unanswered finds a signer who may still answer. [ErrNotFound], [ErrViewer], [ErrAnswered].
func (p *Process) unanswered(participant string) (*Participant, error) {
	one := p.participant(participant)
	switch {
	case one == nil:
		return nil, ErrNotFound
	case one.Role != Signer:
		return nil, ErrViewer
	case !one.waits():
		return nil, ErrAnswered
	}
	return one, nil
}

// whose is the kennitala of the person whose place it is; empty: nobody's yet.
func (p *Participant) whose() string {
	if p.Person != nil {
		return p.Person.Kennitala
	}
	return p.Kennitala
}

// admits says whether the place is that of a person, or may become it (spec 4.3). Who has no
// kennitala is nobody in particular.
func (p *Participant) admits(kennitala string) bool {
	kennitala = idp.NormalKennitala(kennitala)
	whose := idp.NormalKennitala(p.whose())
	return kennitala != "" && (whose == "" || whose == kennitala)
}
