// Package jsonbody reads the JSON bodies of requests and writes the Base64 of
// answers, for bodies in which one member is a document of many megabytes and
// the rest is small.
//
// # Reading
//
// [Read] goes over the body once. The member that [Options].Content names is
// never held: its Base64 is decoded in blocks and handed to [Options].Sink as a
// stream, in the goroutine of the caller and while the body still arrives. All
// else becomes an [Object], whose methods fetch members by path and collect the
// faults of all fields, so that a handler reads like the table it implements:
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
// The reader is strict (RFC 8259, RFC 7493, spec 1.1 and 1.2): a body is
// exactly one JSON object in UTF-8 without a byte order mark, no object has two
// members of one name, names are compared byte for byte, escaped surrogates come
// in pairs, and nesting and the number of values are bounded. Null means absent.
// Members that nobody asks for are ignored. Numbers stay text until asked for.
//
// The content is Base64 of RFC 4648 section 4 with padding. Line breaks, the URL
// alphabet and the empty string are refused; the unused bits of the last
// character may have any value. JSON escapes in it (some writers send \/) are
// decoded. Content that is no Base64 is a fault of that field like any other:
// the sink's reader fails with [ErrBase64], and the rest of the body is read.
//
// # Writing
//
// [WriteBase64] streams a document out as Base64 between two pieces of text, and
// [Base64Len] tells its length before.
//
// Memory: two buffers of 64 KiB and one of 48 KiB for a body with content, 4 KiB
// for one without, and what the small members take, for which [Options].Hold is asked. No goroutines are started.
package jsonbody

import (
	"bufio"
	"cmp"
	"io"
	"strings"
)

// Options says what a body may look like. The zero value reads a body without
// content under the default bounds.
type Options struct {
	// Content is the path of the member that holds the document, such as
	// "file.contentB64"; empty when there is none.
	Content string
	// Sink receives the decoded document. It is called at most once, and only
	// when the content is a string. Its reader ends with io.EOF when the content
	// was whole, with ErrBase64 when it was no Base64, and with another error when
	// the body broke off; after any but io.EOF what was stored is to be dropped, as
	// it is when Read fails on what follows the content. An error of Sink's own ends
	// the reading and is returned by Read as it is. The reader must not be used
	// after Sink has returned. What Sink leaves unread is still checked. A nil Sink
	// checks the content and drops it.
	Sink func(content io.Reader) error
	// Limit bounds the bytes of the body without the content; 0 means 8 MiB.
	Limit int64
	// Hold is called once, before more of the body than 64 KiB is held besides the content, and may wait
	// until there is memory for the rest, up to Limit. Its error ends the reading, and is wrapped. nil: there is.
	Hold func() error
	// MaxDepth bounds how deep objects and arrays nest; 0 means 32.
	MaxDepth int
	// MaxValues bounds the number of values in the body; 0 means 10,000. It keeps
	// a body of many tiny values from taking many times its length in memory.
	MaxValues int
	// Optional lets a body that is empty, or white space alone, pass for {}.
	Optional bool
}

const (
	defaultLimit     = 8 << 20
	defaultMaxDepth  = 32
	defaultMaxValues = 10_000

	smallBuffer = 4 << 10
	blockBuffer = 64 << 10
	freelyHeld  = 64 << 10
)

// Read reads the whole of r as one JSON object. Its errors are:
//   - a [*SyntaxError] when the body is not the JSON described above;
//   - [ErrTooLarge] when the body without its content is longer than the limit;
//   - the error of the sink, as it is;
//   - the error of r, wrapped.
//
// Faults of the content are none of these: they are among the [Object.Errors].
func Read(r io.Reader, o Options) (*Object, error) {
	p := newParser(r, o)
	ended, err := p.atEnd()
	if err != nil {
		return nil, err
	}
	if ended {
		return p.nothing(o.Optional)
	}
	v, err := p.document()
	if err != nil {
		return nil, err
	}
	return p.root(v), nil
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
	p.lexer = lexer{in: bufio.NewReaderSize(r, size), left: cmp.Or(o.Limit, defaultLimit), hold: o.Hold}
	return p
}

func (p *parser) nothing(optional bool) (*Object, error) {
	if !optional {
		return nil, bodyError("The body must be one JSON object.")
	}
	return p.root(&value{kind: object}), nil
}

func (p *parser) root(v *value) *Object {
	return &Object{value: v, content: strings.Join(p.content, "."), faults: p.faults}
}
