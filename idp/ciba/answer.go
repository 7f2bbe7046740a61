package ciba

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

var errJSON = errors.New("not the JSON object that was to be expected") // the parser's error may repeat values

func (a answer) decode(into any) error {
	if json.Unmarshal(a.body, into) != nil {
		return a.fault(errJSON)
	}
	return nil
}

const maxErrorCode = 200 // bytes

// oauthError reads an answer that is not 200.
func (a answer) oauthError() error {
	var e struct {
		Code        string          `json:"error"`
		Description json.RawMessage `json:"error_description"`
	}
	if a.status < 400 || a.decode(&e) != nil || e.Code == "" || len(e.Code) > maxErrorCode {
		return a.fault(nil)
	}
	return &Error{Status: a.status, Code: e.Code, Description: cut(text(e.Description)), RetryAfter: a.retryAfter(time.Now())}
}

// text is a member that is to be a string. RFC 6749 5.2 has no place for anything else, but
// what some providers write there says no less: it stays JSON.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return strings.ToValidUTF8(string(raw), "")
	}
	return s
}

// cut keeps the first 4 KiB of a text.
func cut(s string) string {
	if len(s) > 4<<10 {
		s = strings.ToValidUTF8(s[:4<<10], "")
	}
	return s
}

// retryAfter reads Retry-After, in seconds or as a time (RFC 9110 10.2.3). What is not
// within a day does not count.
func (a answer) retryAfter(now time.Time) time.Duration {
	const day = 24 * time.Hour
	value := a.header.Get("Retry-After")
	wait := time.Duration(0)
	if seconds, err := strconv.ParseUint(value, 10, 32); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(value); err == nil {
		wait = at.Sub(now)
	}
	if wait < 0 || wait > day {
		return 0
	}
	return wait
}

// seconds reads a number of seconds that providers write in several ways: whole, with a
// fraction, as a string. ok is false for what is no number above 0.
func seconds(raw json.RawMessage) (d time.Duration, ok bool) {
	text := strings.Trim(string(raw), `"`)
	s, err := strconv.ParseFloat(text, 64)
	if err != nil || !(s > 0) { // also NaN
		return 0, false
	}
	const century = 100 * 365 * 24 * 3600
	return time.Duration(min(s, century) * float64(time.Second)), true
}
