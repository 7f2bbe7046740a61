package jsonbody

import (
	"errors"
	"fmt"
)

var (
	// ErrTooLarge: the body without its content is longer than Options.Limit.
	ErrTooLarge = errors.New("jsonbody: body too large")
	// ErrBase64 ends the sink's reader when the content is not Base64.
	ErrBase64 = errors.New("jsonbody: content is not Base64")
)

// SyntaxError says that a body is not JSON, or not JSON as this package takes it.
// Both of its parts are fit for an answer to the client: they repeat no value of
// the body, and a member's name only when it is a short plain word.
type SyntaxError struct {
	Path    string // of a repeated member, such as "signer.phone"; else "$", the whole body
	Message string // an English sentence
}

func (e *SyntaxError) Error() string {
	return "jsonbody: " + e.Path + ": " + e.Message
}

const wholeBody = "$"

func bodyError(format string, args ...any) error {
	return &SyntaxError{Path: wholeBody, Message: fmt.Sprintf(format, args...)}
}
