package httpapi

import (
	"github.com/innsigli/innsigli/httpapi/internal/openapi"
)

const textType, htmlType = "text/plain", "text/html"

// serverOperations are the paths beside the API.
func (a *api) serverOperations() []operation {
	name := openapi.Parameter{Name: "name", In: "path", Required: true, Description: "The name of the problem.", Schema: &openapi.Schema{Type: str}, Example: raw(`"not-found"`)}
	return []operation{
		{
			method: "GET", path: documentPath, open: a.openAPI,
			id: "getOpenAPI", tag: serverTag, summary: "Read this document",
			text:       "The API of this server and environment, as OpenAPI 3.1.",
			parameters: []openapi.Parameter{{Name: "If-None-Match", In: "header", Description: "The `ETag` of a copy that is there already.", Schema: &openapi.Schema{Type: str}}},
			answers: []answer{
				{status: 200, text: "The document.", headers: tagged, content: openapi.Map[openapi.MediaType]{{Name: jsonType, Value: openapi.MediaType{Schema: &openapi.Schema{Type: object, AdditionalProperties: &openapi.Schema{}}}}}},
				{status: 304, text: "The copy that is there is this one.", headers: tagged},
			},
		},
		{
			method: "GET", path: "/healthz", open: a.alive,
			id: "getHealth", tag: serverTag, summary: "Ask whether the server is alive",
			text:    "Answers while the process runs.",
			answers: []answer{{status: 200, text: "It is.", content: texts(textType, "ok\n")}},
		},
		{
			method: "GET", path: "/readyz", open: a.ready,
			id: "getReadiness", tag: serverTag, summary: "Ask whether the server can work",
			text:     "Answers 200 when the storage answers and is of a version that the server knows.",
			answers:  []answer{{status: 200, text: "It can.", content: texts(textType, "ready\n")}},
			problems: []problem{unavailable},
		},
		{
			method: "GET", path: "/problems/{name}", open: a.problemPage,
			id: "getProblemPage", tag: serverTag, summary: "Read what a problem means",
			text:       "The page behind the `type` of a problem.",
			parameters: []openapi.Parameter{name},
			answers:    []answer{{status: 200, text: "The page.", content: texts(htmlType, "<!doctype html>")}},
			problems:   []problem{*notFound("Path")},
		},
	}
}

var tagged = openapi.Map[openapi.Header]{{Name: "ETag", Value: openapi.Header{Required: true, Description: "Identifies this version of the document.", Schema: &openapi.Schema{Type: str}}}}

// texts is a body that is text.
func texts(mediaType, example string) openapi.Map[openapi.MediaType] {
	return openapi.Map[openapi.MediaType]{{Name: mediaType, Value: openapi.MediaType{Schema: &openapi.Schema{Type: str}, Examples: openapi.Map[openapi.Example]{sample("text", "The text", example)}}}}
}

// notificationOperations is where the identity provider tells its news.
func (a *api) notificationOperations() []operation {
	return []operation{{
		method: "POST", path: NotificationPath, open: a.notified,
		id: "notify", tag: serverTag, summary: "Tell that there is news",
		text:     "For the identity provider alone: a ping of OpenID CIBA (section 10.2), which carries the token that the conversation was begun with.",
		body:     &openapi.RequestBody{Required: true, Content: openapi.Map[openapi.MediaType]{{Name: jsonType, Value: openapi.MediaType{Schema: &openapi.Schema{Type: object}}}}},
		answers:  []answer{noContent("Somebody waits for the news.")},
		problems: []problem{noNotification, noRequest, tooLarge, internalError, unavailable, noRoomLeft},
	}}
}
