package pdf

import (
	"bytes"
	"encoding/ascii85"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// decodeAs decodes a payload by the filters of a stream dictionary.
func decodeAs(t testing.TB, dict string, payload []byte, limit int64) ([]byte, error) {
	t.Helper()
	b := newBuilder()
	b.stream(1, dict, payload)
	f := mustOpen(t, b.table(2, ""))
	s, err := f.StreamObject(Ref{Num: 1})
	if err != nil {
		t.Fatal(err)
	}
	return f.Stream(s, limit)
}

// pngRows is two rows of three pixels of two bytes for each algorithm of PNG, as the
// formulas of ISO/IEC 15948 clause 9 filter them.
func pngRows(algorithm byte) (filtered, plain []byte) {
	plain = []byte{10, 20, 30, 45, 60, 80, 11, 19, 35, 42, 200, 250}
	const row, pixel = 6, 2
	at := func(y, x int) int {
		if y < 0 || x < 0 {
			return 0
		}
		return int(plain[y*row+x])
	}
	for y := range 2 {
		filtered = append(filtered, algorithm)
		for x := range row {
			left, up, corner := at(y, x-pixel), at(y-1, x), 0
			if x >= pixel {
				corner = at(y-1, x-pixel)
			}
			predicted := [...]int{0, left, up, (left + up) / 2, paethOf(left, up, corner)}[algorithm]
			filtered = append(filtered, byte(at(y, x)-predicted))
		}
	}
	return filtered, plain
}

// paethOf tries the neighbours in the order left, up, corner.
func paethOf(left, up, corner int) int {
	best, estimate := left, left+up-corner
	for _, c := range []int{up, corner} {
		if max(c-estimate, estimate-c) < max(best-estimate, estimate-best) {
			best = c
		}
	}
	return best
}

func TestFilters(t *testing.T) {
	text := []byte(strings.Repeat("a text, ", 100))
	encoded85 := make([]byte, ascii85.MaxEncodedLen(len(text)))
	encoded85 = encoded85[:ascii85.Encode(encoded85, text)]
	tests := map[string]struct {
		dict    string
		payload []byte
		want    []byte
	}{
		"none":                                {"", text, text},
		"7.4.2 hexadecimal":                   {"/Filter /ASCIIHexDecode", []byte("48 69\n2>ff"), []byte("Hi ")},
		"7.4.2 hexadecimal without end":       {"/Filter /ASCIIHexDecode", []byte("4869"), []byte("Hi")},
		"7.4.3 base 85":                       {"/Filter /ASCII85Decode", append(encoded85, "~>"...), text},
		"7.4.3 base 85 with z and space":      {"/Filter /ASCII85Decode", []byte("z 87cURD]i,\n\"Ebo80~>"), []byte("\x00\x00\x00\x00Hello World!")},
		"7.4.4.2 LZW, the standard's example": {"/Filter /LZWDecode", []byte("\x80\x0b\x60\x50\x22\x0c\x0c\x85\x01"), []byte("-----A---B")},
		"7.4.4.2 LZW, codes of all lengths":   {"/Filter /LZWDecode", lzwEncode(noise(20_000), true), noise(20_000)},
		"7.4.4.3 LZW without EarlyChange":     {"/Filter /LZWDecode /DecodeParms << /EarlyChange 0 >>", lzwEncode(noise(20_000), false), noise(20_000)},
		"7.4.4 deflate":                       {"/Filter /FlateDecode", deflate(text), text},
		"7.4.4.4 TIFF predictor":              {"/Filter /FlateDecode /DecodeParms << /Predictor 2 /Colors 2 /Columns 2 >>", deflate([]byte{1, 2, 1, 1, 9, 9, 255, 0}), []byte{1, 2, 2, 3, 9, 9, 8, 9}},
		"7.4.4.4 last row cut off":            {"/Filter /FlateDecode /DecodeParms << /Predictor 12 /Columns 3 >>", deflate([]byte{2, 1, 2, 3, 2, 1}), []byte{1, 2, 3, 2}},
		"7.4.5 run length":                    {"/Filter /RunLengthDecode", []byte{2, 'a', 'b', 'c', 254, 'd', 128, 9, 9}, []byte("abcddd")},
		"7.4.5 run length without end":        {"/Filter /RunLengthDecode", []byte{255, 'd'}, []byte("dd")},
		"7.3.8.2 several":                     {"/Filter [/ASCIIHexDecode /FlateDecode] /DecodeParms [null << /Predictor 1 >>]", fmt.Appendf(nil, "%x", deflate(text)), text},
	}
	for algorithm := range byte(5) {
		filtered, plain := pngRows(algorithm)
		test := tests["none"]
		test.dict = "/Filter /FlateDecode /DecodeParms << /Predictor 15 /Colors 2 /Columns 3 >>"
		test.payload, test.want = deflate(filtered), plain
		tests[fmt.Sprintf("7.4.4.4 PNG algorithm %d", algorithm)] = test
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := decodeAs(t, test.dict, test.payload, int64(len(test.want)))
			if err != nil || !bytes.Equal(got, test.want) {
				t.Errorf("%.100q, error %v; want %.100q", got, err, test.want)
			}
			if _, err := decodeAs(t, test.dict, test.payload, int64(len(test.want))-1); !errors.Is(err, ErrLimit) {
				t.Errorf("with a limit of 1 less: error %v, want ErrLimit", err)
			}
		})
	}
}

func TestFiltersRefuse(t *testing.T) {
	blank := deflate(bytes.Repeat([]byte{' '}, 64<<20))
	tests := map[string]struct {
		dict    string
		payload []byte
		want    error
	}{
		"image filter":              {"/Filter /DCTDecode", nil, ErrUnsupported},
		"encryption":                {"/Filter [/Crypt]", nil, ErrUnsupported},
		"payload in another file":   {"/F (x)", nil, ErrUnsupported},
		"predictor":                 {"/Filter /FlateDecode /DecodeParms << /Predictor 3 >>", deflate(nil), ErrUnsupported},
		"TIFF predictor of bits":    {"/Filter /FlateDecode /DecodeParms << /Predictor 2 /BitsPerComponent 4 >>", deflate(nil), ErrUnsupported},
		"predictor without columns": {"/Filter /FlateDecode /DecodeParms << /Predictor 12 /Columns 0 >>", deflate(nil), ErrDamaged},
		"predictor with long rows":  {"/Filter /FlateDecode /DecodeParms << /Predictor 12 /Colors 64 /Columns 1000000 >>", deflate(nil), ErrDamaged},
		"PNG algorithm":             {"/Filter /FlateDecode /DecodeParms << /Predictor 12 >>", deflate([]byte{5, 0}), ErrDamaged},
		"filter that is no name":    {"/Filter [1]", nil, ErrDamaged},
		"parameters that are none":  {"/Filter /FlateDecode /DecodeParms 1", nil, ErrDamaged},
		"deflate":                   {"/Filter /FlateDecode", []byte("no deflate"), ErrDamaged},
		"base 85":                   {"/Filter /ASCII85Decode", []byte("\x7f~>"), ErrDamaged},
		"hexadecimal":               {"/Filter /ASCIIHexDecode", []byte("4x>"), ErrDamaged},
		"run cut off":               {"/Filter /RunLengthDecode", []byte{2, 'a'}, ErrDamaged},
		"repeated run cut off":      {"/Filter /RunLengthDecode", []byte{254}, ErrDamaged},
		"LZW code without an entry": {"/Filter /LZWDecode", []byte{0x80, 0x7f, 0xff}, ErrDamaged},
		"LZW entry before any code": {"/Filter /LZWDecode", []byte{0x80, 0x40, 0x80}, ErrDamaged},
		"many filters":              {"/Filter [" + strings.Repeat("/FlateDecode ", maxFilters+1) + "]", nil, ErrLimit},
		"much work for nothing":     {"/Filter [/FlateDecode /ASCIIHexDecode]", blank, ErrLimit},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got, err := decodeAs(t, test.dict, test.payload, 1000); !errors.Is(err, test.want) {
				t.Errorf("%.20q, error %v; want %v", got, err, test.want)
			}
		})
	}
}

// noise is bytes that repeat enough to make long entries and little enough to make many.
func noise(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.IntN(24))
	}
	return b
}

// lzwEncode encodes by the rules of 7.4.4.2, with a table of strings.
func lzwEncode(content []byte, early bool) []byte {
	var out bitWriter
	var table map[string]int
	reset := func() {
		out.write(256)
		table, out.width = map[string]int{}, 9
		for i := range 256 {
			table[string([]byte{byte(i)})] = i
		}
	}
	out.width = 9
	reset()
	next := 258
	var word string
	for _, c := range content {
		longer := word + string([]byte{c})
		if _, ok := table[longer]; ok {
			word = longer
			continue
		}
		out.write(table[word])
		table[longer] = next
		next++
		limit := 1 << out.width
		if early {
			limit--
		}
		if next > limit && out.width < 12 {
			out.width++
		}
		if next == 4095 {
			reset()
			next = 258
		}
		word = string([]byte{c})
	}
	out.write(table[word])
	if early && next+1 == 1<<out.width-1 || !early && next == 1<<out.width {
		out.width = min(out.width+1, 12)
	}
	out.write(257)
	out.width = 7
	out.write(0)
	return out.Bytes()
}

type bitWriter struct {
	bytes.Buffer
	width, have uint
	acc         int
}

func (w *bitWriter) write(code int) {
	w.acc = w.acc<<w.width | code
	for w.have += w.width; w.have >= 8; w.have -= 8 {
		w.WriteByte(byte(w.acc >> (w.have - 8)))
	}
}

func FuzzFilters(f *testing.F) {
	for _, seed := range []string{"\x80\x0b\x60\x50\x22\x0c\x0c\x85\x01", "87cURD]i~>", "48 69>", "\x02abc\xfed\x80", string(deflate([]byte("\x02abc")))} {
		for filter := range byte(5) {
			f.Add([]byte(seed), filter)
		}
	}
	names := []string{"LZWDecode", "ASCII85Decode", "ASCIIHexDecode", "RunLengthDecode", "FlateDecode"}
	f.Fuzz(func(t *testing.T, payload []byte, filter byte) {
		dict := fmt.Sprintf("/Filter /%s /DecodeParms << /Predictor %d >>", names[int(filter)%len(names)], filter%16)
		decoded, err := decodeAs(t, dict, payload, 1<<16)
		if len(decoded) > 1<<16 {
			t.Fatalf("%d bytes", len(decoded))
		}
		if err != nil && sentinelOf(err) == nil {
			t.Fatalf("error of no kind: %v", err)
		}
	})
}

// Filters go by their abbreviations too, in any stream (Table 92).
func TestAbbreviatedFilters(t *testing.T) {
	for dict, payload := range map[string]string{
		"/Filter /AHx":        "6f6b>",
		"/Filter /A85":        "Def~>",
		"/Filter /RL":         "\x01ok\x80",
		"/Filter [ /AHx /Fl]": fmt.Sprintf("%x>", deflate([]byte("ok"))),
	} {
		if got, err := decodeAs(t, dict, []byte(payload), 10); err != nil || string(got) != "ok" {
			t.Errorf("%s: %q, %v", dict, got, err)
		}
	}
	b := newBuilder()
	b.object(1, "<< /Type /Catalog /Pages 2 0 R >>")
	b.object(2, "<< /Type /Pages /Kids [] /Count 0 >>")
	content := bytes.Replace(b.xrefStream(3, 4, nil, "/Root 1 0 R"), []byte("/Filter /FlateDecode"), []byte("/Filter /Fl"), 1)
	mustOpen(t, content)
}
