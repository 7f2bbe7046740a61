package httpapi

import (
	"strings"

	"github.com/innsigli/innsigli/httpapi/internal/openapi"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/webhook"
)

const eventsTag = "Events"

// event is what is sent to the endpoints of subscriptions (spec 5.4).
type event struct {
	name, id, summary, text string
	data                    string // the name of its schema
	example                 string
}

var events = []event{
	{
		portal.SignedEvent, "onParticipantSigned", "A participant has signed", "The participant signed.", "SignedData",
		`{"signingProcessId":"0f8fad5b-d9cb-469f-a165-70867728950e","participant":` + signedExample + `}`,
	},
	{
		portal.DeclinedEvent, "onParticipantDeclined", "A participant has declined", "The participant declined. The signing process is declined with that.", "DeclinedData",
		`{"signingProcessId":"0f8fad5b-d9cb-469f-a165-70867728950e","participant":{"name":"Jóna Jónsdóttir","email":"jona@example.com","kennitala":"0101302989","phone":"","declineReason":"The amount is wrong.","declinedAt":"2026-03-02T10:00:00.000+00:00"}}`,
	},
	{
		portal.CompletedEvent, "onProcessCompleted", "A signing process is completed", "Every signer has signed. The event has no document: download it.", "CompletedData",
		`{"signingProcessId":"0f8fad5b-d9cb-469f-a165-70867728950e","participants":[` + signedExample + `]}`,
	},
	{
		webhook.PingType, "onPing", "A ping", "Sent about once an hour to every active subscription, to those that are activated, and for tests. Now and then one is signed so that it cannot verify, and has to be answered with 401: an endpoint that answers it with 2xx does not check signatures, and its subscription is switched off.", "PingData",
		`{}`,
	},
}

const signedExample = `{"name":"Jóna Jónsdóttir","email":"jona@example.com","kennitala":"0101302989","phone":"","signature":"MEUCIQDk","signedAt":"2026-03-02T10:00:00.000+00:00"}`

// events is the section webhooks of the document.
func (a *api) events() (all openapi.Map[openapi.PathItem]) {
	for _, e := range events {
		all = append(all, openapi.Member[openapi.PathItem]{Name: e.name, Value: openapi.PathItem{Post: e.operation()}})
	}
	return all
}

func (e event) operation() *openapi.Operation {
	schema := openapi.Object([]string{"type", "timestamp", "data"}, openapi.Map[*openapi.Schema]{
		{Name: "type", Value: &openapi.Schema{Type: str, Const: e.name}},
		{Name: "timestamp", Value: offsetMoment("When it happened.")},
		{Name: "data", Value: openapi.Reference(e.data)},
	})
	body := raw(`{"type":"` + e.name + `","timestamp":"2026-03-02T10:00:00.000+00:00","data":` + e.example + `}`)
	return &openapi.Operation{
		OperationID: e.id, Tags: []string{eventsTag}, Summary: e.summary,
		Description: e.text + "\n\nVerify the signature before anything else, and answer within 15 seconds. An event that is not answered with 2xx is sent again, eight times in about a day and a half; it can come twice and out of order.",
		Parameters:  eventHeaders,
		RequestBody: &openapi.RequestBody{Required: true, Content: openapi.Map[openapi.MediaType]{{Name: jsonType, Value: openapi.MediaType{
			Schema: schema, Examples: openapi.Map[openapi.Example]{sample("event", e.summary, body)},
		}}}},
		Responses: openapi.Map[openapi.Response]{
			{Name: "2XX", Value: openapi.Response{Description: "Any of them: the event was received. The body is not read."}},
			{Name: "401", Value: openapi.Response{Description: "No signature of the request verifies."}},
		},
		Security: []openapi.Security{},
	}
}

// eventHeaders are those of spec 5.5.
var eventHeaders = []openapi.Parameter{
	{Name: strings.ToLower(webhook.HeaderID), In: "header", Required: true, Schema: &openapi.Schema{Type: str}, Description: "The ID of the event. It stays the same when the event is sent again, so whoever stores the IDs that are handled notices repeats.", Example: raw(`"0b0c5c4e-6a1b-4d3a-9a6e-1b7d6ab1a111"`)},
	{Name: strings.ToLower(webhook.HeaderTimestamp), In: "header", Required: true, Schema: &openapi.Schema{Type: str, Pattern: `^[0-9]+$`}, Description: "When this request was sent, in Unix seconds. Refuse one that is more than five minutes off.", Example: raw(`"1772445600"`)},
	{Name: strings.ToLower(webhook.HeaderSignature), In: "header", Required: true, Schema: &openapi.Schema{Type: str}, Description: "Signatures, separated by spaces, each `scheme,base64`. What is signed is the ID, the timestamp and the body as it came, joined with periods. `v1` is HMAC-SHA256 with the secret's 32 bytes, `v1a` ed25519 with a key of `/.well-known/webhook-key.pub`; ignore others. The request is genuine when one of them verifies.", Example: raw(`"v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4="`)},
	{Name: strings.ToLower(webhook.HeaderSubscription), In: "header", Required: true, Schema: identifier(""), Description: "The ID of the subscription.", Example: raw(`"7c9e6679-7425-40de-944b-e07fc1f90ae7"`)},
}

// offsetMoment is a time as events tell it (spec 1.5).
func offsetMoment(about string) *openapi.Schema {
	return &openapi.Schema{Type: str, Format: "date-time", Pattern: `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$`, Description: about}
}

// eventSchemas are the payloads of spec 5.4.
func eventSchemas() openapi.Map[*openapi.Schema] {
	type members = openapi.Map[*openapi.Schema]
	text := func(about string) *openapi.Schema { return &openapi.Schema{Type: str, Description: about} }
	person := members{
		{Name: "name", Value: text("The name: of who signed, as the electronic ID has it.")},
		{Name: "email", Value: text("Where the invitation went to.")},
		{Name: "kennitala", Value: text("The kennitala; empty when it is not known.")},
		{Name: "phone", Value: text("The phone number that was given with the process; empty when there was none.")},
	}
	who := []string{"name", "email", "kennitala", "phone"}
	process := openapi.Member[*openapi.Schema]{Name: "signingProcessId", Value: identifier("The signing process.")}
	signed := append(person[:4:4], members{{Name: "signature", Value: encoded("", "The signature value, Base64.")}, {Name: "signedAt", Value: offsetMoment("When it was signed.")}}...)
	declined := append(person[:4:4], members{{Name: "declineReason", Value: text("The reason that was given; may be empty.")}, {Name: "declinedAt", Value: offsetMoment("When it was declined.")}}...)
	return members{
		{Name: "SignedParticipant", Value: openapi.Object(append(who[:4:4], "signature", "signedAt"), signed)},
		{Name: "DeclinedParticipant", Value: openapi.Object(append(who[:4:4], "declineReason", "declinedAt"), declined)},
		{Name: "SignedData", Value: openapi.Object([]string{"signingProcessId", "participant"}, members{process, {Name: "participant", Value: openapi.Reference("SignedParticipant")}})},
		{Name: "DeclinedData", Value: openapi.Object([]string{"signingProcessId", "participant"}, members{process, {Name: "participant", Value: openapi.Reference("DeclinedParticipant")}})},
		{Name: "CompletedData", Value: openapi.Object([]string{"signingProcessId", "participants"}, members{process, {Name: "participants", Value: openapi.List(openapi.Reference("SignedParticipant")).About("The signers; viewers are left out.")}})},
		{Name: "PingData", Value: &openapi.Schema{Type: object, MaxProperties: new(0)}},
	}
}
