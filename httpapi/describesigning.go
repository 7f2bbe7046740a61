package httpapi

import (
	"fmt"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/httpapi/internal/openapi"
)

const signingPath = "/api/v1/signing"

func (a *api) busySignalOperation() operation {
	return operation{
		method: "POST", path: signingPath + "/busy-signal", scope: account.ScopeSignatures, call: a.createBusySignal,
		id: "createBusySignal", tag: signingTag, summary: "Create a busy signal",
		text: "Several signers sign one file one after another, and a second signature that is started before the first is applied would break it. " +
			"A busy signal stands for the file: pass its ID with every signing request for that file, and only one of them runs at a time; the others are refused with 423. " +
			"It is not needed when each signer signs a copy of their own. It lives for a year after its last use.",
		body: noBody(),
		answers: []answer{{status: 200, text: "The busy signal, which is free.", content: jsonContent("BusySignal",
			sample("made", "A busy signal", raw(`{"id":"5f1d1a2c-8a5e-4d0b-b8f5-6d3a0c1e9f42"}`)))}},
	}
}

// noBody is the body of a POST that needs none: it may be left out, or be an empty object.
func noBody() *openapi.RequestBody {
	return &openapi.RequestBody{
		Description: "None, or an empty object.",
		Content:     openapi.Map[openapi.MediaType]{{Name: jsonType, Value: openapi.MediaType{Schema: &openapi.Schema{Type: object}, Examples: openapi.Map[openapi.Example]{sample("empty", "An empty object", raw(`{}`))}}}},
	}
}

func (a *api) startOperation() operation {
	return operation{
		method: "POST", path: signingPath, scope: account.ScopeSignatures, call: a.startSigning, document: true,
		id: "startSigning", tag: signingTag, summary: "Start a signature",
		text: "Submits one document and asks one person to sign it on their phone. The answer has an ID to poll with. " +
			"Show the signer the verification code, which the phone shows as well, so that they know that they sign what you asked them to: with `IdpSim` it is in this answer, with `IdpApp` in a later poll.\n\n" +
			"Fields are checked first, all at once; then the document, its page and the place of the stamp; then the busy signal; then the identity provider is asked. What is refused holds no busy signal.",
		parameters: []openapi.Parameter{idempotencyParameter},
		body:       jsonRequest("SigningStart", startExamples()...),
		answers: []answer{
			{status: 200, text: "The signer is being asked.", content: jsonContent("SigningStarted",
				sample("app", "With IdpApp", raw(`{"pollingId":"0f8fad5b-d9cb-469f-a165-70867728950e","expiresIn":290,"interval":2,"verificationCode":null}`)),
				sample("sim", "With IdpSim", raw(`{"pollingId":"0f8fad5b-d9cb-469f-a165-70867728950e","expiresIn":290,"interval":2,"verificationCode":"4711"}`)))},
			{status: 400, text: "As `application/json`: the identity provider refused at once, and nothing was started. `errorCode` says why. As a problem:", content: jsonContent("SigningFailure",
				sample("user-not-found", "Nobody has that kennitala", raw(`{"errorCode":"UserNotFound","error":"access_denied","errorDescription":"audkenni_404","verificationCode":null}`)))},
		},
		problems: []problem{
			*invalid(map[string][]string{"signer.phone": {"This field is required."}, "signer.kennitala": {"Must be 1 to 10 characters, hyphens aside."}}),
			unreadablePDF, noPage, noSlot, overlap, notAllowed, noSignal, held(new("case-4711")), keyInUse, keyReused, notReady,
		},
	}
}

func (a *api) pollOperation() operation {
	return operation{
		method: "GET", path: signingPath + "/{pollingId}", scope: account.ScopeSignatures, call: a.pollSigning, ownPace: true,
		id: "pollSigning", tag: signingTag, summary: "Poll for a signature",
		text: "Wait at least `interval` seconds between polls, and never poll faster. While the signer has not answered, the status is 400 and `errorCode` is `AuthorizationPending`, or `SlowDown`, after which the interval is at least 5 seconds longer. " +
			"Any other `errorCode`, also null, ends the request. The signed document comes with 200, once: when it was received whole, the request is gone and polls answer 404.",
		parameters: []openapi.Parameter{inPath("pollingId", "The ID that the start of the signature answered.")},
		answers: []answer{
			{status: 200, text: "The signed document. Polling is finished.", content: jsonContent("SignedDocument",
				sample("signed", "The signed document", raw(`{"signedFileB64":"JVBERi0xLjcKJcfs"}`)))},
			{status: 400, text: "There is no signature yet, or there will be none: `errorCode` says which.", content: jsonContent("SigningFailure",
				sample("pending", "Waiting for the signer", raw(`{"errorCode":"AuthorizationPending","error":"authorization_pending","errorDescription":"The signer has not answered yet.","verificationCode":"4711"}`)),
				sample("cancelled", "The signer refused", raw(`{"errorCode":"UserCancelled","error":"access_denied","errorDescription":"mssp_401","verificationCode":null}`)))},
		},
		problems: []problem{noRequest},
	}
}

// startExamples are bodies that can be sent as they are to a sandbox with the user of userExample.
func startExamples() []openapi.Member[openapi.Example] {
	file := fmt.Sprintf(`"file":{"type":"Pdf","name":"Contract.pdf","contentB64":%q}`, examplePDF)
	return []openapi.Member[openapi.Example]{
		sample("app", "With the app, without a stamp", raw(`{`+file+`,"signer":{"kennitala":"0101302989","signingMethod":"IdpApp"}}`)),
		sample("sim", "With the phone's SIM card, a stamp and an archive timestamp", raw(`{`+file+`,"signer":{"kennitala":"0101302989","signingMethod":"IdpSim","phone":"5550101","city":"Reykjavík","country":"Ísland","reason":"Samþykkt"},`+
			`"signatureImage":{"alignment":"BottomRight","originX":36,"originY":36},"advancedSignatureSettings":{"signatureLevel":"Lta"}}`)),
	}
}
