package httpapi

import (
	"fmt"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/httpapi/internal/openapi"
)

const oneProcess = processesPath + "/{signingProcessId}"

// processOperations are those of spec 4.1, and of 4.4 those in which test people answer.
func (a *api) processOperations() []operation {
	all := []operation{a.createProcessOperation(), a.getProcessOperation(), a.processDocumentOperation(), a.deleteProcessOperation()}
	if a.Sandbox != nil {
		all = append(all, a.signAsOperation(), a.declineAsOperation())
	}
	return all
}

var processParameter = inPath("signingProcessId", "The ID of the signing process.")

func (a *api) createProcessOperation() operation {
	return operation{
		method: "POST", path: processesPath, scope: account.ScopePortalWrite, call: a.createProcess, document: true,
		id: "createSigningProcess", tag: processesTag, summary: "Create a signing process",
		text: "Makes a signing process of a PDF and its participants. Each gets an invitation by email, in production; the signing link of a participant is in the answer too, and may be handed over directly. It is a credential: give it to that participant alone, and do not log it.\n\n" +
			"A stamp is drawn for each signer, in the corner and on the page that were chosen, beside those that are there. If the page has no room for all of them, nothing is created.",
		parameters: []openapi.Parameter{idempotencyParameter},
		body: jsonRequest("SigningProcessDraft", sample("two", "A signer and a viewer", raw(fmt.Sprintf(`{"file":{"name":"Contract.pdf","contentBase64":%q},"participants":[`+
			`{"name":"Jóna Jónsdóttir","email":"jona@example.com","role":"Signer"},`+
			`{"name":"Archive","email":"archive@example.com","role":"Viewer"}],"signatureLocation":"BottomRight","signaturePage":1}`, examplePDF)))),
		answers: []answer{{status: 201, text: "The signing process, which waits for its signers.", headers: location(processesPath), content: jsonContent("SigningProcess", processExample)}},
		problems: []problem{
			*invalid(map[string][]string{"file.name": {"Must end in .pdf."}, "participants[1].email": {"Must not be the address of another participant."}}),
			unreadablePDF, noPage, tooManyStamps, paymentRequired, quotaExceeded, notAllowed, noProcess, keyInUse, keyReused, notReady,
		},
	}
}

func (a *api) getProcessOperation() operation {
	return operation{
		method: "GET", path: oneProcess, scope: account.ScopePortalRead, call: a.getProcess,
		id: "getSigningProcess", tag: processesTag, summary: "Read a signing process",
		text:       "The status is `Waiting` until every signer has signed, which is `Completed`, one has declined, which is `Declined`, or the invitation of a signer is 7 days old, which is `Expired`. Events tell of all but the last.",
		parameters: []openapi.Parameter{processParameter},
		answers:    []answer{{status: 200, text: "The signing process as it is now.", content: jsonContent("SigningProcess", processExample)}},
		problems:   []problem{noProcess},
	}
}

func (a *api) processDocumentOperation() operation {
	return operation{
		method: "GET", path: oneProcess + "/document", scope: account.ScopePortalRead, call: a.getProcessDocument,
		id: "getSigningProcessDocument", tag: processesTag, summary: "Download the document",
		text:       "The document as it is now. Once the status is `Completed`, it carries every signature.",
		parameters: []openapi.Parameter{processParameter},
		answers: []answer{{status: 200, text: "The document.", content: jsonContent("ProcessDocument",
			sample("document", "A document", raw(`{"fileName":"Contract.pdf","contentBase64":"JVBERi0xLjcKJcfs"}`)))}},
		problems: []problem{noProcess},
	}
}

func (a *api) deleteProcessOperation() operation {
	return operation{
		method: "DELETE", path: oneProcess, scope: account.ScopePortalWrite, call: a.deleteProcess,
		id: "deleteSigningProcess", tag: processesTag, summary: "Delete a signing process",
		text:       "Removes the signing process and its document for good. Its links lead nowhere from then on, and whoever reads it gets 404.",
		parameters: []openapi.Parameter{processParameter},
		answers:    []answer{noContent("It is deleted.")},
		problems:   []problem{noProcess},
	}
}

const oneParticipant = "/api/v1/sandbox/portal/signing-processes/{signingProcessId}/participants/{participantId}"

var participantParameters = []openapi.Parameter{processParameter, inPath("participantId", "The ID of the participant.")}

func (a *api) signAsOperation() operation {
	return operation{
		method: "POST", path: oneParticipant + "/sign", scope: account.ScopePortalWrite, call: a.signAs,
		id: "signAsSandboxUser", tag: sandboxTag, summary: "Sign as a participant",
		text:       "A sandbox user signs in the place of the participant, as a person would on the signing page. The user has to have action `Success` and no delay.",
		parameters: participantParameters,
		body:       jsonRequest("SandboxSignature", sample("user", "A sandbox user", raw(`{"sandboxUserId":"6d3f7a52-0f0e-4a0c-9d4a-52c1f4d7a9b3"}`))),
		answers:    []answer{noContent("The participant has signed.")},
		problems:   []problem{*invalid(map[string][]string{"sandboxUserId": {"Must be a UUID."}}), noParticipant, isViewer, hasAnswered, otherPerson, cannotSign, notWaiting, turnTaken, notAllowed, notReady},
	}
}

func (a *api) declineAsOperation() operation {
	body := jsonRequest("SandboxDecline", sample("reason", "With a reason", raw(`{"reason":"The amount is wrong."}`)))
	body.Required = false
	return operation{
		method: "POST", path: oneParticipant + "/decline", scope: account.ScopePortalWrite, call: a.declineAs,
		id: "declineAsParticipant", tag: sandboxTag, summary: "Decline as a participant",
		text:       "The participant declines to sign, with a reason or without.",
		parameters: participantParameters,
		body:       body,
		answers:    []answer{noContent("The participant has declined.")},
		problems:   []problem{*invalid(map[string][]string{"reason": {"Must be at most 256 characters long."}}), noParticipant, isViewer, hasAnswered, notWaiting, turnTaken},
	}
}

var processExample = sample("waiting", "A process that waits", raw(`{"signingProcessId":"0f8fad5b-d9cb-469f-a165-70867728950e","status":"Waiting","createdAt":"2026-03-02T09:15:00.000Z","participants":[`+
	`{"participantId":"7c9e6679-7425-40de-944b-e07fc1f90ae7","name":"Jóna Jónsdóttir","email":"jona@example.com","role":"Signer","status":"Waiting","hasCompleted":false,"hasDeclined":false,"declineReason":null,"signingUrl":"https://sign.example/sign/1l9Y3pB5r0s"}]}`))
