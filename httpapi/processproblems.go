package httpapi

import (
	"net/http"

	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/portal"
)

// processProblems are those of signing processes (service.md 4.4 items 11 and 12, 7.3, decisions.md 5.6).
var processProblems = []row{
	{portal.ErrNotFound, problem{Status: http.StatusNotFound, Title: "Not found", Detail: "The signing process, the participant or the sandbox user does not exist."}},
	{portal.ErrViewer, refusal("Participant is a viewer", "Viewers read the document. They neither sign nor decline.")},
	{portal.ErrAnswered, refusal("Participant has already answered", "The participant has signed or declined.")},
	{portal.ErrOtherPerson, refusal("Kennitala does not match", "The process was created with another kennitala for the participant.")},
	{portal.ErrCannotSign, refusal("Sandbox user cannot sign now", "The sandbox user has action Cancel or a delay.")},
	{portal.ErrNotWaiting, refusal("Signing process is not waiting", "The signing process is completed, declined or expired.")},
	{portal.ErrTurn, problem{Status: http.StatusLocked, Title: turnTitle, Detail: "A signature on the document is in progress."}},
	{portal.ErrTooMany, tooManyStamps},
	{pades.ErrRect, tooManyStamps}, // the page lies where a PDF has no place for a stamp
	{portal.ErrPayment, refusal("Payment method required", "The account has no payment method, and its free signatures do not cover the signers.")},
	{portal.ErrQuota, refusal("Storage quota exceeded", "The account's document storage has no room left for the document.")},
	{portal.ErrKeyInUse, keyInUse},
	{portal.ErrKeyReused, keyReused},
}

const turnTitle = "Signature in progress"

var tooManyStamps = refusal("Too many participants for the page", "The page has no room for the stamps of that many signers.")

// refusal is a 400 with a title.
func refusal(title, detail string) problem {
	return problem{Status: http.StatusBadRequest, Title: title, Detail: detail}
}
