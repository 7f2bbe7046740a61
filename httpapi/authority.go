package httpapi

import (
	"encoding/base64"
	"io"
	"mime"
	"net/http"
	"strings"
)

// The paths of a test authority. They are those that its certificates
// name, and the clients are anybody's: there is no token, and nothing is JSON.

const (
	timestampQuery = "application/timestamp-query" // RFC 3161 3.4
	timestampReply = "application/timestamp-reply"
	ocspRequest    = "application/ocsp-request" // RFC 6960 A
	ocspResponse   = "application/ocsp-response"
	crlType        = "application/pkix-crl"   // RFC 5280 4.2.1.13
	issuersType    = "application/pkcs7-mime" // RFC 5280 4.2.2.1
	maxQuery       = 64 << 10                 // of a request to the authority
	ocspPath       = "/ocsp/"                 // and a request in Base64 after it
	ocspInPath     = ocspPath + "{request}"
)

// posted answers a DER request. What cannot be read gets the protocol's own refusal,
// with status 200 like every other answer.
func posted(request, response string, answer func([]byte) []byte) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != request {
			return new(wrongType(request))
		}
		body, err := io.ReadAll(wholeBody{http.MaxBytesReader(w, r.Body, maxQuery)})
		if err != nil {
			return err
		}
		return writeBytes(w, response, answer(body))
	}
}

// made answers with what is made for this moment.
func made(kind string, der func() ([]byte, error)) handler {
	return func(w http.ResponseWriter, _ *http.Request) error {
		b, err := der()
		if err != nil {
			return err
		}
		return writeBytes(w, kind, b)
	}
}

// answerOCSPInPath is the GET of RFC 6960 A.1: the request is the rest of the path, in
// Base64. That has slashes, of which two in a row are not one.
func (a *api) answerOCSPInPath(w http.ResponseWriter, r *http.Request) error {
	encoded := strings.TrimPrefix(r.URL.Path, ocspPath)
	der, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(der) > maxQuery {
		der = nil // which the responder calls malformed
	}
	return writeBytes(w, ocspResponse, a.Authority.OCSP(der))
}

func (a *api) sandboxRoot(w http.ResponseWriter, _ *http.Request) error {
	return writeText(w, "application/x-pem-file", string(a.Authority.RootPEM()))
}
