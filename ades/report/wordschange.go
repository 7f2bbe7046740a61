package report

import "github.com/innsigli/innsigli/ades"

// happening is what a change is in words: in general, and where it is known on which pages. These are in the
// dative in Icelandic.
type happening struct{ general, onPages words }

// changeKinds have no words about pages where a reader sees nothing of the change on any.
var changeKinds = map[ades.ChangeKind]happening{
	ades.ChangeValidationData: {general: words{"validation data or a document timestamp was added", "staðfestingargögnum eða tímastimpli var bætt við"}},
	ades.ChangeSignature: {words{"a further signature was added", "annarri undirskrift var bætt við"},
		words{"a further signature was added on {pages}", "annarri undirskrift var bætt við á {pages}"}},
	ades.ChangeForm: {words{"the form was filled in", "eyðublaðið var fyllt út"},
		words{"the form was filled in on {pages}", "eyðublaðið var fyllt út á {pages}"}},
	ades.ChangeAnnotation: {words{"an annotation was added, changed or removed", "athugasemd var bætt við, breytt eða eytt"},
		words{"an annotation was added, changed or removed on {pages}", "athugasemd var bætt við, breytt eða eytt á {pages}"}},
	ades.ChangeAppearance: {words{"what is seen of a field or a signature was changed", "útliti reits eða undirskriftar var breytt"},
		words{"what is seen of a field or a signature on {pages} was changed", "útliti reits eða undirskriftar á {pages} var breytt"}},
	ades.ChangeFields: {words{"fields of the form were added, changed or removed", "reitum eyðublaðsins var bætt við, breytt eða eytt"},
		words{"fields of the form on {pages} were added, changed or removed", "reitum eyðublaðsins á {pages} var bætt við, breytt eða eytt"}},
	ades.ChangePages: {words{"pages were added, removed or moved", "síðum var bætt við, eytt eða raðað upp á nýtt"},
		words{"pages were added, removed or moved: {pages}", "síðum var bætt við, eytt eða raðað upp á nýtt: {pages}"}},
	ades.ChangeContent: {words{"the content of pages was changed", "efni á síðum var breytt"},
		words{"the content of {pages} was changed", "{pages} var breytt"}},
	ades.ChangeProducer: {general: words{"the program that wrote the document last, and the date, were noted",
		"forritið sem vistaði skjalið síðast og dagsetningin voru skráð"}},
	ades.ChangeMetadata: {general: words{"what the document says of itself was changed, such as its title or author",
		"lýsigögnum skjalsins var breytt, svo sem titli eða höfundi"}},
	ades.ChangeStructure: {words{"the structure that screen readers follow was changed", "uppbyggingu sem skjálesarar fara eftir var breytt"},
		words{"the structure that screen readers follow was changed on {pages}", "uppbyggingu sem skjálesarar fara eftir var breytt á {pages}"}},
	ades.ChangeCatalog: {general: words{"something that is about the whole document was changed, such as actions, layers or permissions",
		"einhverju sem varðar allt skjalið var breytt, svo sem aðgerðum, myndlögum eða heimildum"}},
	ades.ChangeHidden: {general: words{"objects that nothing uses were added; they are not seen unless a later change uses them",
		"hlutum sem hvergi eru notaðir var bætt við; þeir sjást ekki nema síðari breyting noti þá"}},
	ades.ChangeUnknown: {words{"something was changed that cannot be compared with what was there before",
		"einhverju var breytt sem ekki er hægt að bera saman við það sem var fyrir"},
		words{"something on {pages} was changed that cannot be compared with what was there before",
			"einhverju á {pages} var breytt sem ekki er hægt að bera saman við það sem var fyrir"}},
}

var (
	inRevision   = words{"Revision {n}: {what}", "Útgáfa {n}: {what}"}
	permitted    = words{"permitted", "heimilt"}
	notPermitted = words{"not permitted", "ekki heimilt"}
	onePage      = words{"page {n}", "síðu {n}"}
	severalPages = words{"pages {n}", "síðum {n}"}
	moreChanges  = words{"and {n} more, all of which the JSON report has", "og {n} til viðbótar, sem eru öll í JSON-skýrslunni"}
)

// coverages say what a signature is over.
var coverages = map[ades.Coverage]words{
	ades.WholeDocument: {"the whole document", "allt skjalið"},
	ades.WholeRevision: {"the document as it was when it was signed", "skjalið eins og það var þegar það var undirritað"},
	ades.Partial:       {"only a part of the document", "aðeins hluta skjalsins"},
}

// Words about what a signature is over, and what followed.
var (
	coversEarlier = words{"all that was there before the signature around it", "allt sem var komið á undan undirskriftinni utan um hana"} // in XML
	coversCounter = words{"another signature, as its counter-signature, and nothing of the document",
		"aðra undirskrift, sem hún staðfestir, og ekkert af skjalinu sjálfu"}
	nothingAfter = words{"Nothing was added.", "Engu var bætt við."}
	proofAfter   = words{"Only validation data and document timestamps were added.", "Aðeins var bætt við staðfestingargögnum og tímastimplum."}
	bytesAfter   = words{"Something was added.", "Einhverju var bætt við."}
)
