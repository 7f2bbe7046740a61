package pdflint

import (
	"bytes"
	"compress/zlib"
	"io"
	"maps"
	"strings"

	"github.com/innsigli/innsigli/internal/pdf"
)

// encryption returns the encryption dictionary of the original file, or nil.
func (l *linter) encryption() pdf.Dict {
	dict, err := l.old.Dict(l.old.Trailer()["Encrypt"])
	if err != nil {
		return nil
	}
	return dict
}

// cryptMethod returns the method of the crypt filter for strings or streams (Tables 20 and 25). It
// is "" if they are not encrypted.
func (l *linter) cryptMethod(use pdf.Name) pdf.Name {
	encryption := l.encryption()
	if v, _ := l.old.Int(encryption["V"]); encryption != nil && v < 4 {
		return "V2"
	}
	filters, _ := l.old.Dict(encryption["CF"])
	name, err := l.old.Name(encryption[use])
	if err != nil || name == "Identity" {
		return ""
	}
	filter, _ := l.old.Dict(filters[name])
	method, _ := l.old.Name(filter["CFM"])
	return method
}

// shortest is the length from which a string of printable characters counts as plain text. A
// ciphertext of this length is printable once in a hundred thousand times.
const shortest = 12

// checkPlaintext checks that the strings of the increment are encrypted if those of the file are.
// Contents of the signature never is (7.6.2).
func (l *linter) checkPlaintext() {
	if l.encryption() == nil || l.cryptMethod("StrF") == "" {
		return
	}
	signature, _, _ := l.signature()
	for _, o := range l.objects {
		text, _, _ := o.split()
		value, _ := pdf.Parse(bytes.TrimSpace(text))
		for _, s := range texts(value, o.ref == signature.ref) {
			if len(s) >= shortest && printable([]byte(s)) {
				l.fault(Plaintext, "%q in %s", s, o.ref)
			}
		}
	}
}

// checkPayloads checks the same for the payloads of streams.
func (l *linter) checkPayloads() {
	method := l.cryptMethod("StmF")
	if l.encryption() == nil || method == "" {
		return
	}
	for _, o := range l.objects {
		_, payload, stream := o.split()
		s, err := l.new.StreamObject(o.ref)
		switch {
		case !stream || err == nil && s.Dict["Type"] == pdf.Name("XRef"):
		case err != nil:
			l.fault(Payload, "%s: %v", o.ref, err)
		case strings.HasPrefix(string(method), "AES") && (len(payload) < 32 || len(payload)%16 != 0):
			l.fault(Payload, "%s has %d bytes: no vector and blocks of AES", o.ref, len(payload))
		default:
			l.checkDecrypted(s, payload)
		}
	}
}

// checkDecrypted reports a payload that is meaningful as it is, and not after decryption.
func (l *linter) checkDecrypted(s *pdf.Stream, payload []byte) {
	bare := *s
	bare.Dict = maps.Clone(s.Dict)
	delete(bare.Dict, "Filter")
	delete(bare.Dict, "DecodeParms")
	plain, err := l.new.Stream(&bare, s.Length)
	if err != nil || isOutputOf(payload, s.Dict["Filter"]) && !isOutputOf(plain, s.Dict["Filter"]) {
		l.fault(Payload, "%s: %.20q decrypted is %.20q, %v", s.Ref, payload, plain, err)
	}
}

// isOutputOf reports whether bytes can be the output of a filter or, without a filter, the text of a
// content stream.
func isOutputOf(b []byte, filter pdf.Object) bool {
	switch filter {
	case pdf.Name("FlateDecode"):
		r, err := zlib.NewReader(bytes.NewReader(b))
		if err != nil {
			return false
		}
		_, err = io.Copy(io.Discard, r)
		return err == nil
	case pdf.Name("DCTDecode"):
		return bytes.HasPrefix(b, []byte{0xff, 0xd8})
	}
	return printable(bytes.Join(bytes.Fields(b), nil))
}

func printable(b []byte) bool {
	return !bytes.ContainsFunc(b, func(r rune) bool { return r < ' ' || r > '~' })
}

// texts returns the strings in an object, without Contents of a signature.
func texts(o pdf.Object, signature bool) (found []pdf.String) {
	switch o := o.(type) {
	case pdf.String:
		return []pdf.String{o}
	case pdf.Array:
		for _, item := range o {
			found = append(found, texts(item, false)...)
		}
	case pdf.Dict:
		for key, value := range o {
			if !signature || key != "Contents" {
				found = append(found, texts(value, false)...)
			}
		}
	}
	return found
}
