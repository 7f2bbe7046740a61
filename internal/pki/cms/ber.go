package cms

import (
	"errors"
	"math/bits"
)

// errBER is the error of every malformed encoding.
var errBER = errors.New("cms: malformed BER")

// maxDepth bounds the nesting of an encoding. A SignedData with certificates and a timestamp needs
// about a dozen levels.
const maxDepth = 64

const octetString = 0x04

// An element is one BER element (X.690 8.1).
type element struct {
	identifier []byte // identifier octets
	contents   []byte // without the end-of-contents octets
	indefinite bool   // in the indefinite form of length
	size       int    // octets of the whole element
}

// DER rewrites the first element of ber in DER form: it makes lengths definite and minimal and
// joins the segments of constructed octet strings. rest is what follows the element, such as the
// zero padding of Contents.
func DER(ber []byte) (der, rest []byte, err error) {
	e, err := readElement(ber, maxDepth)
	if err != nil {
		return nil, nil, err
	}
	if e.isDER(maxDepth) {
		return ber[:e.size:e.size], ber[e.size:], nil
	}
	der, err = e.appendDER(nil, maxDepth)
	return der, ber[e.size:], err
}

// isDER reports whether appendDER would return the element unchanged.
func (e element) isDER(depth int) bool {
	if depth == 0 || e.indefinite || e.size != len(e.identifier)+lengthSize(len(e.contents))+len(e.contents) {
		return false
	}
	if !e.constructed() {
		return true
	}
	if e.identifier[0] == octetString|0x20 {
		return false
	}
	for rest := e.contents; len(rest) > 0; {
		child, err := readElement(rest, depth)
		if err != nil || !child.isDER(depth-1) {
			return false
		}
		rest = rest[child.size:]
	}
	return true
}

// appendDER appends the element in DER. It looks into constructed elements only: a certificate is
// DER already and stays unchanged.
func (e element) appendDER(out []byte, depth int) ([]byte, error) {
	if depth == 0 {
		return nil, errBER
	}
	if !e.constructed() {
		return appendTLV(out, e.identifier, e.contents), nil
	}
	segmented := e.identifier[0] == octetString|0x20
	var contents []byte
	for rest := e.contents; len(rest) > 0; {
		child, err := readElement(rest, depth)
		if err != nil {
			return nil, err
		}
		rest = rest[child.size:]
		inner, err := child.appendDER(nil, depth-1)
		if err != nil {
			return nil, err
		}
		if segmented {
			part, err := readElement(inner, 2)
			if err != nil || part.identifier[0] != octetString {
				return nil, errBER // X.690 8.7.3
			}
			inner = part.contents
		}
		contents = append(contents, inner...)
	}
	identifier := e.identifier
	if segmented {
		identifier = []byte{octetString}
	}
	return appendTLV(out, identifier, contents), nil
}

func appendTLV(out, identifier, contents []byte) []byte {
	out = append(out, identifier...)
	n := len(contents)
	if n < 0x80 {
		out = append(out, byte(n))
	} else {
		octets := lengthSize(n) - 1
		out = append(out, 0x80|byte(octets))
		for i := octets - 1; i >= 0; i-- {
			out = append(out, byte(n>>(8*i)))
		}
	}
	return append(out, contents...)
}

func readElement(b []byte, depth int) (element, error) {
	if depth == 0 {
		return element{}, errBER
	}
	n, err := identifierLength(b)
	if err != nil {
		return element{}, err
	}
	e := element{identifier: b[:n]}
	length, indefinite, m, err := readLength(b[n:])
	if err != nil {
		return element{}, err
	}
	start := n + m
	if !indefinite {
		if length > len(b)-start {
			return element{}, errBER
		}
		e.contents, e.size = b[start:start+length], start+length
		return e, nil
	}
	if !e.constructed() {
		return element{}, errBER // X.690 8.1.3.2
	}
	return readIndefinite(e, b, start, depth)
}

// readIndefinite finds the end-of-contents octets of an element that begins with the octets
// b[:start].
func readIndefinite(e element, b []byte, start, depth int) (element, error) {
	at := start
	for {
		if len(b)-at < 2 {
			return element{}, errBER
		}
		if b[at] == 0 && b[at+1] == 0 {
			e.contents, e.size, e.indefinite = b[start:at], at+2, true
			return e, nil
		}
		child, err := readElement(b[at:], depth-1)
		if err != nil {
			return element{}, err
		}
		at += child.size
	}
}

func identifierLength(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, errBER
	}
	if b[0]&0x1f != 0x1f {
		return 1, nil
	}
	for n := 1; n < len(b) && n <= 5; n++ { // high tag numbers, X.690 8.1.2.4
		if b[n]&0x80 == 0 {
			return n + 1, nil
		}
	}
	return 0, errBER
}

func readLength(b []byte) (length int, indefinite bool, n int, err error) {
	switch {
	case len(b) == 0:
		return 0, false, 0, errBER
	case b[0] < 0x80:
		return int(b[0]), false, 1, nil
	case b[0] == 0x80:
		return 0, true, 1, nil
	}
	n = int(b[0] & 0x7f)
	if n >= len(b) {
		return 0, false, 0, errBER
	}
	for _, octet := range b[1 : 1+n] {
		if length > 1<<27 { // no signature is that long
			return 0, false, 0, errBER
		}
		length = length<<8 | int(octet)
	}
	return length, false, 1 + n, nil
}

// lengthSize returns how many octets the shortest encoding of a length takes.
func lengthSize(n int) int {
	if n < 0x80 {
		return 1
	}
	return 1 + (bits.Len(uint(n))+7)/8
}

func (e element) constructed() bool { return e.identifier[0]&0x20 != 0 }
