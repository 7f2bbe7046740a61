package main

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/pades"
)

type verifyCommand struct {
	Files []string  `arg:"" name:"file" help:"PDF files."`
	Trust string    `placeholder:"ROOTS.pem" help:"Certificates that signers' certificates have to lead to. Without them nobody is trusted."`
	At    time.Time `placeholder:"TIME" help:"Judge as of this time, such as 2026-06-17T12:00:00Z (default now)."`
	JSON  bool      `help:"Print one JSON object a line for each file."`
}

func (verifyCommand) Help() string {
	return "The exit status is 0 when every file has signatures, each is intact and leads to a trusted root, and the last covers the whole file. Missing revocation data alone does not count against a signature; it is reported.\n\nExample: innsigli verify signed.pdf --trust sandbox-root.pem"
}

func (c verifyCommand) Run(ctx context.Context, s streams) error {
	options := pades.VerifyOptions{Time: c.At}
	if c.Trust != "" {
		roots, err := readCertificates(c.Trust)
		if err != nil {
			return err
		}
		options.Roots = x509.NewCertPool()
		for _, r := range roots {
			options.Roots.AddCert(r)
		}
	}
	passed := true
	for _, path := range c.Files {
		result := verifyFile(ctx, path, options)
		passed = passed && result.passed
		if err := result.print(s.out, c.JSON); err != nil {
			return err
		}
	}
	if !passed {
		return errSilent
	}
	return nil
}

// fileResult is a file's report as it is printed.
type fileResult struct {
	File       string            `json:"file"`
	Signatures []signatureResult `json:"signatures"`
	Error      string            `json:"error"`
	passed     bool
}

type signatureResult struct {
	Name          string             `json:"name"`
	Format        string             `json:"format"`
	Indication    ades.Indication    `json:"indication"`
	SubIndication ades.SubIndication `json:"subIndication"`
	Intact        bool               `json:"intact"`
	Coverage      ades.Coverage      `json:"coverage"`
	Extended      bool               `json:"-"` // what follows is proof of the signature alone
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

func verifyFile(ctx context.Context, path string, options pades.VerifyOptions) fileResult {
	result := fileResult{File: path, Signatures: []signatureResult{}}
	file, err := os.Open(path)
	if err != nil {
		result.Error = err.Error()
		return result
	}
	defer file.Close()
	stat, err := file.Stat()
	if err != nil {
		result.Error = err.Error()
		return result
	}
	report, err := pades.Verify(ctx, pades.Document{ReaderAt: file, Size: stat.Size()}, options)
	if err != nil {
		result.Error = err.Error()
		return result
	}
	result.passed = report.Passed()
	for _, s := range report.Signatures {
		result.Signatures = append(result.Signatures, toResult(s))
	}
	return result
}

func toResult(s ades.SignatureReport) signatureResult {
	r := signatureResult{
		Name: s.Name, Format: s.Format, Indication: s.Indication, SubIndication: s.SubIndication,
		Intact: s.Intact, Coverage: s.Coverage, CoveredBytes: s.CoveredBytes, Extended: s.Extended,
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

func (s signatureResult) covers() string {
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
	if t.Type == ades.DocumentTimestamp {
		text += ", over the document"
	}
	switch {
	case !t.Intact:
		text += ", not intact"
	case !t.Trusted:
		text += ", not proven"
	}
	return text
}
