package jsonbody

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

const documentLen = 22 << 20 // the largest document of a body of 30 MB

func document(n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{}).Read(b)
	return b
}

func startBody(document []byte, escapeSlash bool) []byte {
	chars := base64.StdEncoding.EncodeToString(document)
	if escapeSlash {
		chars = strings.ReplaceAll(chars, "/", `\/`)
	}
	return []byte(`{"file":{"type":"Pdf","name":"a.pdf","contentB64":"` + chars + `"},"signer":{"kennitala":"0101302399"}}`)
}

// BenchmarkRead reports the time to read a body as a multiple of the time to decode the same Base64 in memory,
// measured alternately.
func BenchmarkRead(b *testing.B) {
	whole := document(documentLen)
	for name, escapeSlash := range map[string]bool{"plain": false, "escaped slashes": true} {
		body := startBody(whole, escapeSlash)
		decode := decoder(b, whole)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			reportRatio(b, "decodes/op", func() { readStart(b, body) }, decode)
		})
	}
}

// reportRatio measures op and reports its time as a multiple of that of floor.
func reportRatio(b *testing.B, unit string, op, floor func()) {
	floor() // so that its memory is mapped
	var floorTime time.Duration
	for b.Loop() {
		op()
		b.StopTimer()
		start := time.Now()
		floor()
		floorTime += time.Since(start)
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed())/float64(floorTime), unit)
}

// BenchmarkEncodingJSON reads the same body with the standard library, into memory.
func BenchmarkEncodingJSON(b *testing.B) {
	body := startBody(document(documentLen), false)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		var start struct {
			File struct{ ContentB64 []byte }
		}
		if err := json.NewDecoder(bytes.NewReader(body)).Decode(&start); err != nil || len(start.File.ContentB64) != documentLen {
			b.Fatal(err)
		}
	}
}

func readStart(b *testing.B, body []byte) {
	var n int64
	o, err := Read(bytes.NewReader(body), Options{Content: "file.contentB64", Sink: func(r io.Reader) (err error) {
		n, err = io.Copy(io.Discard, r)
		return err
	}})
	if err != nil || !o.Content() || n != documentLen {
		b.Fatalf("read %d bytes: %v %v", n, err, o.Errors())
	}
}

func decoder(b *testing.B, document []byte) func() {
	chars := []byte(base64.StdEncoding.EncodeToString(document))
	decoded := make([]byte, base64.StdEncoding.DecodedLen(len(chars)))
	return func() {
		if _, err := base64.StdEncoding.Decode(decoded, chars); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSmallBody reads a body without content.
func BenchmarkSmallBody(b *testing.B) {
	const body = `{"fullName":"Dæmi um nafn","kennitala":"0101302399","phone":"5551234","delayInSecondsBeforeAction":0,"action":"Success"}`
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(strings.NewReader(body), Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWriteBase64 reports the time as a multiple of the time to encode in memory.
func BenchmarkWriteBase64(b *testing.B) {
	whole := document(documentLen)
	chars := make([]byte, Base64Len(documentLen))
	b.SetBytes(documentLen)
	b.ReportAllocs()
	reportRatio(b, "encodes/op", func() {
		if err := WriteBase64(io.Discard, `{"signedFileB64":"`, bytes.NewReader(whole), documentLen, `"}`); err != nil {
			b.Fatal(err)
		}
	}, func() { base64.StdEncoding.Encode(chars, whole) })
}
