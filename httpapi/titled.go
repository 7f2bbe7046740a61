package httpapi

import "net/http"

// The problems with titles (spec 1.4). What each title means to a
// client is among the explanations.

// refusal is a 400 with a title.
func refusal(title, detail string) problem { return titled(http.StatusBadRequest, title, detail) }

func titled(status int, title, detail string) problem {
	return problem{Status: status, Title: title, Detail: detail}
}

// absent is the answer where something does not exist, or not for the caller.
func absent(detail string) problem { return titled(http.StatusNotFound, "Not found", detail) }

func notFound(what string) *problem { return new(absent(what + " does not exist.")) }

var (
	noRequest      = absent("The signing request has finished, was cleared, or does not exist.")
	noSignal       = absent("The busy signal does not exist.")
	noUser         = absent("The sandbox user does not exist.")
	noSubscription = absent("The webhook subscription does not exist.")
	noProcess      = absent("The signing process was deleted, or does not exist.")
	noParticipant  = absent("The signing process, the participant or the sandbox user does not exist.")
)

// Of callers.
var (
	noToken        = titled(http.StatusUnauthorized, "Unauthorized", "The request carries no access token.")
	badToken       = titled(http.StatusUnauthorized, noToken.Title, "The access token is not valid, or no longer.")
	ambiguousToken = refusal("Malformed authorization", "The request carries more than one access token.")
	noNotification = titled(http.StatusUnauthorized, noToken.Title, "This is no notification of the identity provider.")
)

func missingScope(scope string) problem {
	return titled(http.StatusForbidden, "Forbidden", "The access token does not grant the scope "+scope+".")
}

// Of documents, and of the stamps on them.
var (
	unreadablePDF = unreadable("The document is not a readable PDF.")
	noPage        = refusal("Signature page does not exist", "The document has no page of that number.")
	noSlot        = refusal("No free signature slot", "No free place was found on the page for the stamp.")
	overlap       = refusal("Stamp overlaps another signature", "The stamp would cover the visible signature that is there.")
	notAllowed    = refusal("Document does not allow signatures", "The document's permissions, or an earlier signature, do not allow another signature.")
	slotUnknown   = refusal(noSlot.Title, "The page could not be drawn to look for a free place.")
	placesUnknown = refusal(tooManyStamps.Title, "The page could not be drawn to look for places for the stamps.")
	tooManyStamps = refusal("Too many participants for the page", "The page has no room for the stamps of that many signers.")
)

// unreadable is the answer to a document that cannot be signed whoever signs it.
func unreadable(why string) problem { return refusal("Document could not be read", why) }

// Of signing processes and who answers in them.
var (
	paymentRequired = refusal("Payment method required", "The account has no payment method, and its free signatures do not cover the signers.")
	quotaExceeded   = refusal("Storage quota exceeded", "The account's document storage has no room left for the document.")
	isViewer        = refusal("Participant is a viewer", "Viewers read the document. They neither sign nor decline.")
	hasAnswered     = refusal("Participant has already answered", "The participant has signed or declined.")
	otherPerson     = refusal("Kennitala does not match", "The process was created with another kennitala for the participant.")
	cannotSign      = refusal("Sandbox user cannot sign now", "The sandbox user has action Cancel or a delay.")
	notWaiting      = refusal("Signing process is not waiting", "The signing process is completed, declined or expired.")
	turnTaken       = titled(http.StatusLocked, "Signature in progress", "A signature on the document is in progress.")
	userExists      = titled(http.StatusUnprocessableEntity, "Sandbox user already exists", "Another of your sandbox users has that kennitala or phone.")
)

// held is the answer to a start whose busy signal somebody else holds; it says who, if they did.
func held(by *string) problem {
	p := titled(http.StatusLocked, "Busy signal is held", "Another signing request holds the busy signal.")
	p.Holder = &holder{by}
	return p
}

// Of webhook subscriptions.
var (
	tooManySubscriptions = refusal("Too many webhook subscriptions", "The account has as many webhook subscriptions as it may.")
	changedMeanwhile     = titled(http.StatusConflict, "Subscription was changed", "The URL was changed, or the subscription switched off, while its activation ran. It is inactive.")
	activateCall         = titled(http.StatusUnprocessableEntity, "Activation has a call of its own", "isActive cannot be set to true. A POST to the subscription's path with /activate behind it checks the endpoint and activates the subscription.")
	tooManyCalls         = titled(http.StatusTooManyRequests, "Too many activations and tests", "Other activations and tests of the account took up the time that this one had.")
)

// activationFailed is the answer of an activation whose checks the endpoint did not pass.
func activationFailed(check, detail string) problem {
	p := titled(http.StatusUnprocessableEntity, "Activation failed", detail)
	p.FailedCheck = check
	return p
}

func testFailed(detail string) problem {
	return titled(http.StatusBadGateway, "Webhook test failed", detail)
}

// Of requests, and of the server.
var (
	keyInUse      = titled(http.StatusConflict, "Request is still running", "The request with this Idempotency-Key has not been answered yet.")
	keyReused     = titled(http.StatusUnprocessableEntity, "Idempotency key was used", "The Idempotency-Key was used with another request body.")
	tooLarge      = titled(http.StatusRequestEntityTooLarge, "Request too large", "The request body is longer than the server takes.")
	tooMuchBeside = titled(tooLarge.Status, tooLarge.Title, "The request body, its document aside, is longer than the server takes.")
	internalError = titled(http.StatusInternalServerError, "Internal error", "The request could not be completed. Try again later.")
	unavailable   = titled(http.StatusServiceUnavailable, "Service unavailable", "The server's storage does not answer just now.")
	notReady      = titled(http.StatusServiceUnavailable, unavailable.Title, "The server is being made ready to look for free places on pages, or has too much else to do.")
	noRoomLeft    = titled(http.StatusInsufficientStorage, "No room left", "The server has no room left for what the request brings. Nothing of it was stored.")
)

// wrongType is the answer to a body of another media type than the one it has to be.
func wrongType(kind string) problem {
	return titled(http.StatusUnsupportedMediaType, "Unsupported media type", "The body has to be "+kind+".")
}
