package main

import (
	"errors"
	"time"

	"github.com/innsigli/innsigli/portal"
)

// writer has what letters about a process tell of.
type writer struct {
	process     portal.Process
	participant portal.Participant
	sender      string
	baseURL     string
}

// invitation is that of a time; another may have been made since, or none may be needed any more.
func (w writer) invitation(made, now time.Time) (notice, error) {
	one := w.participant
	signs := one.Role == portal.Signer
	if !one.Link.InvitedAt.Equal(made) || signs && (one.Status() != portal.Waiting || w.process.Status(now) != portal.Waiting) {
		return notice{}, errOutdated
	}
	link, err := w.link(now)
	if err == nil && link == "" {
		err = errOutdated
	}
	if err != nil {
		return notice{}, err
	}
	words, use := viewerWords, useLink
	if signs {
		words = signerWords
	}
	if one.Person != nil {
		use = usePage
	}
	return words.and(use).notice(w.process.FileName, link, made.Add(portal.InvitationTime), "SENDER", w.sender), nil
}

// completion leads to the page that the participant logs in to, or to the link that leads there
// first. Whose link has expired unopened has neither, and gets word all the same.
func (w writer) completion(now time.Time) (notice, error) {
	link, err := w.link(now)
	if err != nil {
		return notice{}, err
	}
	more := fetchIt
	if link == "" {
		more = askForLink
	}
	return completionWords.and(more).notice(w.process.FileName, link, time.Time{}, "SENDER", w.sender), nil
}

// errSealed: another server may have the key.
var errSealed = errors.New("the link of the participant does not open with this server's master key")

// link is where the participant signs or reads, after the answer too; empty when there is no such
// place.
func (w writer) link(now time.Time) (string, error) {
	one := w.participant
	switch path := w.process.Path(one, now); {
	case path != "":
		return w.baseURL + path, nil
	case one.Person != nil:
		return w.baseURL + w.process.Page(one.ID), nil
	case one.LinkState(now) == portal.Unopened:
		return "", errSealed
	}
	return "", nil
}

// refusal names the process, by which the account knows it, and who it was: somebody may have had the
// place who is not whom it was meant for.
func (w writer) refusal() (notice, error) {
	decline, name := w.participant.Decline, w.participant.Name
	if decline == nil {
		return notice{}, errOutdated
	}
	words := refusalWords
	if who := w.participant.Person; who != nil && who.Name != "" && who.Name != name {
		words, name = otherRefusalWords, who.Name
	}
	n := words.notice(w.process.FileName, "", time.Time{}, "NAME", name, "INVITED", w.participant.Name)
	n.Languages[0].Facts = []fact{{"Undirritunarferli", w.process.ID}}
	n.Languages[1].Facts = []fact{{"Signing process", w.process.ID}}
	if reason := plain(decline.Reason); reason != "" {
		n.Languages[0].Facts = append(n.Languages[0].Facts, fact{"Skýring", reason})
		n.Languages[1].Facts = append(n.Languages[1].Facts, fact{"Reason", reason})
	}
	return n, nil
}
