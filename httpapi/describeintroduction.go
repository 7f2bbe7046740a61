package httpapi

import "strings"

// introduction is what holds of all operations (spec 1), in CommonMark.
func (a *api) introduction() string {
	var b strings.Builder
	b.WriteString("Have documents signed by people with Icelandic electronic IDs. With the **Signing API** a client submits a document, names one signer and polls for the signed document. " +
		"With **signing processes** a client names participants, whom the service invites; they sign on its page, and **webhooks** tell the client.\n\n")
	if a.Sandbox != nil {
		b.WriteString("This is the **sandbox**: sandbox users sign in place of people, no email is sent, and the paths under `/api/v1/sandbox` exist here alone.\n\n" + firstSteps(a.BaseURL))
	}
	b.WriteString(theWire)
	return b.String()
}

// firstSteps lead through a signature in the sandbox, with a file contract.pdf at hand.
func firstSteps(base string) string {
	return "## First steps\n\n```sh\n" +
		"base=" + base + "\n" +
		"token=$(curl -s -u \"$CLIENT_ID:$CLIENT_SECRET\" -d grant_type=client_credentials \\\n" +
		"  $base/api/v1/auth/token | jq -r .access_token)\n" +
		"call() { curl -s -H \"Authorization: Bearer $token\" \"$@\"; }\n\n" +
		"call --json '{\"fullName\":\"Jóna Jónsdóttir\",\"kennitala\":\"0101302989\",\"phone\":\"5550101\"}' \\\n" +
		"  $base/api/v1/sandbox/users\n" +
		"id=$(base64 < contract.pdf | tr -d '\\n' |\n" +
		"  jq -R '{file: {type: \"Pdf\", name: \"contract.pdf\", contentB64: .},\n" +
		"          signer: {kennitala: \"0101302989\", signingMethod: \"IdpApp\"}}' |\n" +
		"  call --json @- $base/api/v1/signing | jq -r .pollingId)\n" +
		"call $base/api/v1/signing/$id   # 400, AuthorizationPending: the signer is being asked\n" +
		"sleep 1\n" +
		"call $base/api/v1/signing/$id | jq -r .signedFileB64 | base64 -d > signed.pdf\n" +
		"```\n\n"
}

const theWire = "## Requests\n\n" +
	"Bodies are JSON objects in UTF-8. Members that are unknown are ignored, `null` for an optional member means that it is left out, and so does a text of white space alone. A repeated member, a wrong type and control characters in texts are refused. " +
	"Names and values are case-sensitive, lengths count Unicode code points, and whole numbers may be written `1.0`. Base64 is that of RFC 4648 section 4, with padding and without line breaks. A request has 30 MB at most, unless the operator chose otherwise.\n\n" +
	"A path takes the methods that are described here, `HEAD` not among them; to others it answers 405 with the header `Allow`. A path that does not exist answers 404.\n\n" +
	"Creating a signing process and starting a signature take an `Idempotency-Key`, with which they can be repeated without harm.\n\n" +
	"## Answers\n\n" +
	"Every answer of the API carries `Cache-Control: no-store`. Members may be added to the objects that it answers: ignore what you do not know. Times are in UTC, as `2026-03-02T09:15:00.000Z`; those of events have the offset `+00:00`.\n\n" +
	"What belongs to another account does not exist: it is answered with 404. All clients of an account see the same.\n\n" +
	"Errors are problem details (RFC 9457) in `application/problem+json`, but for two that have forms of their own: those of access tokens, and what became of a signature. Tell problems apart by `title` or `type`; the address in `type` leads to an explanation. " +
	"Validation names all faulty fields at once.\n\n" +
	"## Limits\n\n" +
	"A client may have a limit of requests, of which the headers `RateLimit-Policy` and `RateLimit` tell. One request too many is answered with 429, and its `Retry-After` says when to go on. Polls do not count: they have a pace of their own.\n"
