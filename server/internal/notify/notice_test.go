package notify

import (
	"strings"
	"testing"
)

// Mail looks as the operator does, and as Innsigli where nothing is set.
func TestNoticeLooks(t *testing.T) {
	n := notice{Subject: "s", Languages: []translation{
		{Lang: "is", Title: "Titill", Text: "Texti", Link: "https://sign.example/sign/a", LinkText: "Opna"},
		{Lang: "en", Title: "Title", Text: "Text", Link: "https://sign.example/sign/a", LinkText: "Open"},
	}}
	plain, err := n.message("a")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Innsigli</div>", "border-top:4px solid #1d4f91", "background:#1d4f91", ">https://sign.example/sign/a</p>"} {
		if !strings.Contains(plain.HTML, want) {
			t.Errorf("no %q in\n%s", want, plain.HTML)
		}
	}
	if strings.Contains(plain.HTML, "<img") || plain.Logo != nil || strings.Join(plain.Languages, ",") != "is,en" {
		t.Errorf("languages %v, a logo that there is not:\n%s", plain.Languages, plain.HTML)
	}
	n.Head = Letterhead{Operator: `Þjónusta "<b>"`, Hex: "#0a5c36", Logo: []byte("picture")}
	looks, err := n.message("a")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`alt="Þjónusta &#34;&lt;b&gt;&#34;"`, `src="cid:logo@innsigli"`, "solid #0a5c36", "background:#0a5c36"} {
		if !strings.Contains(looks.HTML, want) {
			t.Errorf("no %q in\n%s", want, looks.HTML)
		}
	}
	if strings.Contains(looks.HTML, "#1d4f91") || string(looks.Logo) != "picture" {
		t.Errorf("the logo is %q, the HTML\n%s", looks.Logo, looks.HTML)
	}
}
