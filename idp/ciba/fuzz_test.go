package ciba

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// FuzzAnswer checks that any response is either a value within its bounds or one of the three errors.
func FuzzAnswer(f *testing.F) {
	for _, body := range []string{
		`{"auth_req_id":"1c266114","expires_in":120,"interval":2}`,
		`{"auth_req_id":"1","expires_in":"1e400","interval":-0.5}`,
		`{"access_token":"a","id_token":"b","token_type":"Bearer","expires_in":5}`,
		`{"error":"access_denied","error_description":"mssp_401"}`,
		`{"error":"access_denied","error_description":["mssp_401",{}],"error_uri":7}`,
		`{"issuer":"https://idp.example","token_endpoint":"https://idp.example/token","acr_values_supported":["app-auth"]}`,
		`{"keys":[{"kty":"RSA","kid":"0","n":"AQAB","e":"AQAB"}]}`, "[]", "",
	} {
		f.Add(200, "5", body)
		f.Add(503, "Sun, 06 Nov 1994 08:49:37 GMT", body)
	}
	f.Fuzz(func(t *testing.T, status int, retryAfter, body string) {
		a := response{request: "GET https://idp.example", status: status, header: http.Header{"Retry-After": {retryAfter}}, body: []byte(body)}
		asked, err := a.acknowledgement()
		checkErrorType(t, err)
		if err == nil && (!isToken(asked.ID) || asked.ExpiresIn <= 0 || asked.ExpiresIn > time.Hour ||
			asked.Interval < time.Second || asked.Interval > time.Minute) {
			t.Errorf("asked: %+v", asked)
		}
		tokens, err := a.tokens()
		checkErrorType(t, err)
		if err == nil && (!isToken(tokens.Access) || !isCompactJWS(tokens.ID) || tokens.Received.IsZero()) {
			t.Errorf("tokens: %+v", tokens)
		}
		refusal := a.oauthError()
		checkErrorType(t, refusal)
		var refused *Error
		if errors.As(refusal, &refused) && (refused.Code == "" || len(refused.Code) > maxErrorCode ||
			len(refused.Description) > 4<<10 || !utf8.ValidString(refused.Description) || refused.RetryAfter < 0 || refused.RetryAfter > 24*time.Hour) {
			t.Errorf("refused: %+v", refused)
		}
		var m metadata
		checkErrorType(t, a.decode(&m))
	})
}

func checkErrorType(t *testing.T, err error) {
	t.Helper()
	var fault *TransportError
	var refused *Error
	if err != nil && !errors.As(err, &fault) && !errors.As(err, &refused) {
		t.Errorf("error: %T %v", err, err)
	}
}

func FuzzReadNotification(f *testing.F) {
	f.Add("POST", "Bearer 8d67dc78", `{"auth_req_id":"1c266114-a1be-4252-8ad1-04986c5b9ac1"}`)
	f.Add("POST", "bearer  a", `{"auth_req_id":null}`)
	f.Add("PUT", "", `[`)
	f.Fuzz(func(t *testing.T, method, authorization, body string) {
		r := httptest.NewRequest("POST", "/", strings.NewReader(body))
		r.Method = method
		r.Header.Set("Authorization", authorization)
		token, id, err := ReadNotification(r)
		if err == nil && (!isToken(token) || !isToken(id)) || err != nil && token+id != "" {
			t.Errorf("%q, %q, %v", token, id, err)
		}
	})
}
