package pdfium_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestHiddenText checks that Lines has the text that the picture shows, and no other.
func TestHiddenText(t *testing.T) {
	r := shared(t)
	const black = "0 g 0 0 200 100 re f "
	text := func(content string) string { return "BT /F 12 Tf " + content + " ET " }
	for name, test := range map[string]struct {
		content string
		want    []string
	}{
		"ordinary":                   {text("20 50 Td (Samningur) Tj"), []string{"Samningur"}},
		"render mode 3":              {text("3 Tr 20 50 Td (hidden) Tj"), nil},
		"render mode 7":              {text("7 Tr 20 50 Td (hidden) Tj"), nil},
		"render mode 3 over text":    {text("20 50 Td (Samningur) Tj") + text("3 Tr 20 50 Td (hidden) Tj"), []string{"Samningur"}},
		"outlined":                   {text("1 Tr 20 50 Td (Samningur) Tj"), []string{"Samningur"}},
		"white on white":             {text("1 g 20 50 Td (hidden) Tj"), nil},
		"almost white on white":      {text("0.98 g 20 50 Td (hidden) Tj"), nil},
		"white on black":             {black + text("1 g 20 50 Td (Samningur) Tj"), []string{"Samningur"}},
		"black on black":             {black + text("0 g 20 50 Td (hidden) Tj"), nil},
		"grey":                       {text("0.7 g 20 50 Td (Samningur) Tj"), []string{"Samningur"}},
		"small":                      {"BT /F 3 Tf 20 50 Td (Samningur) Tj ET", []string{"Samningur"}},
		"under a rectangle":          {text("20 50 Td (hidden) Tj") + "1 g 10 40 100 30 re f", nil},
		"under half a rectangle":     {text("20 50 Td (seen) Tj 60 0 Td (hidden) Tj") + "1 g 75 40 100 30 re f", []string{"seen"}},
		"under an image":             {text("20 50 Td (hidden) Tj") + "q 100 0 0 30 10 40 cm BI /W 1 /H 1 /CS /G /BPC 8 ID \x80 EI Q", nil},
		"over an image":              {"q 100 0 0 30 10 40 cm BI /W 1 /H 1 /CS /G /BPC 8 ID \xd0 EI Q " + text("20 50 Td (Samningur) Tj"), []string{"Samningur"}},
		"clipped":                    {"q 150 0 10 10 re W n " + text("20 50 Td (hidden) Tj") + "Q", nil},
		"outside":                    {text("20 500 Td (hidden) Tj"), nil},
		"white under other text":     {text("1 g 20 50 Td (hidden) Tj") + text("0 g 20 50 Td (Greiða 100) Tj"), []string{"Greiða 100"}},
		"white over other text":      {text("0 g 20 50 Td (Greiða 100) Tj") + text("1 g 3 Tr 20 50 Td (Greiða 900) Tj"), []string{"Greiða 100"}},
		"black under a covered text": {text("20 50 Td (hidden) Tj") + "1 g 10 40 150 30 re f " + text("0 g 20 50 Td (Greiða 100) Tj"), []string{"Greiða 100"}},
	} {
		content := ""
		for _, c := range test.content { // as WinAnsiEncoding has it
			content += string([]byte{byte(c)})
		}
		document := source{page: page200 + helvetica, content: content}.bytes()
		if diff := cmp.Diff(test.want, texts(linesOf(t, r, document)), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
