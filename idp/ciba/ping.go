package ciba

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
)

// ErrNotification: a request is no ping of CIBA.
var ErrNotification = errors.New("ciba: not a ping notification")

const maxNotification = 64 << 10 // bytes

// ReadNotification reads a ping (CIBA Core 10.2): the client_notification_token that its
// sender knows and the auth_req_id for which there is an answer. Who gets the ping compares
// the token with the request's, in constant time, and answers 204.
func ReadNotification(r *http.Request) (token, authReqID string, err error) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if r.Method != http.MethodPost || !strings.EqualFold(scheme, "Bearer") || !visible(token) {
		return "", "", ErrNotification
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxNotification+1))
	if err != nil || len(body) > maxNotification {
		return "", "", ErrNotification
	}
	var ping struct {
		ID string `json:"auth_req_id"`
	}
	if json.Unmarshal(body, &ping) != nil || !visible(ping.ID) {
		return "", "", ErrNotification
	}
	return token, ping.ID, nil
}
