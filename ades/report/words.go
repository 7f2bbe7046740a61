package report

import (
	"github.com/innsigli/innsigli/ades"
)

// indications begin the verdict on a signature.
var indications = map[ades.Indication]words{
	ades.TotalPassed:   {"Valid.", "Gild."},
	ades.TotalFailed:   {"Not valid.", "Ógild."},
	ades.Indeterminate: {"Not confirmed.", "Óstaðfest."},
}

// subIndications state why a signature did not pass. They are all of EN 319 102-1 table 6,
// including those that this project's validation never returns.
var subIndications = map[ades.SubIndication]words{
	"FORMAT_FAILURE": {"It does not have the form that such a signature must have.", "Hún er ekki á því formi sem slík undirskrift á að vera á."},
	"HASH_FAILURE":   {"What was signed has been changed since.", "Því sem var undirritað hefur verið breytt."},
	"SIG_CRYPTO_FAILURE": {"It was not made with the key that belongs to the signer's certificate, or it has been changed.",
		"Hún var ekki gerð með lyklinum sem fylgir skilríkjum undirritanda, eða henni hefur verið breytt."},
	"REVOKED": {"The signer's certificate had been revoked when it was made.", "Skilríki undirritanda höfðu verið afturkölluð þegar hún var gerð."},
	"EXPIRED": {"The signer's certificate had expired when it was made.", "Skilríki undirritanda voru útrunnin þegar hún var gerð."},
	"NOT_YET_VALID": {"The signer's certificate was not valid yet when it was made.",
		"Skilríki undirritanda höfðu ekki tekið gildi þegar hún var gerð."},
	"SIG_CONSTRAINTS_FAILURE": {"What it states about itself, such as its certificate, does not meet the rules.",
		"Upplýsingar hennar um sjálfa sig, svo sem um skilríkin, standast ekki reglurnar."},
	"CHAIN_CONSTRAINTS_FAILURE": {"The signer's certificate was not issued for signing documents.",
		"Skilríki undirritanda voru ekki gefin út til að undirrita skjöl."},
	"CERTIFICATE_CHAIN_GENERAL_FAILURE": {"The certificates between the signer and a trusted issuer did not pass validation.",
		"Skilríkin milli undirritanda og trausts útgefanda standast ekki skoðun."},
	"CRYPTO_CONSTRAINTS_FAILURE": {"It was made with an algorithm or a key that was too weak, or is unknown here.",
		"Hún var gerð með reikniriti eða lykli sem var of veikur eða er ekki þekktur hér."},
	"CRYPTO_CONSTRAINTS_FAILURE_NO_POE": {"It was made with an algorithm or a key that is now too weak, or is unknown here, and nothing proves that it was made in time.",
		"Hún var gerð með reikniriti eða lykli sem nú er of veikur, eða er ekki þekktur hér, og ekkert sannar að hún hafi verið gerð í tæka tíð."},
	"POLICY_PROCESSING_ERROR": {"The rules that the signer chose for it cannot be read.",
		"Ekki er hægt að lesa reglurnar sem undirritandi valdi henni."},
	"SIGNATURE_POLICY_NOT_AVAILABLE": {"The rules that the signer chose for it are not available.",
		"Reglurnar sem undirritandi valdi henni eru ekki tiltækar."},
	"TIMESTAMP_ORDER_FAILURE": {"Its timestamps contradict one another.", "Tímastimplum hennar ber ekki saman."},
	"NO_SIGNING_CERTIFICATE_FOUND": {"The signer's certificate is missing, so the signer is unknown.",
		"Skilríki undirritanda vantar, svo ekki verður séð hver undirritaði."},
	"NO_CERTIFICATE_CHAIN_FOUND": {"The signer's certificate does not lead to an issuer that is trusted here.",
		"Skilríki undirritanda verða ekki rakin til útgefanda sem er treyst hér."},
	"NO_CERTIFICATE_CHAIN_FOUND_NO_POE": {"The signer's certificate does not lead to an issuer that is trusted here, and nothing proves that it once did.",
		"Skilríki undirritanda verða ekki rakin til útgefanda sem er treyst hér, og ekkert sannar að svo hafi verið áður."},
	"OUT_OF_BOUNDS_NO_POE": {"A certificate is outside its validity period, and nothing proves that the signature was made within that period.",
		"Skilríki eru ekki í gildi, og ekkert sannar að undirskriftin hafi verið gerð á meðan þau giltu."},
	"OUT_OF_BOUNDS_NOT_REVOKED": {"A certificate is outside its validity period. It was not revoked, but nothing proves that the signature was made within that period.",
		"Skilríki eru ekki í gildi. Þau voru ekki afturkölluð, en ekkert sannar að undirskriftin hafi verið gerð á meðan þau giltu."},
	"REVOCATION_OUT_OF_BOUNDS_NO_POE": {"The certificate that signed the revocation data has expired since, and no timestamp shows that the data existed before.",
		"Skilríkin sem undirrituðu afturköllunargögnin eru útrunnin, og enginn tímastimpill sannar að gögnin hafi verið til áður."},
	"REVOKED_NO_POE": {"The signer's certificate has been revoked, and nothing proves that the signature was made before.",
		"Skilríki undirritanda hafa verið afturkölluð, og ekkert sannar að undirskriftin hafi verið gerð áður."},
	"REVOKED_CA_NO_POE": {"The certificate of an issuer has been revoked, and nothing proves that the signature was made before.",
		"Skilríki útgefanda hafa verið afturkölluð, og ekkert sannar að undirskriftin hafi verið gerð áður."},
	"NO_POE": {"Nothing proves that the data that it depends on existed in time.",
		"Ekkert sannar að gögnin sem hún byggir á hafi verið til í tæka tíð."},
	"SIGNED_DATA_NOT_FOUND": {"What was signed is not in this document.", "Það sem var undirritað er ekki í þessu skjali."},
	"TRY_LATER": {"The available data does not show whether a certificate had been revoked.",
		"Ekki verður séð af fyrirliggjandi gögnum hvort skilríki hafi verið afturkölluð."},
	"CUSTOM": {"It does not meet a rule of the verifier.", "Hún stenst ekki reglu þess sem sannreynir hana."},
}

var (
	// validSoFar begins the verdict if only data is missing that may arrive later.
	validSoFar = words{"Valid, as far as is known.", "Gild, að því er séð verður."}
	// validRevision begins the verdict if the signed revision is valid and a later one is not.
	validRevision = words{"Valid for what was signed, not for the document as it is now.",
		"Gild fyrir það sem var undirritað, ekki fyrir skjalið eins og það er nú."}
	changedAfter = words{"The document was changed afterwards, in a way that the signature does not permit.",
		"Skjalinu var breytt eftir á, með hætti sem undirskriftin heimilar ekki."}
)

// Words about the document as a whole.
var (
	unreadable = words{"The document cannot be read: {why}", "Ekki er hægt að lesa skjalið. Nánar (á ensku): {why}"}
	unsigned   = words{"The document has no signatures.", "Engin undirskrift er í skjalinu."}
	allPassed  = countedWords{
		only:    words{"The document is signed. Its signature is valid.", "Skjalið er undirritað. Undirskriftin er gild."},
		several: words{"The document is signed. All of its signatures are valid.", "Skjalið er undirritað. Allar undirskriftirnar eru gildar."},
	}
	allButRevocation = countedWords{
		only: words{"The document is signed. No fault was found in its signature, but it is not known whether every certificate was valid.",
			"Skjalið er undirritað. Ekkert fannst að undirskriftinni, en ekki er vitað hvort öll skilríki voru í gildi."},
		several: words{"The document is signed. No fault was found in its signatures, but it is not known whether every certificate was valid.",
			"Skjalið er undirritað. Ekkert fannst að undirskriftunum, en ekki er vitað hvort öll skilríki voru í gildi."},
	}
	someFailed = countedWords{
		only:    words{"The document cannot be relied upon: its signature is not valid.", "Skjalinu er ekki treystandi: undirskriftin er ógild."},
		one:     words{"The document cannot be relied upon: signature {n} is not valid.", "Skjalinu er ekki treystandi: undirskrift {n} er ógild."},
		several: words{"The document cannot be relied upon: signatures {n} are not valid.", "Skjalinu er ekki treystandi: undirskriftir {n} eru ógildar."},
	}
	someChanged = countedWords{
		only: words{"The document cannot be relied upon: it was changed after it was signed, in a way that the signature does not permit.",
			"Skjalinu er ekki treystandi: því var breytt eftir undirskriftina, með hætti sem hún heimilar ekki."},
		one: words{"The document cannot be relied upon: it was changed after signature {n}, in a way that the signature does not permit.",
			"Skjalinu er ekki treystandi: því var breytt eftir undirskrift {n}, með hætti sem hún heimilar ekki."},
		several: words{"The document cannot be relied upon: it was changed after signatures {n}, in a way that they do not permit.",
			"Skjalinu er ekki treystandi: því var breytt eftir undirskriftir {n}, með hætti sem þær heimila ekki."},
	}
	someUnconfirmed = countedWords{
		only: words{"It is not known whether the document can be relied upon: its signature is not confirmed.",
			"Ekki verður séð hvort skjalinu sé treystandi: undirskriftin er óstaðfest."},
		one: words{"It is not known whether the document can be relied upon: signature {n} is not confirmed.",
			"Ekki verður séð hvort skjalinu sé treystandi: undirskrift {n} er óstaðfest."},
		several: words{"It is not known whether the document can be relied upon: signatures {n} are not confirmed.",
			"Ekki verður séð hvort skjalinu sé treystandi: undirskriftir {n} eru óstaðfestar."},
	}
	somePartial = countedWords{
		only: words{"The document as a whole is not signed: its signature covers only a part of it.",
			"Skjalið er ekki undirritað í heild: undirskriftin nær aðeins yfir hluta þess."},
		one: words{"The document as a whole is not signed: signature {n} covers only a part of it.",
			"Skjalið er ekki undirritað í heild: undirskrift {n} nær aðeins yfir hluta þess."},
		several: words{"The document as a whole is not signed: signatures {n} cover only parts of it.",
			"Skjalið er ekki undirritað í heild: undirskriftir {n} ná aðeins yfir hluta þess."},
	}
	noneCovers = countedWords{
		only: words{"The document as a whole is not signed: something was added after its signature.",
			"Skjalið er ekki undirritað í heild: einhverju var bætt við eftir undirskriftina."},
		several: words{"The document as a whole is not signed: something was added after the last of its signatures.",
			"Skjalið er ekki undirritað í heild: einhverju var bætt við eftir síðustu undirskriftina."},
	}
)

// Labels of the rows about a signature.
var (
	labelVerdict     = words{"Verdict", "Niðurstaða"}
	labelNumber      = words{"ID number", "Auðkennisnr."}
	labelIssuer      = words{"Issued by", "Útgefandi"}
	labelCertificate = words{"Certificate", "Skilríki"}
	labelTrust       = words{"Trust", "Traust"}
	labelNamed       = words{"Named", "Nafn"}
	labelSigned      = words{"Signed", "Undirritað"}
	labelBestTime    = words{"Proven", "Sannað"}
	labelJudged      = words{"Checked", "Metið"}
	labelReason      = words{"Reason", "Ástæða"}
	labelPlace       = words{"Place", "Staður"}
	labelCovers      = words{"Covers", "Nær yfir"}
	labelAfterwards  = words{"Afterwards", "Eftir það"}
	labelLevel       = words{"Level", "Stig"}
	labelTimestamp   = words{"Timestamp", "Tímastimpill"}
	labelWarning     = words{"Warning", "Viðvörun"}
	labelTerms       = words{"Terms", "Fagheiti"}
	allLabels        = []words{
		labelVerdict, labelNumber, labelIssuer, labelCertificate, labelTrust, labelNamed, labelSigned, labelBestTime, labelJudged, labelReason,
		labelPlace, labelCovers, labelAfterwards, labelLevel, labelTimestamp, labelWarning, labelTerms,
	}
)

// Words about who signed, and when.
var (
	head          = words{"Signature {n} of {all}: {who}", "Undirskrift {n} af {all}: {who}"}
	unconfirmed   = words{"{who} (not confirmed)", "{who} (óstaðfest)"}
	unknownSigner = words{"an unknown signer", "óþekktur undirritandi"}
	inForce       = words{"valid from {from} to {to}", "í gildi frá {from} til {to}"}
	trust         = words{"leads to {root}, which is trusted", "má rekja til {root}, sem er treyst"}
	noTrust       = words{"does not lead to a root that is trusted here", "verða ekki rakin til neins sem er treyst hér"}
	noTrustThen   = words{"does not lead to a root that is trusted here through certificates that were all valid and trusted on {time}",
		"verða ekki rakin til neins sem er treyst hér með skilríkjum sem öll voru gild og traust {time}"}
	named            = words{"{name} in the document, which the certificate does not confirm", "{name} samkvæmt skjalinu, en skilríkin staðfesta það ekki"}
	claimed          = words{"{time}, as stated by the signer", "{time}, að sögn undirritanda"}
	noTimeClaimed    = words{"the signer does not say when", "undirritandi segir ekki hvenær"}
	proven           = words{"not later than {time}, by a timestamp of {authority}", "eigi síðar en {time}, með tímastimpli frá {authority}"}
	noBestTime       = words{"no trusted timestamp proves when it was made", "enginn traustur tímastimpill sannar hvenær hún var gerð"}
	unnamedAuthority = words{"an unnamed authority", "ónefndum útgefanda"}
)

// timestampTypes state what a timestamp covers.
var timestampTypes = map[ades.TimestampType]words{
	ades.SignatureTimestamp: {"over the signature", "yfir undirskriftina"},
	ades.DocumentTimestamp:  {"over the document", "yfir skjalið"},
	ades.ArchiveTimestamp:   {"over the signature and its validation data", "yfir undirskriftina og staðfestingargögn hennar"},
}

// Words about a timestamp.
var (
	timestamp          = words{"{time}, {authority}, {over}: {verdict}", "{time}, frá {authority}, {over}: {verdict}"}
	timeUnknown        = words{"time unknown", "tími óþekktur"}
	timestampTrusted   = words{"trusted", "traustur"}
	timestampUntrusted = words{"not relied upon", "ekki byggt á honum"}
	timestampBroken    = words{"broken", "ógildur"}
)

// levels state the purpose of a level (EN 319 142-1 and EN 319 132-1, clause 6).
var levels = map[ades.Level]words{
	ades.B: {"B: a signature without a trusted time", "B: undirskrift án traustrar tímasetningar"},
	ades.T: {"T: with a timestamp", "T: með tímastimpli"},
	ades.LT: {"LT: with a timestamp, and with the data to check it years later",
		"LT: með tímastimpli og gögnum til að sannreyna hana mörgum árum síðar"},
	ades.LTA: {"LTA: with the data to check it years later, and a timestamp over that data, which keeps the signature verifiable",
		"LTA: með gögnum til að sannreyna hana mörgum árum síðar og tímastimpli yfir þau, svo hana megi sannreyna áfram"},
}

var (
	comparable = words{"comparable to {level}, in a form outside the European baseline",
		"sambærilegt við {level}, á sniði sem fylgir ekki evrópska grunnstaðlinum"}
	noLevel = words{"none: the form is outside the European baseline", "ekkert: sniðið fylgir ekki evrópska grunnstaðlinum"}
)

// Words of the details.
var (
	details          = words{"Details", "Nánar (á ensku)"}
	warning          = words{"{text}", "(á ensku) {text}"}
	detailsSignature = words{"Signature {n}: {text}", "Undirskrift {n}: {text}"}
	detailsChange    = words{"Signature {n}, revision {m}: {text}", "Undirskrift {n}, útgáfa {m}: {text}"}
	detailsTimestamp = words{"Signature {n}, timestamp {m}: {text}", "Undirskrift {n}, tímastimpill {m}: {text}"}
)

// changeWords describe a change: general in any case, onPages if its pages are known. The pages are
// in the dative in Icelandic.
type changeWords struct{ general, onPages words }

// changeKinds have words about pages only for kinds of changes that a reader can see on a page.
var changeKinds = map[ades.ChangeKind]changeWords{
	ades.ChangeValidationData: {general: words{"validation data or a document timestamp was added", "staðfestingargögnum eða tímastimpli var bætt við"}},
	ades.ChangeSignature: {words{"a further signature was added", "annarri undirskrift var bætt við"},
		words{"a further signature was added on {pages}", "annarri undirskrift var bætt við á {pages}"}},
	ades.ChangeForm: {words{"the form was filled in", "eyðublaðið var fyllt út"},
		words{"the form was filled in on {pages}", "eyðublaðið var fyllt út á {pages}"}},
	ades.ChangeAnnotation: {words{"an annotation was added, changed or removed", "athugasemd var bætt við, breytt eða eytt"},
		words{"an annotation was added, changed or removed on {pages}", "athugasemd var bætt við, breytt eða eytt á {pages}"}},
	ades.ChangeAppearance: {words{"the appearance of a field or a signature was changed", "útliti reits eða undirskriftar var breytt"},
		words{"the appearance of a field or a signature on {pages} was changed", "útliti reits eða undirskriftar á {pages} var breytt"}},
	ades.ChangeFields: {words{"fields of the form were added, changed or removed", "reitum eyðublaðsins var bætt við, breytt eða eytt"},
		words{"fields of the form on {pages} were added, changed or removed", "reitum eyðublaðsins á {pages} var bætt við, breytt eða eytt"}},
	ades.ChangePages: {words{"pages were added, removed or moved", "síðum var bætt við, eytt eða raðað upp á nýtt"},
		words{"pages were added, removed or moved: {pages}", "síðum var bætt við, eytt eða raðað upp á nýtt: {pages}"}},
	ades.ChangeContent: {words{"the content of pages was changed", "efni á síðum var breytt"},
		words{"the content of {pages} was changed", "{pages} var breytt"}},
	ades.ChangeProducer: {general: words{"the program that last saved the document, and the date, were recorded",
		"forritið sem vistaði skjalið síðast og dagsetningin voru skráð"}},
	ades.ChangeMetadata: {general: words{"the metadata of the document was changed, such as its title or author",
		"lýsigögnum skjalsins var breytt, svo sem titli eða höfundi"}},
	ades.ChangeStructure: {words{"the structure that screen readers follow was changed", "uppbyggingu sem skjálesarar fara eftir var breytt"},
		words{"the structure that screen readers follow was changed on {pages}", "uppbyggingu sem skjálesarar fara eftir var breytt á {pages}"}},
	ades.ChangeCatalog: {general: words{"a setting of the whole document was changed, such as actions, layers or permissions",
		"einhverju sem varðar allt skjalið var breytt, svo sem aðgerðum, myndlögum eða heimildum"}},
	ades.ChangeHidden: {general: words{"unused objects were added; they are not visible unless a later change uses them",
		"hlutum sem hvergi eru notaðir var bætt við; þeir sjást ekki nema síðari breyting noti þá"}},
	ades.ChangeUnknown: {words{"a change was made that cannot be compared with the earlier content",
		"einhverju var breytt sem ekki er hægt að bera saman við það sem var fyrir"},
		words{"a change was made on {pages} that cannot be compared with the earlier content",
			"einhverju á {pages} var breytt sem ekki er hægt að bera saman við það sem var fyrir"}},
}

var (
	inRevision   = words{"Revision {n}: {what}", "Útgáfa {n}: {what}"}
	permitted    = words{"permitted", "heimilt"}
	notPermitted = words{"not permitted", "ekki heimilt"}
	onePage      = words{"page {n}", "síðu {n}"}
	severalPages = words{"pages {n}", "síðum {n}"}
	moreChanges  = words{"and {n} more; the JSON report lists all", "og {n} til viðbótar; allar eru í JSON-skýrslunni"}
)

// coverages state what a signature covers.
var coverages = map[ades.Coverage]words{
	ades.WholeDocument: {"the whole document", "allt skjalið"},
	ades.WholeRevision: {"the document as it was when it was signed", "skjalið eins og það var þegar það var undirritað"},
	ades.Partial:       {"only a part of the document", "aðeins hluta skjalsins"},
}

// Words about what a signature covers, and what followed.
var (
	coversEarlier = words{"everything that existed before the signature that encloses it", "allt sem var komið á undan undirskriftinni utan um hana"} // in XML
	coversCounter = words{"another signature, as its counter-signature, and nothing of the document",
		"aðra undirskrift, sem hún staðfestir, og ekkert af skjalinu sjálfu"}
	nothingAfter        = words{"Nothing was added.", "Engu var bætt við."}
	validationDataAfter = words{"Only validation data and document timestamps were added.", "Aðeins var bætt við staðfestingargögnum og tímastimplum."}
	bytesAfter          = words{"Something was added.", "Einhverju var bætt við."}
)

// revocations state the revocation status of a certificate.
var revocations = map[ades.RevocationStatus]words{
	ades.RevocationGood:    {"not revoked as of {day} ({source})", "ekki afturkölluð miðað við {day} ({source})"},
	ades.RevocationRevoked: {"revoked since {since} ({source})", "afturkölluð {since} ({source})"},
	ades.RevocationOnHold:  {"suspended since {since} ({source})", "tímabundið felld úr gildi {since} ({source})"},
	ades.RevocationUnknown: {"it is not known whether it was revoked", "ekki vitað hvort þau höfðu verið afturkölluð"},
	ades.RevocationNotNeeded: {"trusted directly, or issued without a way to revoke it",
		"treyst sem slíkum, eða gefin út án þess að hægt sé að afturkalla þau"},
}

// Words about certificates and the time at which they are validated.
var (
	revokedLater      = words{"not revoked at that time, but since {since} ({source})", "ekki afturkölluð þá, en síðar afturkölluð, {since} ({source})"}
	fetched           = words{"{source}, fetched", "{source}, sótt"}
	certificateStatus = words{"certificate valid from {from} to {to}; {status}", "skilríki í gildi frá {from} til {to}; {status}"}
	viaCertificate    = words{"via {name}: {certified}", "um {name}: {certified}"}
	judgedAtBestTime  = words{"judged by the certificates as they were on {time}, the proven time",
		"miðað við stöðu skilríkjanna {time}, á sönnuðum tíma undirskriftarinnar"}
	judgedAtPresent = words{"judged by the certificates as they were on {time}, the time of the verification",
		"miðað við stöðu skilríkjanna {time}, þegar sannreynt var"}
)
