package httpapi

import "github.com/innsigli/innsigli/httpapi/internal/openapi"

// authorityOperations are those of the test authority.
func (a *api) authorityOperations() []operation {
	request := openapi.Parameter{Name: "request", In: "path", Required: true, Description: "The OCSP request, Base64 and then percent-encoded.", Schema: &openapi.Schema{Type: str}}
	return []operation{
		{
			method: "GET", path: "/.well-known/sandbox-root.pem", open: a.sandboxRoot,
			id: "getSandboxRoot", tag: authorityTag, summary: "Download the root certificate",
			text:    "The root of the sandbox's authority. Whoever trusts it, as for a test, can validate the documents that sandbox users signed.",
			answers: []answer{{status: 200, text: "The certificate.", content: texts("application/x-pem-file", "-----BEGIN CERTIFICATE-----\n")}},
		},
		asked(operation{path: "/tsa", open: posted(timestampQuery, timestampReply, a.Authority.Timestamp), id: "timestamp", summary: "Get a timestamp",
			text: "A timestamp authority (RFC 3161). What cannot be read gets the protocol's own refusal, with status 200."}, timestampQuery, timestampReply),
		asked(operation{path: "/ocsp", open: posted(ocspRequest, ocspResponse, a.Authority.OCSP), id: "askOCSP", summary: "Ask for the status of a certificate",
			text: "An OCSP responder (RFC 6960). What cannot be read gets the protocol's own refusal, with status 200."}, ocspRequest, ocspResponse),
		{
			method: "GET", path: ocspInPath, open: a.answerOCSPInPath,
			id: "askOCSPInPath", tag: authorityTag, summary: "Ask for the status of a certificate by GET",
			text:       "The same with the request in the path (RFC 6960 appendix A.1).",
			parameters: []openapi.Parameter{request},
			answers:    []answer{{status: 200, text: "The response.", content: binary(ocspResponse)}},
		},
		published("/crl", "getCRL", "Download the revocation list", "The list of the authority that certifies sandbox users (RFC 5280).", crlType, made(crlType, a.Authority.CRL)),
		published("/crl/root", "getRootCRL", "Download the root's revocation list", "The list of the root.", crlType, made(crlType, a.Authority.RootCRL)),
		published("/issuers.p7c", "getIssuers", "Download the certificates of the authority", "The certificates that lead from a signer's to the root (RFC 5280 section 4.2.2.1).", issuersType, made(issuersType, a.Authority.Issuers)),
	}
}

// asked is an operation that takes a request in DER.
func asked(o operation, request, response string) operation {
	o.method, o.tag = "POST", authorityTag
	o.body = &openapi.RequestBody{Required: true, Content: binary(request)}
	o.answers = []answer{{status: 200, text: "The response.", content: binary(response)}}
	o.problems = []problem{tooLarge, wrongType(request)}
	return o
}

// published is an operation that downloads what the authority publishes.
func published(path, id, summary, text, mediaType string, serve handler) operation {
	return operation{
		method: "GET", path: path, open: serve, id: id, tag: authorityTag, summary: summary, text: text,
		answers:  []answer{{status: 200, text: "The file, in DER.", content: binary(mediaType)}},
		problems: []problem{internalError},
	}
}

// binary is a body that is bytes.
func binary(mediaType string) openapi.Map[openapi.MediaType] {
	return openapi.Map[openapi.MediaType]{{Name: mediaType, Value: openapi.MediaType{}}}
}
