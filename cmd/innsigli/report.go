package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/innsigli/innsigli/ades"
)

// fileResult is a file's report as it is printed.
type fileResult struct {
	File       string            `json:"file"`
	Passed     bool              `json:"passed"`
	Signatures []signatureResult `json:"signatures"`
	Error      string            `json:"error"`
}

type signatureResult struct {
	Name          string             `json:"name"`
	Format        string             `json:"format"`
	Indication    ades.Indication    `json:"indication"`
	SubIndication ades.SubIndication `json:"subIndication"`
	Intact        bool               `json:"intact"`
	Coverage      ades.Coverage      `json:"coverage"`
	Counter       bool               `json:"counterSignature"` // over the signature before it, and nothing of the file
	Extended      bool               `json:"extended"`         // what follows is proof of the signature alone
	CoveredBytes  int64              `json:"coveredBytes"`
	Signer        string             `json:"signer"`
	SerialNumber  string             `json:"serialNumber"`
	Issuer        string             `json:"issuer"`
	ClaimedTime   string             `json:"claimedTime"`
	BestTime      string             `json:"bestTime"` // at which a timestamp proves the signature
	Timestamps    []timestampResult  `json:"timestamps"`
	Reason        string             `json:"reason"`
	Location      string             `json:"location"`
	Problems      []string           `json:"problems"`
}

type timestampResult struct {
	Type      ades.TimestampType `json:"type"`
	Time      string             `json:"time"`
	Authority string             `json:"authority"`
	Intact    bool               `json:"intact"`
	Trusted   bool               `json:"trusted"`
	Problems  []string           `json:"problems"`
}

func toResult(s ades.SignatureReport) signatureResult {
	r := signatureResult{
		Name: s.Name, Format: s.Format, Indication: s.Indication, SubIndication: s.SubIndication,
		Intact: s.Intact, Coverage: s.Coverage, Counter: s.CounterSignature, CoveredBytes: s.CoveredBytes, Extended: s.Extended,
		Reason: s.Reason, Location: s.Location, Problems: append([]string{}, s.Problems...),
	}
	r.ClaimedTime, r.BestTime = timeText(s.ClaimedTime), timeText(s.BestTime)
	r.Timestamps = []timestampResult{}
	for _, t := range s.Timestamps {
		r.Timestamps = append(r.Timestamps, toTimestampResult(t))
	}
	if c := s.Certificate; c != nil {
		r.Signer, r.SerialNumber, r.Issuer = c.Subject.CommonName, c.Subject.SerialNumber, c.Issuer.CommonName
	}
	return r
}

func toTimestampResult(t ades.TimestampReport) timestampResult {
	r := timestampResult{
		Type: t.Type, Time: timeText(t.Time), Intact: t.Intact, Trusted: t.Trusted, Problems: append([]string{}, t.Problems...),
	}
	if t.Authority != nil {
		r.Authority = t.Authority.Subject.CommonName
	}
	return r
}

// timeText is empty for a time that is not known.
func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func (r fileResult) print(w io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(r)
	}
	fmt.Fprintln(w, r.File)
	if r.Error != "" {
		_, err := fmt.Fprintf(w, "  cannot be read: %s\n", r.Error)
		return err
	}
	if len(r.Signatures) == 0 {
		_, err := fmt.Fprintln(w, "  no signatures")
		return err
	}
	for _, s := range r.Signatures {
		if err := s.print(w); err != nil {
			return err
		}
	}
	return nil
}

var coverageText = map[ades.Coverage]string{
	ades.WholeDocument: "the whole document",
	ades.WholeRevision: "its revision; the document grew afterwards",
	ades.Partial:       "not all of its revision",
}

// coverageOfXML: signatures of XML stand beside one another, or one holds the others.
var coverageOfXML = map[ades.Coverage]string{
	ades.WholeDocument: "the whole document",
	ades.WholeRevision: "all that was there; a later signature holds it",
	ades.Partial:       "a part of the document",
}

func (s signatureResult) covers() string {
	if s.Counter {
		return "another signature, as its counter-signature"
	}
	if strings.HasPrefix(s.Format, "X") { // XAdES-…, or XML-NOT-ETSI
		return coverageOfXML[s.Coverage]
	}
	if s.Extended {
		return "its revision; the proof of the signature follows"
	}
	return coverageText[s.Coverage]
}

func (s signatureResult) print(w io.Writer) error {
	verdict := string(s.Indication)
	if s.SubIndication != "" {
		verdict += " " + string(s.SubIndication)
	}
	fmt.Fprintf(w, "  %s  %s  %s\n", s.Name, s.Format, verdict)
	for _, row := range [][2]string{
		{"signer", s.Signer}, {"serial number", s.SerialNumber}, {"issuer", s.Issuer}, {"claimed time", s.ClaimedTime},
		{"reason", s.Reason}, {"location", s.Location}, {"covers", s.covers()},
	} {
		if row[1] != "" {
			fmt.Fprintf(w, "    %-14s %s\n", row[0], row[1])
		}
	}
	for _, t := range s.Timestamps {
		fmt.Fprintf(w, "    %-14s %s\n", "timestamp", t)
	}
	for _, p := range s.Problems {
		fmt.Fprintf(w, "    %-14s %s\n", "note", p)
	}
	return nil
}

// String is one line: when, by whom, and what keeps it from being relied upon.
func (t timestampResult) String() string {
	text := t.Time + "  " + t.Authority
	switch t.Type {
	case ades.DocumentTimestamp:
		text += ", over the document"
	case ades.ArchiveTimestamp:
		text += ", over the signature and its proof"
	}
	switch {
	case !t.Intact:
		text += ", not intact"
	case !t.Trusted:
		text += ", not proven"
	}
	return text
}
