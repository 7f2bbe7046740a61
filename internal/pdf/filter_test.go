package pdf

import (
	"bytes"
	"compress/lzw"
	"encoding/ascii85"
	"encoding/hex"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"
)

// decodeStream returns the decoded payload of a stream with the entries dict.
func decodeStream(t testing.TB, dict, payload string, limit int) (string, error) {
	t.Helper()
	f := mustOpen(t, newBuilder(streamBody(dict, payload)).table(""))
	s := must(f.StreamObject(Ref{Num: 1}))
	decoded, err := f.Stream(s, int64(limit))
	return string(decoded), err
}

// TestFilters checks each filter, and that a payload of more bytes than the caller allows is refused.
func TestFilters(t *testing.T) {
	text, noise := strings.Repeat("a text, ", 100), string(randomBytes(20_000))
	encoded85 := make([]byte, ascii85.MaxEncodedLen(len(text)))
	encoded85 = encoded85[:ascii85.Encode(encoded85, []byte(text))]
	const flate, png = "/Filter /FlateDecode /DecodeParms", " << /Predictor 15 /Colors 2 /Columns 3 >>"
	const pixels = "0ac85a2d3c197813783746fa" // two rows of three pixels of two bytes
	for name, test := range map[string]struct{ dict, payload, want string }{
		"no filter":                           {"", text, text},
		"7.4.2 ASCIIHexDecode":                {"/Filter /ASCIIHexDecode", "48 69\n2>ff", "Hi "},
		"7.4.2 ASCIIHexDecode without end":    {"/Filter /ASCIIHexDecode", "4869", "Hi"},
		"7.4.3 ASCII85Decode":                 {"/Filter /ASCII85Decode", string(encoded85) + "~>", text},
		"7.4.3 ASCII85Decode, z and space":    {"/Filter /ASCII85Decode", "z 87cURD]i,\n\"Ebo80~>", "\x00\x00\x00\x00Hello World!"},
		"7.4.4.2 LZWDecode, example":          {"/Filter /LZWDecode", "\x80\x0b\x60\x50\x22\x0c\x0c\x85\x01", "-----A---B"},
		"7.4.4.2 LZWDecode, codes of 12 bits": {"/Filter /LZWDecode", lzwLiterals(noise), noise},
		"7.4.4.3 LZWDecode, EarlyChange 0":    {"/Filter /LZWDecode /DecodeParms << /EarlyChange 0 >>", lzwEncode(noise), noise},
		"7.4.4 FlateDecode":                   {"/Filter /FlateDecode", deflate(text), text},
		"7.4.4.4 TIFF predictor":              {flate + " << /Predictor 2 /Colors 2 /Columns 2 >>", deflate("\x01\x02\x01\x01\x09\x09\xff\x00"), "\x01\x02\x02\x03\x09\x09\x08\x09"},
		"7.4.4.4 last row cut off":            {flate + " << /Predictor 12 /Columns 3 >>", deflate("\x02\x01\x02\x03\x02\x01"), "\x01\x02\x03\x02"},
		"7.4.4.4 PNG None":                    {flate + png, deflate(fromHex("000ac85a2d3c19007813783746fa")), fromHex(pixels)},
		"7.4.4.4 PNG Sub":                     {flate + png, deflate(fromHex("010ac85065e2ec0178130024cec3")), fromHex(pixels)},
		"7.4.4.4 PNG Up":                      {flate + png, deflate(fromHex("020ac85a2d3c19026e4b1e0a0ae1")), fromHex(pixels)},
		"7.4.4.4 PNG Average":                 {flate + png, deflate(fromHex("030ac855c90f030373af0f17ecd2")), fromHex(pixels)},
		"7.4.4.4 PNG Paeth":                   {flate + png, deflate(fromHex("040ac85065e2ec046e4b0024ece1")), fromHex(pixels)},
		"7.4.5 RunLengthDecode":               {"/Filter /RunLengthDecode", "\x02abc\xfed\x80\x09\x09", "abcddd"},
		"7.4.5 RunLengthDecode without end":   {"/Filter /RunLengthDecode", "\xffd", "dd"},
		"7.3.8.2 several filters":             {"/Filter [/ASCIIHexDecode /FlateDecode] /DecodeParms [null << /Predictor 1 >>]", fmt.Sprintf("%x", deflate(text)), text},
		"Table 92 AHx":                        {"/Filter /AHx", "6f6b>", "ok"},
		"Table 92 A85":                        {"/Filter /A85", "Def~>", "ok"},
		"Table 92 RL":                         {"/Filter /RL", "\x01ok\x80", "ok"},
		"Table 92 Fl":                         {"/Filter [ /AHx /Fl]", fmt.Sprintf("%x>", deflate("ok")), "ok"},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, name, test.want)(decodeStream(t, test.dict, test.payload, len(test.want)))
			expect(t, name, ErrLimit)(decodeStream(t, test.dict, test.payload, len(test.want)-1))
		})
	}
	xref := bytes.Replace(newBuilder(catalogText, pagesText, pageText).xrefStream(""), []byte("/FlateDecode"), []byte("/Fl         "), 1)
	if _, err := open(xref); err != nil {
		t.Errorf("cross-reference stream with Fl: %v", err)
	}
}

// TestFiltersRefuse checks which payloads, filters and parameters cannot be decoded.
func TestFiltersRefuse(t *testing.T) {
	const flate = "/Filter /FlateDecode /DecodeParms "
	for name, test := range map[string]struct {
		dict, payload string
		want          error
	}{
		"image filter":                    {"/Filter /DCTDecode", "", ErrUnsupported},
		"payload in another file":         {"/F (x)", "", ErrUnsupported},
		"unknown predictor":               {flate + "<< /Predictor 3 >>", deflate(""), ErrUnsupported},
		"TIFF predictor of 4 bits":        {flate + "<< /Predictor 2 /BitsPerComponent 4 >>", deflate(""), ErrUnsupported},
		"predictor without columns":       {flate + "<< /Predictor 12 /Columns 0 >>", deflate(""), ErrDamaged},
		"predictor with long rows":        {flate + "<< /Predictor 12 /Colors 64 /Columns 1000000 >>", deflate(""), ErrDamaged},
		"unknown PNG filter type":         {flate + "<< /Predictor 12 >>", deflate("\x05\x00"), ErrDamaged},
		"filter that is a number":         {"/Filter [1]", "", ErrDamaged},
		"parameters that are a number":    {flate + "1", "", ErrDamaged},
		"FlateDecode of other bytes":      {"/Filter /FlateDecode", "no deflate", ErrDamaged},
		"ASCII85Decode of other bytes":    {"/Filter /ASCII85Decode", "\x7f~>", ErrDamaged},
		"ASCIIHexDecode of other bytes":   {"/Filter /ASCIIHexDecode", "4x>", ErrDamaged},
		"run cut off":                     {"/Filter /RunLengthDecode", "\x02a", ErrDamaged},
		"repeated run cut off":            {"/Filter /RunLengthDecode", "\xfe", ErrDamaged},
		"LZW code without an entry":       {"/Filter /LZWDecode", "\x80\x7f\xff", ErrDamaged},
		"LZW entry before the first code": {"/Filter /LZWDecode", "\x80\x40\x80", ErrDamaged},
		"too many filters":                {"/Filter [" + strings.Repeat("/FlateDecode ", maxFilters+1) + "]", "", ErrLimit},
		"long output of the first filter": {"/Filter [/FlateDecode /ASCIIHexDecode]", deflate(strings.Repeat(" ", 64<<20)), ErrLimit},
	} {
		expect(t, name, test.want)(decodeStream(t, test.dict, test.payload, 1000))
	}
}

// FuzzFilters checks that decoding ends within the limit for any payload.
func FuzzFilters(f *testing.F) {
	names := []string{"LZWDecode", "ASCII85Decode", "ASCIIHexDecode", "RunLengthDecode", "FlateDecode"}
	for _, seed := range []string{"\x80\x0b\x60\x50\x22\x0c\x0c\x85\x01", "87cURD]i~>", "48 69>", "\x02abc\xfed\x80", deflate("\x02abc")} {
		for filter := range names {
			f.Add([]byte(seed), byte(filter))
		}
	}
	f.Fuzz(func(t *testing.T, payload []byte, filter byte) {
		dict := fmt.Sprintf("/Filter /%s /DecodeParms << /Predictor %d >>", names[int(filter)%len(names)], filter%16)
		decoded, err := decodeStream(t, dict, string(payload), 1<<16)
		if checkError(t, err); len(decoded) > 1<<16 {
			t.Errorf("%d decoded bytes, more than the limit", len(decoded))
		}
	})
}

func fromHex(s string) string {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// randomBytes returns n of 24 different bytes: LZW needs many entries for them, and entries of several bytes.
func randomBytes(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.IntN(24))
	}
	return b
}

// lzwEncode encodes with EarlyChange 0, the variant of compress/lzw.
func lzwEncode(content string) string {
	var b strings.Builder
	w := lzw.NewWriter(&b, lzw.MSB, 8)
	_, _ = w.Write([]byte(content)) // a strings.Builder returns no errors
	_ = w.Close()
	return b.String()
}

// lzwLiterals encodes with EarlyChange 1 and only with codes of single bytes. Each code but the first creates an
// entry, so that codes become longer all the same.
func lzwLiterals(content string) string {
	var b strings.Builder
	next, have, accumulator := lzwEnd+1, 0, 0
	write := func(code int) {
		width := bits.Len(uint(next + 1)) // EarlyChange: one entry before the codes are used up
		accumulator = accumulator<<width | code
		for have += width; have >= 8; have -= 8 {
			b.WriteByte(byte(accumulator >> (have - 8)))
		}
		accumulator &= 1<<have - 1
	}
	write(lzwClear)
	for i := range len(content) {
		write(int(content[i]))
		if i > 0 {
			next++
		}
		if next == 1<<lzwMaxBits-2 {
			write(lzwClear)
			next = lzwEnd
		}
	}
	write(lzwEnd)
	b.WriteByte(byte(accumulator << (8 - have)))
	return b.String()
}
