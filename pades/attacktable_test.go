package pades_test

import (
	"bytes"
	"fmt"
)

// attackTable is docs/attacks.md.
func attackTable(files []*attackedFile) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `# Attacks on signed documents

Written by %[1]s.ci/full%[1]s: %[2]d documents that were attacked after they were signed, or made by a dishonest
signer, and what is said of each. The signer's authority is trusted; nobody is asked for revocation, which to EU DSS
is optional here, and keeps no signature from passing here either (%[1]sINDETERMINATE TRY_LATER%[1]s). A signature
that is intact with something behind it that nobody signed is never the whole document's: %[1]sReport.Passed%[1]s is
false for all of these but those of the family %[3]q, where the signature is as good as without the proof,
and where an object is added that nothing leads to.

The families are those of Mladenov et al., "1 Trillion Dollar Refund" (CCS 2019: universal signature forgery,
incremental saving, signature wrapping), Mainka et al., "Shadow Attacks" (NDSS 2021) and Rohlmann et al., "Breaking
the Specification: PDF Certification" (IEEE S&P 2021).

| family | attack | Innsigli | EU DSS | pyHanko | pdfsig |
|---|---|---|---|---|---|
`, "`", len(files), proofs)
	for _, f := range files {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", f.family, cell(f.name), cell(f.ours), cell(f.dss), cell(f.pyhanko), cell(f.pdfsig))
	}
	return b.Bytes()
}
