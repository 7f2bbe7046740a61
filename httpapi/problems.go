package httpapi

import (
	"html/template"
	"net/http"
	"strings"
)

// explanations are what the pages behind the type of a problem say.
var explanations = []struct{ title, text string }{
	{validationTitle, "Fields of the request are missing or invalid. The member errors names each of them with what is wrong."},
	{"Unauthorized", "The request carries no access token, or one that is not valid any more. Get one at /api/v1/auth/token and send it in the header Authorization: Bearer."},
	{"Malformed authorization", "The request carries more than one access token: two Authorization headers, or one in the address beside the header. One header Authorization: Bearer is the place for it."},
	{"Forbidden", "The access token does not grant the scope that this endpoint needs. The header WWW-Authenticate names it."},
	{"Not found", "What the request names does not exist, or belongs to another account. A signing request is gone once its result was delivered."},
	{"Method not allowed", "The path exists, but takes other methods. The header Allow names them."},
	{tooOften.Title, "More requests came from the client, or from an address without valid credentials, than may in that time. The header Retry-After says how many seconds to wait; RateLimit-Policy and RateLimit tell the limit and what is left of it. Polls do not count: they are told AuthorizationPending or SlowDown."},
	{"Request too large", "The body is longer than the server takes: 30 MiB unless the operator chose otherwise, of which all but the document may be 4 MiB, or 1 MiB for a signing process; and 1 MiB where there is no document."},
	{"Unsupported media type", "The body is of a type that the endpoint does not take. The member detail names those that it takes: for most that is application/json in UTF-8."},
	{"No free signature slot", "The page has no free place that is large enough for the stamp, or it could not be drawn to look for one. Choose another page, another size of the image, or a place with originX and originY."},
	{"Signature page does not exist", "The member signatureImage.page, or signaturePage of a signing process, is not the number of a page of the document. The first page is 1."},
	{"Too many participants for the page", "Each signer of a signing process has a stamp on the page, and the page has no free places for all of them, or could not be drawn to look for some. Choose another page, or name fewer signers; viewers have no stamp."},
	{"Payment method required", "The account has no payment method, and the free signatures that it has left are fewer than the signers of the process. Those of processes that wait for signers are spoken for. Ask the operator to put a payment method on file."},
	{"Storage quota exceeded", "The documents of the account's signing processes take up its storage, or would with this one. Delete processes that are not needed any more, or ask the operator for more storage."},
	{"Stamp overlaps another signature", "With Manual positioning, stamps on a page must not overlap, and a visible signature is there already. Choose another place, or have one found with Auto."},
	{"Document could not be read", "The file is not a readable PDF, needs a password, or carries a signature that is broken; that of a signing process may not be encrypted at all. The member detail says which."},
	{"Document does not allow signatures", "An earlier signature of the document, or the permissions of its encryption, do not allow that it is signed. Only its author can change that."},
	{"Busy signal is held", "Another signing is running on the same file. The member busySignal names who holds the signal. Try again when it has ended. The signal is free after 5 minutes at the latest."},
	{"Participant is a viewer", "Only signers of a signing process sign or decline. Viewers receive the document to read."},
	{"Participant has already answered", "A participant signs or declines once, and this one has. The signing process says which."},
	{"Kennitala does not match", "The signing process was created with a kennitala for the participant, and the sandbox user has another. Only the person with that kennitala can sign."},
	{"Sandbox user cannot sign now", "The sandbox user has action Cancel, or waits before answering. Use one with action Success and no delay."},
	{"Signing process is not waiting", "A signing process takes answers while its status is Waiting. This one is completed, declined or expired."},
	{"Signature in progress", "Signatures are made on a document one after another, and one is being made just now. Try again when the time in the header Retry-After is over."},
	{"Sandbox user already exists", "Each sandbox user of an account needs a kennitala and a phone number of its own."},
	{"Request is still running", "A request with the same Idempotency-Key has not been answered yet. Try again a little later."},
	{"Idempotency key was used", "The Idempotency-Key was used with another request body within the last 24 hours. Use a new one for a new request."},
	{"Too many webhook subscriptions", "The account has as many webhook subscriptions as the server lets one have. Delete one that is not needed any more."},
	{"Subscription was changed", "The URL of the webhook subscription was changed, or it was switched off, while its activation ran. It is inactive. Activate it again."},
	{"Activation has a call of its own", "A webhook subscription becomes active only by a POST to its path with /activate behind it, which checks the endpoint first. A PUT can switch it off."},
	{"Too many activations and tests", "A few activations and tests of an account's webhook subscriptions run at once, and others wait for their turn. This one waited too long. Its subscription is as it was. Try again when the time in the header Retry-After is over."},
	{"Activation failed", "The endpoint of the webhook subscription did not pass a check. The member failedCheck names it: SignedPing, a correctly signed ping has to be answered with 2xx; UnverifiablePing, one whose signature does not verify with 401; Unreachable, there has to be an answer within 15 seconds. The member detail says what came instead."},
	{"Webhook test failed", "The endpoint of the webhook subscription did not answer a correctly signed ping with 2xx within 15 seconds. The member detail says what came instead."},
	{"Service unavailable", "The server cannot work at the moment. Try again when the time in the header Retry-After is over. Whether the request was carried out may not be known; a start, or the creation of a signing process, that carries an Idempotency-Key can be repeated without harm."},
	{"No room left", "The server has no room left to store what the request brings, and stored nothing of it. Try again later; the operator has to make room."},
	{"Internal error", "Something went wrong in the server. Nothing in the request was at fault; try again a little later."},
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
	return notFound("Path")
}
