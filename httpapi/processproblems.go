package httpapi

import (
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/portal"
)

// processProblems are those of signing processes (spec 4.1 and 6.4).
var processProblems = []row{
	{portal.ErrNotFound, noProcess},
	{portal.ErrViewer, isViewer},
	{portal.ErrAnswered, hasAnswered},
	{portal.ErrOtherPerson, otherPerson},
	{portal.ErrCannotSign, cannotSign},
	{portal.ErrNotWaiting, notWaiting},
	{portal.ErrTurn, turnTaken},
	{portal.ErrTooMany, tooManyStamps},
	{portal.ErrNotDrawn, placesUnknown},
	{pades.ErrRect, tooManyStamps}, // the page lies where a PDF has no place for a stamp
	{portal.ErrPayment, paymentRequired},
	{portal.ErrQuota, quotaExceeded},
	{portal.ErrKeyInUse, keyInUse},
	{portal.ErrKeyReused, keyReused},
}
