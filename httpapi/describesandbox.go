package httpapi

import (
	"github.com/innsigli/innsigli/httpapi/internal/openapi"
	"github.com/innsigli/innsigli/portal"
)

const sandboxUsersPath = "/api/v1/sandbox/users"

// sandboxOperations are those of spec 6 on test users. They take any token.
func (a *api) sandboxOperations() []operation {
	return []operation{a.createUserOperation(), a.listUsersOperation(), a.updateUserOperation()}
}

var wrongUser = *invalid(map[string][]string{"phone": {"This field is required."}, "delayInSecondsBeforeAction": {"Must be between 0 and 300."}})

const userExample = `"fullName":"Jóna Jónsdóttir","kennitala":"0101302989","phone":"5550101","delayInSecondsBeforeAction":0,"action":"Success"`

func (a *api) createUserOperation() operation {
	return operation{
		method: "POST", path: sandboxUsersPath, call: a.createSandboxUser,
		id: "createSandboxUser", tag: sandboxTag, summary: "Create a sandbox user",
		text: "A sandbox user stands in for a person with an electronic ID, and signs or refuses as it is told here. `IdpApp` finds it by its kennitala, `IdpSim` by its phone; each user of an account has its own.",
		body: jsonRequest("SandboxUserDraft", sample("signs", "Signs at once", raw(`{"fullName":"Jóna Jónsdóttir","kennitala":"0101302989","phone":"5550101"}`)),
			sample("refuses", "Refuses after ten seconds", raw(`{"fullName":"Jón Jónsson","kennitala":"0101303019","phone":"5550102","delayInSecondsBeforeAction":10,"action":"Cancel"}`))),
		answers: []answer{{status: 200, text: "The user.", content: jsonContent("NewSandboxUser",
			sample("made", "A new user", raw(`{"uuid":"6d3f7a52-0f0e-4a0c-9d4a-52c1f4d7a9b3",`+userExample+`,"createdAt":"2026-03-02T09:15:00.000Z","updatedAt":"2026-03-02T09:15:00.000Z"}`)))}},
		problems: []problem{wrongUser, userExists},
	}
}

func (a *api) listUsersOperation() operation {
	return operation{
		method: "GET", path: sandboxUsersPath, call: a.listSandboxUsers,
		id: "listSandboxUsers", tag: sandboxTag, summary: "List sandbox users",
		text: "All sandbox users of the account in the order of their creation.",
		answers: []answer{{status: 200, text: "The users.", content: jsonContent("SandboxUserList",
			sample("one", "One user", raw(`{"items":[{"uuid":"6d3f7a52-0f0e-4a0c-9d4a-52c1f4d7a9b3",`+userExample+`}]}`)))}},
	}
}

func (a *api) updateUserOperation() operation {
	return operation{
		method: "PUT", path: sandboxUsersPath + "/{uuid}", call: a.updateSandboxUser,
		id: "updateSandboxUser", tag: sandboxTag, summary: "Change a sandbox user",
		text:       "Send the members to change; one that is left out, or null, keeps its value. Certificates keep the name that the user was created with.",
		parameters: []openapi.Parameter{inPath("uuid", "The UUID of the user.")},
		body:       jsonRequest("SandboxUserChange", sample("cancels", "Refuses from now on", raw(`{"action":"Cancel"}`))),
		answers:    []answer{noContent("It is changed.")},
		problems:   []problem{wrongUser, noUser, userExists},
	}
}

// sandboxSchemas are the bodies of spec 6 and 6.1.
func sandboxSchemas() openapi.Map[*openapi.Schema] {
	name := field(maxFullName, "The name that the certificates of the user carry.")
	kennitala := field(maxKennitala, "The kennitala. `IdpApp` finds the user by it.")
	kennitala.Not = &openapi.Schema{Type: str, Pattern: `^-+$`}
	phone := field(maxPhone, "The phone number. `IdpSim` finds the user by it, as it is written here.")
	delay := between(integer, 0, maxDelaySeconds, "How many seconds the user waits before answering.")
	action := choice(actionNames, "What the user does when asked to sign: `Success` signs, `Cancel` refuses.")
	reason := optional(portal.MaxReason, "Why the participant declines.")
	type members = openapi.Map[*openapi.Schema]
	user := members{
		{Name: "uuid", Value: identifier("Identifies the user.")}, {Name: "fullName", Value: &openapi.Schema{Type: str}}, {Name: "kennitala", Value: &openapi.Schema{Type: str}},
		{Name: "phone", Value: &openapi.Schema{Type: str}}, {Name: "delayInSecondsBeforeAction", Value: delay}, {Name: "action", Value: action},
	}
	required := []string{"uuid", "fullName", "kennitala", "phone", "delayInSecondsBeforeAction", "action"}
	times := members{{Name: "createdAt", Value: moment("When the user was created.")}, {Name: "updatedAt", Value: moment("When the user was changed last.")}}
	return members{
		{Name: "SandboxUserDraft", Value: openapi.Object(required[1:4], members{
			{Name: "fullName", Value: name}, {Name: "kennitala", Value: kennitala}, {Name: "phone", Value: phone},
			{Name: "delayInSecondsBeforeAction", Value: defaulted(delay, 0)}, {Name: "action", Value: defaulted(action, actionNames[0])},
		})},
		{Name: "SandboxUserChange", Value: openapi.Object(nil, members{
			{Name: "fullName", Value: orBlank(name)}, {Name: "kennitala", Value: orBlank(kennitala)}, {Name: "phone", Value: orBlank(phone)},
			{Name: "delayInSecondsBeforeAction", Value: delay.OrNull()}, {Name: "action", Value: action.OrNull()},
		})},
		{Name: "SandboxUser", Value: openapi.Object(required, user)},
		{Name: "NewSandboxUser", Value: openapi.Object(append(required, "createdAt", "updatedAt"), append(user, times...))},
		{Name: "SandboxUserList", Value: listOf("SandboxUser")},
		{Name: "SandboxSignature", Value: openapi.Object([]string{"sandboxUserId"}, members{{Name: "sandboxUserId", Value: identifier("The UUID of the sandbox user who signs.")}})},
		{Name: "SandboxDecline", Value: openapi.Object(nil, members{{Name: "reason", Value: reason}})},
	}
}

// orBlank is a text that has to be there elsewhere, as one that may be left out.
func orBlank(s *openapi.Schema) *openapi.Schema {
	optional := s.OrNull()
	optional.Pattern = plain
	return optional
}
