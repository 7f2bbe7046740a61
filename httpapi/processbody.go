package httpapi

import (
	"github.com/innsigli/innsigli/portal"
)

// process is a signing process on the wire (spec 4.2).
type process struct {
	ID           string        `json:"signingProcessId"`
	Status       portal.Status `json:"status"`
	CreatedAt    string        `json:"createdAt"`
	Participants []participant `json:"participants"`
}

// participant is one of a signing process.
type participant struct {
	ID            string        `json:"participantId"`
	Name          string        `json:"name"`
	Email         string        `json:"email"`
	Role          portal.Role   `json:"role"`
	Status        portal.Status `json:"status"`
	HasCompleted  bool          `json:"hasCompleted"`
	HasDeclined   bool          `json:"hasDeclined"`
	DeclineReason *string       `json:"declineReason"`
	SigningURL    *string       `json:"signingUrl"`
}

func (a *api) processBody(v portal.ProcessView) process {
	body := process{ID: v.ID, Status: v.Status, CreatedAt: timestamp(v.CreatedAt), Participants: []participant{}}
	for _, one := range v.Participants {
		body.Participants = append(body.Participants, a.participantBody(one))
	}
	return body
}

func (a *api) participantBody(v portal.ParticipantState) participant {
	body := participant{
		ID: v.ID, Name: v.Name, Email: v.Email, Role: v.Role, Status: v.Status,
		HasCompleted: v.Signature != nil, HasDeclined: v.Decline != nil,
	}
	if v.Decline != nil {
		body.DeclineReason = &v.Decline.Reason
	}
	if v.Path != "" {
		body.SigningURL = new(a.BaseURL + v.Path)
	}
	return body
}
