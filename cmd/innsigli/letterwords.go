package main

import (
	"time"

	"github.com/innsigli/innsigli/portal/page"
)

// headOf has mail look as the signing page does.
func headOf(o page.Operator) letterhead { return letterhead{o.Name, o.Colour, o.Logo} }

// letterWords are what a letter says in Icelandic and in English, to one or to several, as the alerts
// do. SENDER is the name of the account, FILE that of the document, UNTIL when the link expires, and
// NAME who declined.
type letterWords struct {
	is, en         wording
	linkIS, linkEN string
}

var signerWords = letterWords{
	is:     wording{"Skjal til undirritunar", "SENDER hefur sent ykkur skjalið „FILE“ til undirritunar."},
	en:     wording{"A document to sign", "SENDER has sent you the document “FILE” to sign."},
	linkIS: "Opna og undirrita", linkEN: "Open and sign",
}

var viewerWords = letterWords{
	is:     wording{"Skjal til lestrar", "SENDER hefur sent ykkur skjalið „FILE“ til lestrar."},
	en:     wording{"A document to read", "SENDER has sent you the document “FILE” to read."},
	linkIS: "Opna skjalið", linkEN: "Open the document",
}

var completionWords = letterWords{
	is:     wording{"Undirritun er lokið", "Allir hafa undirritað skjalið „FILE“ sem SENDER sendi."},
	en:     wording{"All have signed", "Everybody has signed the document “FILE” that SENDER sent."},
	linkIS: "Opna skjalið", linkEN: "Open the document",
}

var refusalWords = letterWords{
	is: wording{"Undirritun var hafnað", "NAME hafnaði því að undirrita skjalið „FILE“. Aðrir geta þá ekki heldur undirritað það lengur."},
	en: wording{"A signature was declined", "NAME has declined to sign the document “FILE”. Nobody else can sign it any more."},
}

// saying is what else a letter may say.
type saying struct{ is, en string }

var (
	// useLink is about a link that is a credential, usePage about a page that needs a login.
	useLink = saying{
		"Opnið tengilinn og auðkennið ykkur með rafrænum skilríkjum. Tengillinn gildir til UNTIL og er persónulegur: látið aðra ekki fá hann.",
		"Open the link and log in with your electronic ID. The link is valid until UNTIL and is yours alone: do not pass it on.",
	}
	usePage = saying{
		"Opnið tengilinn og auðkennið ykkur með rafrænum skilríkjum.",
		"Open the link and log in with your electronic ID.",
	}
	fetchIt = saying{
		"Opnið tengilinn og auðkennið ykkur með rafrænum skilríkjum til að sækja það undirritað.",
		"To get it with the signatures, open the link and log in with your electronic ID.",
	}
	askForLink = saying{
		"Tengillinn sem þið fenguð gildir ekki lengur. Biðjið SENDER um nýjan til að sækja skjalið.",
		"The link that you got is not valid any more. Ask SENDER for another one to get the document.",
	}
)

func (w letterWords) and(more saying) letterWords {
	w.is.text += " " + more.is
	w.en.text += " " + more.en
	return w
}

// notice puts in what comes after each of the words. UNTIL is written as each language does.
func (w letterWords) notice(file, link string, until time.Time, pairs ...string) notice {
	pairs = append(pairs, "FILE", file)
	say := func(words wording, until string) string { return words.with(append(pairs, "UNTIL", until)...) }
	return notice{
		Subject: w.is.title + " / " + w.en.title + ": " + plain(file),
		Languages: []translation{
			{Lang: "is", Title: w.is.title, Text: say(w.is, icelandicTime(until)), Link: link, LinkText: w.linkIS},
			{Lang: "en", Title: w.en.title, Text: say(w.en, englishTime(until)), Link: link, LinkText: w.linkEN},
		},
	}
}
