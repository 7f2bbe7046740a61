package report

import "github.com/innsigli/innsigli/ades"

// indications lead the verdict on a signature.
var indications = map[ades.Indication]words{
	ades.TotalPassed:   {"Valid.", "Gild."},
	ades.TotalFailed:   {"Not valid.", "Ógild."},
	ades.Indeterminate: {"Not confirmed.", "Óstaðfest."},
}

// subIndications say why a signature did not pass: those of EN 319 102-1 table 6, whether or not a validation
// here comes to them.
var subIndications = map[ades.SubIndication]words{
	"FORMAT_FAILURE": {"It is not made the way such a signature has to be.", "Hún er ekki gerð eins og slík undirskrift á að vera."},
	"HASH_FAILURE":   {"What was signed has been changed since.", "Því sem var undirritað hefur verið breytt."},
	"SIG_CRYPTO_FAILURE": {"It was not made with the key that belongs to the signer's certificate, or it has been changed.",
		"Hún var ekki gerð með lyklinum sem fylgir skilríkjum undirritanda, eða henni hefur verið breytt."},
	"REVOKED": {"The signer's certificate had been revoked when it was made.", "Skilríki undirritanda höfðu verið afturkölluð þegar hún var gerð."},
	"EXPIRED": {"The signer's certificate had expired when it was made.", "Skilríki undirritanda voru útrunnin þegar hún var gerð."},
	"NOT_YET_VALID": {"The signer's certificate was not in force yet when it was made.",
		"Skilríki undirritanda höfðu ekki tekið gildi þegar hún var gerð."},
	"SIG_CONSTRAINTS_FAILURE": {"What it says of itself does not meet the rules, such as which certificate it belongs to.",
		"Það sem hún segir um sjálfa sig stenst ekki reglurnar, svo sem um hvaða skilríkjum hún tilheyrir."},
	"CHAIN_CONSTRAINTS_FAILURE": {"The signer's certificate was not issued for signing documents.",
		"Skilríki undirritanda voru ekki gefin út til að undirrita skjöl."},
	"CERTIFICATE_CHAIN_GENERAL_FAILURE": {"The certificates between the signer and a trusted issuer do not stand up to examination.",
		"Skilríkin milli undirritanda og trausts útgefanda standast ekki skoðun."},
	"CRYPTO_CONSTRAINTS_FAILURE": {"It was made with an algorithm or a key that was too weak, or is not known here.",
		"Hún var gerð með reikniriti eða lykli sem var of veikur eða er ekki þekktur hér."},
	"CRYPTO_CONSTRAINTS_FAILURE_NO_POE": {"It was made with an algorithm or a key that is too weak by now, or not known here, and nothing proves that it was made in time.",
		"Hún var gerð með reikniriti eða lykli sem nú er of veikur, eða er ekki þekktur hér, og ekkert sannar að hún hafi verið gerð í tæka tíð."},
	"POLICY_PROCESSING_ERROR": {"The rules that the signer chose for it cannot be read.",
		"Ekki er hægt að lesa reglurnar sem undirritandi valdi henni."},
	"SIGNATURE_POLICY_NOT_AVAILABLE": {"The rules that the signer chose for it are not at hand.",
		"Reglurnar sem undirritandi valdi henni eru ekki tiltækar."},
	"TIMESTAMP_ORDER_FAILURE": {"Its timestamps contradict one another.", "Tímastimplum hennar ber ekki saman."},
	"NO_SIGNING_CERTIFICATE_FOUND": {"The signer's certificate is missing, so that nobody can tell who signed.",
		"Skilríki undirritanda vantar, svo ekki verður séð hver undirritaði."},
	"NO_CERTIFICATE_CHAIN_FOUND": {"The signer's certificate does not lead to an issuer that is trusted here.",
		"Skilríki undirritanda verða ekki rakin til útgefanda sem er treyst hér."},
	"NO_CERTIFICATE_CHAIN_FOUND_NO_POE": {"The signer's certificate does not lead to an issuer that is trusted here, and nothing proves that it once did.",
		"Skilríki undirritanda verða ekki rakin til útgefanda sem er treyst hér, og ekkert sannar að svo hafi verið áður."},
	"OUT_OF_BOUNDS_NO_POE": {"A certificate is out of force, and nothing proves that the signature was made while it was in force.",
		"Skilríki eru ekki í gildi, og ekkert sannar að undirskriftin hafi verið gerð á meðan þau giltu."},
	"OUT_OF_BOUNDS_NOT_REVOKED": {"A certificate is out of force. It was not revoked, but nothing proves that the signature was made while it was in force.",
		"Skilríki eru ekki í gildi. Þau voru ekki afturkölluð, en ekkert sannar að undirskriftin hafi verið gerð á meðan þau giltu."},
	"REVOCATION_OUT_OF_BOUNDS_NO_POE": {"Whoever vouched that a certificate was not revoked is out of force by now, and nothing proves that it was said before.",
		"Sá sem staðfesti að skilríki væru ekki afturkölluð hefur ekki lengur gild skilríki, og ekkert sannar að það hafi verið staðfest áður."},
	"REVOKED_NO_POE": {"The signer's certificate has been revoked, and nothing proves that the signature was made before.",
		"Skilríki undirritanda hafa verið afturkölluð, og ekkert sannar að undirskriftin hafi verið gerð áður."},
	"REVOKED_CA_NO_POE": {"The certificate of an issuer has been revoked, and nothing proves that the signature was made before.",
		"Skilríki útgefanda hafa verið afturkölluð, og ekkert sannar að undirskriftin hafi verið gerð áður."},
	"NO_POE": {"Nothing proves that something which it depends on existed in time.",
		"Ekkert sannar að það sem hún byggir á hafi verið til í tæka tíð."},
	"SIGNED_DATA_NOT_FOUND": {"What was signed is not in this document.", "Það sem var undirritað er ekki í þessu skjali."},
	"TRY_LATER": {"Whether a certificate had been revoked is not known from what is at hand.",
		"Ekki verður séð af fyrirliggjandi gögnum hvort skilríki hafi verið afturkölluð."},
	"CUSTOM": {"It does not meet a rule of whoever verifies it.", "Hún stenst ekki reglu þess sem sannreynir hana."},
}

var (
	// wanting leads the verdict where only data is missing that may come later.
	wanting = words{"Valid, as far as can be told.", "Gild, að því er séð verður."}
	// onceValid leads it where the revision that was signed is all right, and a later one is not.
	onceValid = words{"Valid for what was signed, not for the document as it is now.",
		"Gild fyrir það sem var undirritað, ekki fyrir skjalið eins og það er nú."}
	changedAfter = words{"The document was changed afterwards, in a way that the signature does not permit.",
		"Skjalinu var breytt eftir á, með hætti sem undirskriftin heimilar ekki."}
)

// Words about the document as a whole.
var (
	unread    = words{"The document cannot be read: {why}", "Ekki er hægt að lesa skjalið. Nánar (á ensku): {why}"}
	unsigned  = words{"The document has no signatures.", "Engin undirskrift er í skjalinu."}
	allPassed = counted{
		only:    words{"The document is signed. Its signature is valid.", "Skjalið er undirritað. Undirskriftin er gild."},
		several: words{"The document is signed. All of its signatures are valid.", "Skjalið er undirritað. Allar undirskriftirnar eru gildar."},
	}
	allButRevocation = counted{
		only: words{"The document is signed. Nothing speaks against its signature, but whether every certificate was in force is not known.",
			"Skjalið er undirritað. Ekkert mælir gegn undirskriftinni, en ekki verður séð hvort öll skilríki hafi verið í gildi."},
		several: words{"The document is signed. Nothing speaks against its signatures, but whether every certificate was in force is not known.",
			"Skjalið er undirritað. Ekkert mælir gegn undirskriftunum, en ekki verður séð hvort öll skilríki hafi verið í gildi."},
	}
	someFailed = counted{
		only:    words{"The document cannot be relied upon: its signature is not valid.", "Skjalinu er ekki treystandi: undirskriftin er ógild."},
		one:     words{"The document cannot be relied upon: signature {n} is not valid.", "Skjalinu er ekki treystandi: undirskrift {n} er ógild."},
		several: words{"The document cannot be relied upon: signatures {n} are not valid.", "Skjalinu er ekki treystandi: undirskriftir {n} eru ógildar."},
	}
	someChanged = counted{
		only: words{"The document cannot be relied upon: it was changed after it was signed, in a way that the signature does not permit.",
			"Skjalinu er ekki treystandi: því var breytt eftir undirskriftina, með hætti sem hún heimilar ekki."},
		one: words{"The document cannot be relied upon: it was changed after signature {n}, in a way that the signature does not permit.",
			"Skjalinu er ekki treystandi: því var breytt eftir undirskrift {n}, með hætti sem hún heimilar ekki."},
		several: words{"The document cannot be relied upon: it was changed after signatures {n}, in a way that they do not permit.",
			"Skjalinu er ekki treystandi: því var breytt eftir undirskriftir {n}, með hætti sem þær heimila ekki."},
	}
	someUnconfirmed = counted{
		only: words{"Whether the document can be relied upon is not known: its signature is not confirmed.",
			"Ekki verður séð hvort skjalinu sé treystandi: undirskriftin er óstaðfest."},
		one: words{"Whether the document can be relied upon is not known: signature {n} is not confirmed.",
			"Ekki verður séð hvort skjalinu sé treystandi: undirskrift {n} er óstaðfest."},
		several: words{"Whether the document can be relied upon is not known: signatures {n} are not confirmed.",
			"Ekki verður séð hvort skjalinu sé treystandi: undirskriftir {n} eru óstaðfestar."},
	}
	somePartial = counted{
		only: words{"The document as a whole is not signed: its signature covers only a part of it.",
			"Skjalið er ekki undirritað í heild: undirskriftin nær aðeins yfir hluta þess."},
		one: words{"The document as a whole is not signed: signature {n} covers only a part of it.",
			"Skjalið er ekki undirritað í heild: undirskrift {n} nær aðeins yfir hluta þess."},
		several: words{"The document as a whole is not signed: signatures {n} cover only parts of it.",
			"Skjalið er ekki undirritað í heild: undirskriftir {n} ná aðeins yfir hluta þess."},
	}
	noneCovers = counted{
		only: words{"The document as a whole is not signed: something was added after its signature.",
			"Skjalið er ekki undirritað í heild: einhverju var bætt við eftir undirskriftina."},
		several: words{"The document as a whole is not signed: something was added after the last of its signatures.",
			"Skjalið er ekki undirritað í heild: einhverju var bætt við eftir síðustu undirskriftina."},
	}
)
