package httpapi

import (
	"encoding/json"
	"strconv"

	"github.com/innsigli/innsigli/httpapi/internal/openapi"
	"github.com/innsigli/innsigli/webhook/delivery"
)

const problemType = "application/problem+json"

var (
	problemRef           = openapi.Reference("Problem")
	validationProblemRef = openapi.Reference("ValidationProblem")
	heldProblemRef       = openapi.Reference("BusySignalProblem")
	activationProblemRef = openapi.Reference("ActivationProblem")
)

// problemSchemas are the shapes of problems (RFC 9457, spec 1.3, 1.4, 3.11 and 5.3).
func problemSchemas() openapi.Map[*openapi.Schema] {
	type members = openapi.Map[*openapi.Schema]
	shape := func(more members) *openapi.Schema {
		all := append(members{
			{Name: "type", Value: openapi.Schema{Type: str, Format: "uri"}.About("Identifies the kind of problem. A page that explains it is at this address.")},
			{Name: "title", Value: openapi.Schema{Type: str}.About("Says what went wrong. It never changes for a type, and is what programs tell problems apart by, with the type.")},
			{Name: "status", Value: openapi.Schema{Type: integer}.About("The HTTP status, once more.")},
		}, more...)
		var required []string
		for _, one := range all {
			required = append(required, one.Name)
		}
		return openapi.Object(required, all)
	}
	detail := openapi.Member[*openapi.Schema]{Name: "detail", Value: openapi.Schema{Type: str}.About("A sentence about this occurrence, for people. It may change.")}
	messages := openapi.List(&openapi.Schema{Type: str})
	messages.MinItems = 1
	faults := &openapi.Schema{Type: object, AdditionalProperties: messages}
	held := openapi.Object([]string{"userId"}, members{{Name: "userId", Value: openapi.Schema{Type: strOrNull}.About("The userId that the holder sent; null when there was none.")}})
	checks := openapi.Schema{Type: str, Enum: []any{delivery.SignedPing, delivery.UnverifiablePing, delivery.Unreachable}}
	return members{
		{Name: "Problem", Value: shape(members{detail}).About("An error as of RFC 9457.")},
		{Name: "ValidationProblem", Value: shape(members{{Name: "errors", Value: faults.About("What is wrong, by the path of the field in the body, such as signer.phone or participants[1].email; $ is the body as a whole. All faulty fields are named at once.")}}).About("The fields of a request that are missing or invalid.")},
		{Name: "BusySignalProblem", Value: shape(members{detail, {Name: "busySignal", Value: held.About("Who holds the busy signal.")}}).About("A busy signal is held by another signing request.")},
		{Name: "ActivationProblem", Value: shape(members{detail, {Name: "failedCheck", Value: checks.About("The check that the endpoint did not pass.")}}).About("The endpoint of a webhook subscription did not pass a check.")},
	}
}

// typed is a problem with its address.
func (a *api) typed(p problem) problem {
	p.Type = a.BaseURL + "/problems/" + slug(p.Title)
	return p
}

// explanation is what the page of a problem says.
func explanation(title string) string {
	for _, e := range explanations {
		if e.title == title {
			return e.text
		}
	}
	return ""
}

func retryAfterHeader(always bool) openapi.Member[openapi.Header] {
	return openapi.Member[openapi.Header]{Name: "Retry-After", Value: openapi.Header{
		Description: "How many seconds to wait before the request is repeated.",
		Required:    always,
		Schema:      &openapi.Schema{Type: integer, Minimum: new(0.0)},
		Example:     json.RawMessage(strconv.Itoa(1)),
	}}
}

// rateHeaders are on so many answers that the document has them in one place.
var rateHeaders = openapi.Map[openapi.Header]{openapi.HeaderReference("RateLimit-Policy"), openapi.HeaderReference("RateLimit")}

// sharedHeaders tell of a limit, where there is one (draft-ietf-httpapi-ratelimit-headers).
var sharedHeaders = openapi.Map[openapi.Header]{
	{Name: "RateLimit-Policy", Value: openapi.Header{Description: "The limit of requests: `q` of them in `w` seconds.", Schema: &openapi.Schema{Type: str}, Example: json.RawMessage(`"\"client\";q=60;w=3"`)}},
	{Name: "RateLimit", Value: openapi.Header{Description: "What is left of the limit: `r` requests now, all of them again in `t` seconds.", Schema: &openapi.Schema{Type: str}, Example: json.RawMessage(`"\"client\";r=59;t=1"`)}},
}

func challengeHeader(always bool) openapi.Member[openapi.Header] {
	return openapi.Member[openapi.Header]{Name: "WWW-Authenticate", Value: openapi.Header{
		Description: "What is wrong with the caller's credentials (RFC 6750 section 3): `error` is `invalid_token`, `insufficient_scope` or `invalid_request`, and is left out where the request had none.",
		Required:    always,
		Schema:      &openapi.Schema{Type: str},
		Example:     json.RawMessage(`"Bearer realm=\"innsigli\", error=\"invalid_token\""`),
	}}
}
