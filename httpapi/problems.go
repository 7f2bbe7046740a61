package httpapi

import (
	"html/template"
	"net/http"
	"strings"

	"github.com/innsigli/innsigli/pades/inspect"
)

// titledError returns a problem with a title of spec 1.4. Each title has an explanation below.
func titledError(status int, title, detail string) problem {
	return problem{Status: status, Title: title, Detail: detail}
}

// badRequest is a 400 with a title.
func badRequest(title, detail string) problem {
	return titledError(http.StatusBadRequest, title, detail)
}

// notFoundError is the answer for a thing that does not exist, or belongs to another account.
func notFoundError(detail string) problem {
	return titledError(http.StatusNotFound, "Not found", detail)
}

var (
	pathNotFound         = notFoundError("Path does not exist.")
	requestNotFound      = notFoundError("The signing request has finished, was cleared, or does not exist.")
	busySignalNotFound   = notFoundError("The busy signal does not exist.")
	sandboxUserNotFound  = notFoundError("The sandbox user does not exist.")
	subscriptionNotFound = notFoundError("The webhook subscription does not exist.")
	processNotFound      = notFoundError("The signing process was deleted, or does not exist.")
	participantNotFound  = notFoundError("The signing process, the participant or the sandbox user does not exist.")
)

// Authentication and rate limits.
var (
	missingToken        = titledError(http.StatusUnauthorized, "Unauthorized", "The request has no access token.")
	invalidToken        = titledError(http.StatusUnauthorized, missingToken.Title, "The access token is invalid or has expired.")
	severalTokens       = badRequest("Malformed authorization", "The request has more than one access token.")
	invalidNotification = titledError(http.StatusUnauthorized, missingToken.Title, "The request is not a notification of the identity provider.")
	tooManyRequests     = titledError(http.StatusTooManyRequests, "Too many requests", "The rate limit is exceeded. Try again after the number of seconds in the header Retry-After.")
)

// tooManyPrompts is the answer to a start that a limit of the person or of the identity provider refuses (spec 1.9).
var tooManyPrompts = titledError(http.StatusTooManyRequests, "Too many sign requests", "The signer was asked too often, or the identity provider takes no more requests. Try again after the number of seconds in the header Retry-After.")

func missingScope(scope string) problem {
	return titledError(http.StatusForbidden, "Forbidden", "The access token does not grant the scope "+scope+".")
}

// Documents and stamps.
var (
	unreadablePDF = unreadable("The document is not a readable PDF.")
	pageNotFound  = badRequest("Signature page does not exist", "The document has no page with this number.")
	noFreeSlot    = badRequest("No free signature slot", "No free place was found on the page for the stamp.")
	overlap       = badRequest("Stamp overlaps another signature", "The stamp would overlap a visible signature on the page.")
	notAllowed    = badRequest("Document does not allow signatures", "The document's permissions, or an earlier signature, do not allow another signature.")
	slotUnknown   = badRequest(noFreeSlot.Title, "The page could not be drawn to find a free place.")
	slotsUnknown  = badRequest(tooManyStamps.Title, "The page could not be drawn to find free places for the stamps.")
	tooManyStamps = badRequest("Too many participants for the page", "The page has no room for the stamps of so many signers.")
)

// unreadable is the answer to a document that the server cannot sign for any signer.
func unreadable(why string) problem { return badRequest("Document could not be read", why) }

// documentRefused is the answer to a document that the account's policy refuses (spec 3.12).
func documentRefused(codes []inspect.Code) problem {
	var kinds []string
	for _, code := range codes {
		kinds = append(kinds, string(code))
	}
	return badRequest("Document is not accepted", "The account does not accept documents with "+strings.Join(kinds, ", ")+".")
}

// Signing processes and sandbox users.
var (
	paymentRequired     = badRequest("Payment method required", "The account has no payment method, and its free signatures do not cover the signers.")
	quotaExceeded       = badRequest("Storage quota exceeded", "The document would exceed the account's storage quota.")
	isViewer            = badRequest("Participant is a viewer", "Viewers read the document. They neither sign nor decline.")
	hasAnswered         = badRequest("Participant has already answered", "The participant has signed or declined.")
	otherPerson         = badRequest("Kennitala does not match", "The participant has another kennitala in the signing process than the sandbox user.")
	cannotSign          = badRequest("Sandbox user cannot sign now", "The sandbox user has action Cancel or a delay.")
	notWaiting          = badRequest("Signing process is not waiting", "The signing process is completed, declined or expired.")
	signatureInProgress = titledError(http.StatusLocked, "Signature in progress", "A signature on the document is in progress.")
	userExists          = titledError(http.StatusUnprocessableEntity, "Sandbox user already exists", "Another of your sandbox users has this kennitala or phone number.")
)

// busySignalHeld is the answer to a start whose busy signal another request holds. userID is that of the holder, or
// nil if the holder named none.
func busySignalHeld(userID *string) problem {
	p := titledError(http.StatusLocked, "Busy signal is held", "Another signing request holds the busy signal.")
	p.Holder = &holder{userID}
	return p
}

// Webhook subscriptions.
var (
	tooManySubscriptions = badRequest("Too many webhook subscriptions", "The account has as many webhook subscriptions as the server permits.")
	subscriptionChanged  = titledError(http.StatusConflict, "Subscription was changed", "The subscription is inactive: its URL was changed, or it was switched off, during the activation.")
	notActivatedByUpdate = titledError(http.StatusUnprocessableEntity, "Activation has a call of its own", "isActive cannot be set to true in an update. To activate the subscription, send a POST to its path followed by /activate.")
	tooManyCalls         = titledError(http.StatusTooManyRequests, "Too many activations and tests", "Other activations and tests of the account took so long that this one could not run in time.")
)

// activationFailed is the answer to an activation whose endpoint did not pass a check.
func activationFailed(check, detail string) problem {
	p := titledError(http.StatusUnprocessableEntity, "Activation failed", detail)
	p.FailedCheck = check
	return p
}

func testFailed(detail string) problem {
	return titledError(http.StatusBadGateway, "Webhook test failed", detail)
}

// Requests, and the state of the server.
var (
	keyInUse       = titledError(http.StatusConflict, "Request is still running", "The request with this Idempotency-Key has not been answered yet.")
	keyReused      = titledError(http.StatusUnprocessableEntity, "Idempotency key was used", "The Idempotency-Key was used with another request body.")
	tooLarge       = titledError(http.StatusRequestEntityTooLarge, "Request too large", "The request body is longer than the server accepts.")
	fieldsTooLarge = titledError(tooLarge.Status, tooLarge.Title, "The request body without its document is longer than the server accepts.")
	internalError  = titledError(http.StatusInternalServerError, "Internal error", "The request could not be completed. Try again later.")
	unavailable    = titledError(http.StatusServiceUnavailable, "Service unavailable", "The server's storage does not answer at the moment.")
	notReady       = titledError(http.StatusServiceUnavailable, unavailable.Title, "The server is not ready yet to look for free places on pages, or is too busy.")
	storageFull    = titledError(http.StatusInsufficientStorage, "No room left", "The server has no storage space left for the request. Nothing of it was stored.")
)

// budgetExhausted is the answer to a request that got no share of a byte budget in time. It is not the server's fault.
var budgetExhausted = problem{
	Status: http.StatusServiceUnavailable, Title: unavailable.Title, Detail: "The server is processing as many requests as it can at once.",
	expected: true,
}

// wrongType is the answer to a body of another media type.
func wrongType(kind string) problem {
	return titledError(http.StatusUnsupportedMediaType, "Unsupported media type", "The body must be "+kind+".")
}

// explanations are the texts of the pages at the type of a problem, by title.
var explanations = []struct{ title, text string }{
	{validationTitle, "Fields of the request are missing or invalid. The member errors has messages for each of them."},
	{"Unauthorized", "The request has no access token, or one that is invalid or has expired. Get a new one at /api/v1/auth/token and send it in the header Authorization: Bearer."},
	{"Malformed authorization", "The request has more than one access token: two Authorization headers, or one in the URL and one in the header. Send the token once, in the header Authorization: Bearer."},
	{"Forbidden", "The access token does not grant the scope that this endpoint needs. The header WWW-Authenticate names it."},
	{"Not found", "Something that the request names does not exist, or belongs to another account. A signing request is deleted once its result was delivered."},
	{"Method not allowed", "The path exists, but accepts other methods. The header Allow names them."},
	{tooManyRequests.Title, "The client, or an address without valid credentials, sent more requests than the rate limit allows. The header Retry-After has the number of seconds to wait; RateLimit-Policy and RateLimit have the limit and what remains of it. Polls do not count: they are answered with AuthorizationPending or SlowDown."},
	{tooManyPrompts.Title, "So that phones do not ring all the time, a server limits how many sign requests a person has not answered, and how many that did not lead to a signature the person gets in an hour, from one account and from all of them. The identity provider may have limits of its own. The person was not asked. The header Retry-After has the number of seconds after which the account may ask the person again."},
	{"Request too large", "The body is longer than the server accepts. The limit is 30 MiB, unless the operator chose another one; without its document, the body may have 4 MiB, or 1 MiB for a signing process. A body that has no document may have 1 MiB."},
	{"Unsupported media type", "The body has a media type that the endpoint does not accept. The member detail names those that it accepts: for most endpoints, application/json in UTF-8."},
	{"No free signature slot", "The page has no free place that is large enough for the stamp, or it could not be drawn to find one. Choose another page, another size of the image, or a position with originX and originY."},
	{"Signature page does not exist", "The member signatureImage.page, or signaturePage of a signing process, is not the number of a page of the document. Page numbers begin with 1."},
	{"Too many participants for the page", "Each signer of a signing process gets a stamp on the page. The page has no free places for all of them, or could not be drawn to find some. Choose another page, or fewer signers; viewers get no stamp."},
	{"Payment method required", "The account has no payment method, and the free signatures that it has left are fewer than the signers of the process. Free signatures are reserved for the signers of waiting processes. Ask the operator to put a payment method on file."},
	{"Storage quota exceeded", "With this document, the documents of the account's signing processes would exceed its storage quota. Delete processes that you no longer need, or ask the operator for a larger quota."},
	{"Stamp overlaps another signature", "With Manual positioning, a stamp must not overlap a visible signature on the page. Choose another place, or use Auto, which finds a free one."},
	{"Document could not be read", "The file is not a readable PDF, requires a password, or has a broken signature. The document of a signing process must not be encrypted at all. The member detail states the cause."},
	{"Document does not allow signatures", "An earlier signature of the document, or the permissions of its encryption, do not allow another signature. Only the author of the document can change that."},
	{"Document is not accepted", "The document has something that makes it look different to different readers, such as a script, an attached file or a hidden layer, and the account refuses documents with it. The member detail names the kinds. Remove it from the document, for example by printing it to a new PDF, or ask the operator for another policy."},
	{"Busy signal is held", "Another signing request is running on the same file. The member busySignal has the userId of the request that holds the signal. Try again when that request has ended. The signal is free after 5 minutes at the latest."},
	{"Participant is a viewer", "Only signers of a signing process sign or decline. Viewers receive the document to read."},
	{"Participant has already answered", "A participant signs or declines once, and this one already has. The signing process shows which."},
	{"Kennitala does not match", "The signing process was created with a kennitala for the participant, and the sandbox user has another. Only the person with that kennitala can sign."},
	{"Sandbox user cannot sign now", "The sandbox user has action Cancel, or a delay. Use one with action Success and no delay."},
	{"Signing process is not waiting", "A signing process accepts answers while its status is Waiting. This one is completed, declined or expired."},
	{"Signature in progress", "The signatures on a document are made one after another, and one is in progress. Try again after the number of seconds in the header Retry-After."},
	{"Sandbox user already exists", "Each sandbox user of an account needs a kennitala and a phone number of its own."},
	{"Request is still running", "A request with the same Idempotency-Key has not been answered yet. Try again a little later."},
	{"Idempotency key was used", "The Idempotency-Key was used with another request body within the last 24 hours. Use a new one for a new request."},
	{"Too many webhook subscriptions", "The account has as many webhook subscriptions as the server permits. Delete one that you no longer need."},
	{"Subscription was changed", "The URL of the webhook subscription was changed, or the subscription was switched off, during its activation. It is inactive. Activate it again."},
	{"Activation has a call of its own", "An update cannot activate a webhook subscription. Send a POST to its path followed by /activate, which checks the endpoint first. An update can switch the subscription off."},
	{"Too many activations and tests", "Only a few activations and tests of an account's webhook subscriptions run at once, and others wait. This one waited too long. Its subscription was not changed. Try again after the number of seconds in the header Retry-After."},
	{"Activation failed", "The endpoint of the webhook subscription did not pass a check. The member failedCheck names it: SignedPing: the endpoint must answer 2xx to a correctly signed ping. UnverifiablePing: it must answer 401 to a ping whose signature does not verify. Unreachable: it must answer within 15 seconds. The member detail describes the answer."},
	{"Webhook test failed", "The endpoint of the webhook subscription did not answer 2xx to a correctly signed ping within 15 seconds. The member detail describes the answer."},
	{"Service unavailable", "The server cannot process the request at the moment. Try again after the number of seconds in the header Retry-After. The request may have been carried out. A start, or the creation of a signing process, can be repeated safely if it has an Idempotency-Key."},
	{"No room left", "The server has no storage space left for the request, and stored nothing of it. Try again later; the operator must free or add space."},
	{"Internal error", "An error occurred in the server. The request was not at fault. Try again a little later."},
}

var problemTemplate = template.Must(template.New("problem").Parse(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{.Title}}</title>
<style>
body { font: 1.125rem/1.6 system-ui, sans-serif; max-width: 40rem; margin: 12vh auto; padding: 0 1.25rem; color: #1b2733; background: #fff }
h1 { font-size: 1.6rem; line-height: 1.25 }
@media (prefers-color-scheme: dark) { body { color: #e4e9ee; background: #14191f } }
</style>
<h1>{{.Title}}</h1>
<p>{{.Text}}</p>
</html>
`))

// problemPage serves the page that explains a type of problem.
func (a *api) problemPage(w http.ResponseWriter, r *http.Request) error {
	for _, e := range explanations {
		if slug(e.title) == r.PathValue("name") {
			var page strings.Builder
			if err := problemTemplate.Execute(&page, struct{ Title, Text string }{e.title, e.text}); err != nil {
				return err
			}
			w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
			return writeText(w, "text/html; charset=utf-8", page.String())
		}
	}
	return &pathNotFound
}
