package main

import (
	"fmt"
	"io"
	"time"

	"github.com/innsigli/innsigli/portal"
)

// shownProcess is what an operator sees of a process: neither links nor what identifies people
// beyond their names and addresses.
type shownProcess struct {
	ID, Account  string
	Origin       portal.Origin
	Status       portal.Status
	CreatedAt    time.Time
	Until        time.Time // when it expires, or has expired; zero: it does not
	FileName     string
	Size         int64 // bytes of the document as it is now
	Participants []shownParticipant
}

type shownParticipant struct {
	ID, Name, Email string
	Role            portal.Role
	State           string
	Pinned          bool
	Invited         time.Time
	Opened          time.Time // zero: not yet
	Answered        time.Time // zero: not yet
}

// signingState is that of the participant whose turn it is.
const signingState = "Signing"

func showProcess(p portal.Process, size int64, now time.Time) shownProcess {
	shown := shownProcess{
		ID: p.ID, Account: p.Account, Origin: p.Origin, Status: p.Status(now), CreatedAt: p.CreatedAt,
		Until: p.WaitsUntil(), FileName: p.FileName, Size: size,
	}
	for _, one := range p.Participants {
		row := shownParticipant{
			ID: one.ID, Name: one.Name, Email: one.Email, Role: one.Role, State: string(one.Status()),
			Pinned: one.Kennitala != "", Invited: one.Link.InvitedAt,
		}
		if p.Turn != nil && p.Turn.Participant == one.ID {
			row.State = signingState
		}
		if one.Person != nil {
			row.Opened = one.Person.At
		}
		switch {
		case one.Signature != nil:
			row.Answered = one.Signature.At
		case one.Decline != nil:
			row.Answered = one.Decline.At
		}
		shown.Participants = append(shown.Participants, row)
	}
	return shown
}

func (p shownProcess) print(w io.Writer) error {
	status := string(p.Status)
	switch p.Status {
	case portal.Waiting:
		status += ", until " + timeText(p.Until)
	case portal.Expired:
		status += ", since " + timeText(p.Until)
	}
	if _, err := fmt.Fprintf(w, `process   %s
account   %s
origin    %s
status    %s
created   %s
document  %d bytes, %s

`, p.ID, p.Account, p.Origin, status, timeText(p.CreatedAt), p.Size, plain(p.FileName)); err != nil {
		return err
	}
	return table(w, "PARTICIPANT\tROLE\tSTATE\tPINNED\tINVITED\tOPENED\tANSWERED\tEMAIL\tNAME", p.Participants, func(one shownParticipant) string {
		pinned := "no"
		if one.Pinned {
			pinned = "yes"
		}
		return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s",
			one.ID, one.Role, one.State, pinned, timeText(one.Invited), timeOrDash(one.Opened), timeOrDash(one.Answered), plain(one.Email), plain(one.Name))
	})
}

// timeOrDash is a dash for a time that is not known.
func timeOrDash(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return timeText(t)
}

// timeText is empty for a time that is not known.
func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
