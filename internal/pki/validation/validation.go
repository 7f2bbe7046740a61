// Package validation validates the certificates of signatures and timestamps in the terms of EN 319 102-1, for signatures
// of every format: the chain of a certificate, its revocation status, the time that a timestamp proves, and past certificate
// validation. What a signature or a timestamp is over, and where validation data stands, the format knows.
//
// A [Judge] judges what a document carries:
//
//	known := validation.NewKnown(ctx, sources, certificates...)
//	judge := validation.Judge{Data: data, Time: time}
//	judge.Timestamp(&timestamp, known, time)   // 5.4: does it prove its time?
//	judge.Signer(&report, known)               // 5.2.6: the signer's certificate as of the best signature time
//	judge.Evidence(&report, poes)              // 5.6.2: does the revocation data count still?
//
// [Collect] gathers what a signature needs to be validated long after, its validation data (EN 319 142-1 5.4, EN 319 132-1
// 5.4): the certificates from each signer, timestamp authority and OCSP responder to a root, and revocation data for each
// certificate below. [Data.Missing] reports what of that a document lacks for level LT, [Data.Lacking] what has to be
// collected for both level and status, and [Complete] collects that alone.
//
// All follow the same rules. A chain is walked up to the first trust anchor. Every certificate below it needs revocation
// data, and so does the responder that signed this, save the few that are issued without revocation: see exempt. Missing
// looks at no times, as validators do that find the level of a signature; the others do.
package validation

import "time"

// Judge judges by the data that a document carries, as of a time, and by what else can be had.
type Judge struct {
	Data   *Data
	Time   time.Time // of the judgement
	Online *Online   // nil: nobody is asked
}
