package report

import "github.com/innsigli/innsigli/ades"

// The labels of a signature's rows.
var (
	labelVerdict     = words{"Verdict", "Niðurstaða"}
	labelNumber      = words{"ID number", "Auðkennisnr."}
	labelIssuer      = words{"Issued by", "Útgefandi"}
	labelCertificate = words{"Certificate", "Skilríki"}
	labelTrust       = words{"Trust", "Traust"}
	labelNamed       = words{"Named", "Nafn"}
	labelSigned      = words{"Signed", "Undirritað"}
	labelProven      = words{"Proven", "Sannað"}
	labelJudged      = words{"Judged", "Metið"}
	labelReason      = words{"Reason", "Ástæða"}
	labelPlace       = words{"Place", "Staður"}
	labelCovers      = words{"Covers", "Nær yfir"}
	labelAfterwards  = words{"Afterwards", "Eftir það"}
	labelLevel       = words{"Level", "Stig"}
	labelTimestamp   = words{"Timestamp", "Tímastimpill"}
	labelWarning     = words{"Warning", "Viðvörun"}
	labelTerms       = words{"Terms", "Fagheiti"}
	labelsOfAnything = []words{
		labelVerdict, labelNumber, labelIssuer, labelCertificate, labelTrust, labelNamed, labelSigned, labelProven, labelJudged, labelReason,
		labelPlace, labelCovers, labelAfterwards, labelLevel, labelTimestamp, labelWarning, labelTerms,
	}
)

// Words about who signed, and when.
var (
	head        = words{"Signature {n} of {all}: {who}", "Undirskrift {n} af {all}: {who}"}
	unconfirmed = words{"{who} (not confirmed)", "{who} (óstaðfest)"}
	nobodyKnown = words{"an unknown signer", "óþekktur undirritandi"}
	inForce     = words{"in force from {from} to {to}", "í gildi frá {from} til {to}"}
	trust       = words{"leads to {root}, which is trusted", "má rekja til {root}, sem er treyst"}
	noTrust     = words{"leads to nobody who is trusted here", "verða ekki rakin til neins sem er treyst hér"}
	noTrustThen = words{"leads to nobody who is trusted here by certificates that could all be relied upon on {time}",
		"verða ekki rakin til neins sem er treyst hér með skilríkjum sem öll voru gild og traust {time}"}
	named         = words{"{name} in the document, which the certificate does not confirm", "{name} samkvæmt skjalinu, en skilríkin staðfesta það ekki"}
	claimed       = words{"{time}, by the signer's own account", "{time}, að sögn undirritanda"}
	noTimeClaimed = words{"the signer does not say when", "undirritandi segir ekki hvenær"}
	proven        = words{"not later than {time}, by a timestamp of {authority}", "eigi síðar en {time}, með tímastimpli frá {authority}"}
	notProven     = words{"no trusted timestamp proves when it was made", "enginn traustur tímastimpill sannar hvenær hún var gerð"}
	somebody      = words{"an authority without a name", "ónefndum útgefanda"}
)

// timestampTypes say what a timestamp is over.
var timestampTypes = map[ades.TimestampType]words{
	ades.SignatureTimestamp: {"over the signature", "yfir undirskriftina"},
	ades.DocumentTimestamp:  {"over the document", "yfir skjalið"},
	ades.ArchiveTimestamp:   {"over the signature and its validation data", "yfir undirskriftina og staðfestingargögn hennar"},
}

// Words about a timestamp.
var (
	timestamp         = words{"{time}, {authority}, {over}: {verdict}", "{time}, frá {authority}, {over}: {verdict}"}
	timeUnknown       = words{"time unknown", "tími óþekktur"}
	timestampTrusted  = words{"trusted", "traustur"}
	timestampUnproven = words{"not relied upon", "ekki byggt á honum"}
	timestampBroken   = words{"broken", "ógildur"}
)

// levels say what a level is good for (EN 319 142-1 and EN 319 132-1, clause 6).
var levels = map[ades.Level]words{
	ades.B: {"B: a signature without a trusted time", "B: undirskrift án traustrar tímasetningar"},
	ades.T: {"T: with a timestamp", "T: með tímastimpli"},
	ades.LT: {"LT: with a timestamp, and with the data to check it years later",
		"LT: með tímastimpli og gögnum til að sannreyna hana mörgum árum síðar"},
	ades.LTA: {"LTA: with the data to check it years later, and a timestamp over that, which keeps it provable",
		"LTA: með gögnum til að sannreyna hana mörgum árum síðar og tímastimpli yfir þau, svo hún haldist sannanleg"},
}

var (
	comparable = words{"comparable to {level}, in a form that is not of the European baseline",
		"sambærilegt við {level}, á sniði sem fylgir ekki evrópska grunnstaðlinum"}
	noLevel = words{"none: the form is not of the European baseline", "ekkert: sniðið fylgir ekki evrópska grunnstaðlinum"}
)

// Words around the details.
var (
	details          = words{"Details", "Nánar (á ensku)"}
	warning          = words{"{text}", "(á ensku) {text}"}
	detailsSignature = words{"Signature {n}: {text}", "Undirskrift {n}: {text}"}
	detailsChange    = words{"Signature {n}, revision {m}: {text}", "Undirskrift {n}, útgáfa {m}: {text}"}
	detailsTimestamp = words{"Signature {n}, timestamp {m}: {text}", "Undirskrift {n}, tímastimpill {m}: {text}"}
)
