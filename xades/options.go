package xades

import (
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/ades"
)

// Options are what a signature says beside who signed. The zero value is right.
type Options struct {
	Packing Packing
	// Base64 has Enveloping carry the file as it is, in Base64, instead of its elements: what is signed
	// are its bytes. It goes with no other packing.
	Base64 bool

	Time    time.Time // SigningTime, of which the second counts, within the signer's certificate; zero: now
	City    string    // SignatureProductionPlaceV2
	Country string
	Reason  string // described in a CommitmentTypeIndication over all that is signed

	// Level is what the signature is to become. From T on [Pending.Complete] puts a timestamp into it;
	// the rest is for an [Extender].
	Level ades.Level
}

// check refuses options that contradict themselves, or that no signature can say.
func (o Options) check() error {
	switch {
	case o.Packing < Enveloped || o.Packing > InternallyDetached:
		return fmt.Errorf("xades: unknown packing %v", o.Packing)
	case o.Base64 && o.Packing != Enveloping:
		return fmt.Errorf("xades: packing %v has no document in Base64", o.Packing)
	case o.Time.UTC().Year() > 9999 || o.Time.UTC().Year() < 1: // as it is written
		return errors.New("xades: signing time outside of the years 1 to 9999")
	}
	return checkLevel(o.Level)
}

func checkLevel(l ades.Level) error {
	if l < ades.B || l > ades.LTA {
		return fmt.Errorf("xades: unknown level %v", l)
	}
	return nil
}
