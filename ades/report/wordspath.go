package report

import "github.com/innsigli/innsigli/ades"

// revocations say what was found about the revocation of a certificate.
var revocations = map[ades.RevocationStatus]words{
	ades.RevocationGood:    {"not revoked as of {day} ({source})", "ekki afturkölluð miðað við {day} ({source})"},
	ades.RevocationRevoked: {"revoked since {since} ({source})", "afturkölluð {since} ({source})"},
	ades.RevocationOnHold:  {"suspended since {since} ({source})", "tímabundið felld úr gildi {since} ({source})"},
	ades.RevocationUnknown: {"whether it was revoked is not known", "ekki vitað hvort þau höfðu verið afturkölluð"},
	ades.RevocationNotNeeded: {"trusted as it is, or issued without a way to revoke it",
		"treyst sem slíkum, eða gefin út án þess að hægt sé að afturkalla þau"},
}

// Words about certificates and the time by which they are judged.
var (
	revokedLater = words{"not revoked at that time, but since {since} ({source})", "ekki afturkölluð þá, en síðar afturkölluð, {since} ({source})"}
	fetched      = words{"{source}, fetched", "{source}, sótt"}
	certified    = words{"certificate in force from {from} to {to}; {status}", "skilríki í gildi frá {from} til {to}; {status}"}
	byWayOf      = words{"by way of {name}: {certified}", "um {name}: {certified}"}
	judgedProven = words{"by the certificates as they were on {time}, the proven time",
		"miðað við stöðu skilríkjanna {time}, á sönnuðum tíma undirskriftarinnar"}
	judgedNow = words{"by the certificates as they were on {time}, the time of the verification",
		"miðað við stöðu skilríkjanna {time}, þegar sannreynt var"}
)
