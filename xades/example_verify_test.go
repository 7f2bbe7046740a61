package xades_test

import (
	"context"
	"fmt"
	"log"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/xades"
)

// A signature without proof that the certificate was not revoked passes, and says that proof may come.
func ExampleVerify() {
	ctx := context.Background()
	signer, key, ca := exampleSigner()
	doc := exampleDocument()
	revision, err := xades.Sign(ctx, doc, key, signer, xades.Options{City: "Reykjavík", Country: "IS"}, ades.Sources{})
	if err != nil {
		log.Fatal(err)
	}

	report, err := xades.Verify(ctx, doc.With(revision), ades.VerifyOptions{Roots: ca.Roots()})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range report.Signatures {
		fmt.Println(s.Format, s.Indication, s.SubIndication)
		fmt.Println(s.Certificate.Subject.CommonName, s.Location, s.Coverage)
	}
	fmt.Println(report.Passed())
	// Output:
	// XAdES-BASELINE-B INDETERMINATE TRY_LATER
	// Dæmi um nafn Reykjavík, IS WHOLE_DOCUMENT
	// true
}

// What is signed is raised to level LTA, and years later it gets another timestamp. The evidence is that of
// a test authority; package ades/online gets it over HTTP.
func ExampleExtender() {
	ctx := context.Background()
	signer, key, ca := exampleSigner()
	doc := exampleDocument()
	revision, err := xades.Sign(ctx, doc, key, signer, xades.Options{Packing: xades.InternallyDetached}, ades.Sources{})
	if err != nil {
		log.Fatal(err)
	}
	doc = doc.With(revision)

	x := xades.Extender{Sources: ca.Sources(nil)}
	raised, err := x.Extend(ctx, doc, ades.LTA)
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range raised {
		doc = doc.With(r)
	}
	renewed, err := x.Renew(ctx, doc)
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range renewed {
		doc = doc.With(r)
	}

	report, err := xades.Verify(ctx, doc, ades.VerifyOptions{Roots: ca.Roots()})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range report.Signatures {
		fmt.Println(s.Format, s.Indication)
		for _, t := range s.Timestamps {
			fmt.Println(t.Type, t.Trusted)
		}
	}
	// Output:
	// XAdES-BASELINE-LTA TOTAL_PASSED
	// SIGNATURE_TIMESTAMP true
	// ARCHIVE_TIMESTAMP true
	// ARCHIVE_TIMESTAMP true
}
