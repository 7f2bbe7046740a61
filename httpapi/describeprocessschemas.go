package httpapi

import (
	"github.com/innsigli/innsigli/httpapi/internal/openapi"
	"github.com/innsigli/innsigli/portal"
)

var (
	roleNames   = []string{string(portal.Signer), string(portal.Viewer)}
	statusNames = []string{string(portal.Waiting), string(portal.Completed), string(portal.Declined)}
)

// processSchemas are the bodies of spec 4.2 and 4.4.
func processSchemas() openapi.Map[*openapi.Schema] {
	return openapi.Map[*openapi.Schema]{
		{Name: "SigningProcessDraft", Value: draftSchema()},
		{Name: "Invitee", Value: inviteeSchema()},
		{Name: "SigningProcess", Value: openapi.Object([]string{"signingProcessId", "status", "createdAt", "participants"}, openapi.Map[*openapi.Schema]{
			{Name: "signingProcessId", Value: identifier("Identifies the signing process.")},
			{Name: "status", Value: choice(append(statusNames, string(portal.Expired)), "Where the process is. It is that of its signers; viewers do not matter.")},
			{Name: "createdAt", Value: moment("When it was created.")},
			{Name: "participants", Value: openapi.List(openapi.Reference("Participant"))},
		})},
		{Name: "Participant", Value: participantSchema()},
		{Name: "ProcessDocument", Value: openapi.Object([]string{"fileName", "contentBase64"}, openapi.Map[*openapi.Schema]{
			{Name: "fileName", Value: &openapi.Schema{Type: str, Description: "The name of the file."}},
			{Name: "contentBase64", Value: encoded("application/pdf", "The document, Base64.")},
		})},
	}
}

func draftSchema() *openapi.Schema {
	participants := openapi.List(openapi.Reference("Invitee"))
	participants.MinItems, participants.MaxItems = 1, portal.MaxParticipants
	participants.Contains = is("role", roleNames[0])
	return openapi.Object([]string{"file", "participants", "signatureLocation"}, openapi.Map[*openapi.Schema]{
		{Name: "file", Value: openapi.Object([]string{"name", "contentBase64"}, openapi.Map[*openapi.Schema]{
			{Name: "name", Value: &openapi.Schema{
				Type: str, MaxLength: portal.MaxFileName, Pattern: `^[^/\\` + controls + `]+\.[pP][dD][fF]$`,
				Description: "The name of the file. It ends in `.pdf`, has no `/` and no `\\`, and is shown in invitations.",
			}},
			{Name: "contentBase64", Value: encoded("application/pdf", "The PDF, Base64. With the whole request at most 30 MB, which is a PDF of about 22 MB.")},
		}).About("The document.")},
		{Name: "participants", Value: participants.About("Who signs and who reads, each with an address of their own. One of them at least is a `Signer`.")},
		{Name: "signatureLocation", Value: choice(cornerNames, "The corner of the page that stamps go to.")},
		{Name: "signaturePage", Value: defaulted(atLeast(integer, 1, "The number of the page that stamps go on; the first is 1."), 1)},
	})
}

func inviteeSchema() *openapi.Schema {
	email := field(portal.MaxName, "Where the invitation goes to. No two participants share an address.")
	email.Format = "email"
	return openapi.Object([]string{"name", "email", "role"}, openapi.Map[*openapi.Schema]{
		{Name: "name", Value: field(portal.MaxName, "The full name.")},
		{Name: "email", Value: email},
		{Name: "role", Value: choice(roleNames, "`Signer` signs. `Viewer` gets the document to read, has no stamp, and does not affect the status.")},
		{Name: "kennitala", Value: &openapi.Schema{Type: strOrNull, Pattern: `^[0-9]{10}$`, Description: "Ten digits, no hyphen. When it is given, only the person with that kennitala can sign; else whoever opens the link and logs in first."}},
		{Name: "phoneNumber", Value: &openapi.Schema{Type: strOrNull, Pattern: `^[0-9]{0,7}$`, Description: "Digits alone, at most 7. It comes back in events, and is not used for signing."}},
	})
}

func participantSchema() *openapi.Schema {
	return openapi.Object([]string{"participantId", "name", "email", "role", "status", "hasCompleted", "hasDeclined", "declineReason", "signingUrl"}, openapi.Map[*openapi.Schema]{
		{Name: "participantId", Value: identifier("Identifies the participant.")},
		{Name: "name", Value: &openapi.Schema{Type: str, Description: "The name as it was given."}},
		{Name: "email", Value: &openapi.Schema{Type: str, Description: "Where the invitation went to."}},
		{Name: "role", Value: choice(roleNames, "What the participant is invited for.")},
		{Name: "status", Value: choice(append(statusNames, string(portal.None)), "Where the participant is. That of a viewer is always `None`.")},
		{Name: "hasCompleted", Value: &openapi.Schema{Type: boolean, Description: "True once the participant has signed."}},
		{Name: "hasDeclined", Value: &openapi.Schema{Type: boolean, Description: "True once the participant has declined."}},
		{Name: "declineReason", Value: &openapi.Schema{Type: strOrNull, Description: "The reason that was given on declining."}},
		{Name: "signingUrl", Value: &openapi.Schema{Type: strOrNull, Format: "uri", Description: "The link of the invitation, valid for 7 days while it is unopened; once the participant has logged in through it, their page, which needs a login. Null after they have signed or declined, and when the invitation has expired unopened. In the sandbox it leads nowhere."}},
	})
}
