// Package jsonbody reads the JSON bodies of requests and writes the Base64 of responses, for bodies in which one
// member is a document of many megabytes and the rest is small.
//
// # Reading
//
// [Read] reads the body once. It does not hold the member that [Options].Content names in memory: it decodes its
// Base64 in blocks and passes the document to [Options].Sink as a stream, in the goroutine of the caller, while the
// body is received. The other members become an [Object], whose methods return members by path and collect the
// faults of all fields, so that a handler reads like the table that specifies its body:
//
//	body, err := jsonbody.Read(r.Body, jsonbody.Options{Content: "file.contentB64", Sink: store})
//	if err != nil {
//		return err // a *SyntaxError, ErrTooLarge, an error of the sink or of r.Body
//	}
//	body.Content(jsonbody.Required)
//	name := body.String("file.name", jsonbody.Required, jsonbody.MaxLen(256))
//	method := body.String("signer.signingMethod", jsonbody.Required, jsonbody.OneOf("IdpApp", "IdpSim"))
//	phone := body.String("signer.phone", jsonbody.RequiredIf(method == "IdpSim"), jsonbody.MaxLen(16))
//	if faults := body.Errors(); faults != nil {
//		return invalid(faults)
//	}
//
// The reader is strict (RFC 8259, RFC 7493, spec 1.1 and 1.2): a body is exactly one JSON object in UTF-8 without a
// byte order mark, no object has two members with the same name, names are compared byte by byte, escaped
// surrogates must be pairs, and the nesting and the number of values are bounded. Null means absent. Members that
// the caller does not read are ignored. Numbers are converted when the caller reads them.
//
// The content is Base64 (RFC 4648 section 4) with padding. Line breaks, the URL alphabet and the empty string are
// refused; the unused bits of the last character may have any value. JSON escapes in it (some writers send \/) are
// decoded. Invalid Base64 is a fault of the field like any other: the sink's reader returns [ErrBase64], and the
// rest of the body is read.
//
// # Writing
//
// [WriteBase64] writes a document as Base64 between two strings, as a stream. [Base64Len] returns the length in
// advance.
//
// # Memory
//
// A body with content needs two buffers of 64 KiB and one of 48 KiB, a body without content one of 4 KiB. The other
// members need memory as well; [Options].Reserve is called for it. The package starts no goroutines.
package jsonbody

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Options specify the permitted bodies. The zero value reads a body without content, with the default limits.
type Options struct {
	// Content is the path of the member with the document, such as "file.contentB64"; empty if there is none.
	Content string
	// Sink reads the decoded document. It is called at most once, and only if the content is a string. Its reader
	// returns io.EOF at the end of complete content, ErrBase64 for invalid Base64, and another error if the body
	// ends early. After an error other than io.EOF, or if Read fails later, the caller must discard what Sink
	// stored. If Sink returns an error, Read stops and returns it unchanged. Sink must not use the reader after it
	// has returned. Content that Sink does not read is checked too. With a nil Sink, the content is checked and
	// discarded.
	Sink func(content io.Reader) error
	// Limit is the largest number of bytes of the body without the content; 0 means 8 MiB.
	Limit int64
	// Reserve, unless nil, is called once, before Read holds more than 64 KiB of the body in memory. It may wait
	// until memory for the rest, up to Limit, is available. If it returns an error, Read returns an error that
	// wraps it.
	Reserve func() error
	// MaxDepth is the largest nesting depth of objects and arrays; 0 means 32.
	MaxDepth int
	// MaxValues is the largest number of values in the body; 0 means 10,000. Without it, a body of many small
	// values would need many times its length in memory.
	MaxValues int
	// Optional accepts a body that is empty, or white space only, as {}.
	Optional bool
}

const (
	defaultLimit     = 8 << 20
	defaultMaxDepth  = 32
	defaultMaxValues = 10_000

	smallBuffer = 4 << 10
	blockBuffer = 64 << 10
	// unreserved is how much of a body Read holds without calling Options.Reserve.
	unreserved = 64 << 10
)

// Read reads all of r as one JSON object. Its errors are:
//   - a [*SyntaxError] if the body is not JSON as described above;
//   - [ErrTooLarge] if the body without its content is longer than the limit;
//   - the error of the sink, unchanged;
//   - the error of r, wrapped.
//
// Faults of the content are not errors of Read, but are in [Object.Errors].
func Read(r io.Reader, o Options) (*Object, error) {
	p := newParser(r, o)
	ended, err := p.atEnd()
	if err != nil {
		return nil, err
	}
	if ended {
		return p.emptyBody(o.Optional)
	}
	v, err := p.body()
	if err != nil {
		return nil, err
	}
	return p.newRoot(v), nil
}

func newParser(r io.Reader, o Options) *parser {
	p := &parser{
		faults:    faults{},
		sink:      o.Sink,
		maxDepth:  cmp.Or(o.MaxDepth, defaultMaxDepth),
		maxValues: cmp.Or(o.MaxValues, defaultMaxValues),
	}
	size := smallBuffer
	if o.Content != "" {
		p.content = strings.Split(o.Content, ".")
		size = blockBuffer
	}
	p.lexer = lexer{in: bufio.NewReaderSize(r, size), remaining: cmp.Or(o.Limit, defaultLimit), reserve: o.Reserve}
	return p
}

func (p *parser) emptyBody(optional bool) (*Object, error) {
	if !optional {
		return nil, bodyError("The body must be one JSON object.")
	}
	return p.newRoot(&value{kind: object}), nil
}

func (p *parser) newRoot(v *value) *Object {
	return &Object{value: v, content: strings.Join(p.content, "."), faults: p.faults}
}

var (
	// ErrTooLarge: the body without its content is longer than Options.Limit.
	ErrTooLarge = errors.New("jsonbody: body too large")
	// ErrBase64 is returned by the sink's reader if the content is not Base64.
	ErrBase64 = errors.New("jsonbody: content is not Base64")
)

// SyntaxError is the error of a body that is not JSON, or not JSON that this package accepts. Both fields may be
// sent to the client: they contain no value of the body, and a member's name only if it is a short word.
type SyntaxError struct {
	Path    string // of a repeated member, such as "signer.phone"; otherwise "$", the body
	Message string // an English sentence
}

func (e *SyntaxError) Error() string {
	return "jsonbody: " + e.Path + ": " + e.Message
}

const wholeBody = "$"

func bodyError(format string, args ...any) error {
	return &SyntaxError{Path: wholeBody, Message: fmt.Sprintf(format, args...)}
}
