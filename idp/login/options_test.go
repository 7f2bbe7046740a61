package login

import (
	"strings"
	"testing"

	"github.com/innsigli/innsigli/idp/ciba"
)

func TestOptions(t *testing.T) {
	client, err := ciba.New(ciba.Options{Issuer: "https://idp.example", ClientID: "a", Secret: "b"})
	if err != nil {
		t.Fatal(err)
	}
	browser := func(o BrowserOptions) error { _, err := NewBrowser(o); return err }
	phone := func(o PhoneOptions) error { _, err := NewPhone(o); return err }
	for name, test := range map[string]struct {
		err  error
		want string // "": none
	}{
		"browser":                    {browser(BrowserOptions{Client: client, Redirect: "https://sign.example/back"}), ""},
		"browser without a client":   {browser(BrowserOptions{Redirect: "https://sign.example/back"}), "the client is missing"},
		"browser without a redirect": {browser(BrowserOptions{Client: client}), "redirect"},
		"redirect to a path":         {browser(BrowserOptions{Client: client, Redirect: "/back"}), "redirect"},
		"redirect with a fragment":   {browser(BrowserOptions{Client: client, Redirect: "https://sign.example/#a"}), "redirect"},
		"phone":                      {phone(PhoneOptions{Client: client}), ""},
		"phone without a client":     {phone(PhoneOptions{}), "the client is missing"},
		"text without a code":        {phone(PhoneOptions{Client: client, Text: "Innskráning"}), "must contain {code}"},
		"text of a code of its own":  {phone(PhoneOptions{Client: client, Text: "Innskráning", Code: drawCode}), ""},
	} {
		if (test.err == nil) != (test.want == "") || test.err != nil && !strings.Contains(test.err.Error(), test.want) {
			t.Errorf("%s: %v", name, test.err)
		}
	}
}

func TestKennitala(t *testing.T) {
	for claim, want := range map[string]string{
		"0101302989":         "0101302989",
		"010130-2989":        "0101302989",
		"PNOIS-0101302989":   "0101302989",
		"PNOIS-010130-2989":  "0101302989",
		"PNOEE-0101302989":   "",
		"010130298":          "",
		"01013029890":        "",
		"010130298a":         "",
		"\u0660101302989":    "",
		" 0101302989":        "",
		"0101302989,0000000": "",
		"na":                 "",
		"":                   "",
	} {
		if got, ok := parseKennitala(claim); ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q, %v", claim, got, ok)
		}
	}
}
