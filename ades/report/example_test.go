package report_test

import (
	"fmt"
	"os"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/ades/report"
)

func ExampleDocument_Text() {
	r := &ades.Report{Signatures: []ades.SignatureReport{{
		Name: "Signature1", Format: "PAdES-BASELINE-B", Indication: ades.TotalFailed, SubIndication: ades.HashFailure, Coverage: ades.WholeDocument,
	}}}
	d := report.New("contract.pdf", r)
	if err := d.Text(os.Stdout, report.English); err != nil {
		fmt.Println(err)
	}
	// Output:
	// contract.pdf
	//   The document cannot be relied upon: its signature is not valid.
	//
	//   Signature 1 of 1: an unknown signer
	//     Verdict      Not valid. What was signed has been changed since.
	//     Signed       the signer does not say when
	//     Proven       no trusted timestamp proves when it was made
	//     Covers       the whole document
	//     Level        B: a signature without a trusted time
	//     Terms        [PAdES-BASELINE-B; TOTAL_FAILED HASH_FAILURE; WHOLE_DOCUMENT;
	//                  Signature1]
}
