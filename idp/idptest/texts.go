package idptest

import (
	"strings"

	"github.com/innsigli/innsigli/idp"
)

// texts are what clients may name their documents. A phone has room for little of it.
var texts = []idp.Text{
	{},
	{Document: strings.Repeat("Kaupsamningur með þinglýsingu ", 300) + ".pdf", Reason: strings.Repeat("æ", 5000)},
	{Document: "a\nb\tc\x00\x7f\u2028d.pdf", Reason: "\r\n"},
	{Document: "e\u0301\u0302\u0308 👩‍👩‍👧‍👦🇮🇸.pdf", Reason: "{code} {document} %s \"'<&>"},
	{Document: "\u202egnp.fdp\u202c", Reason: "\xff\xfe"},
}
