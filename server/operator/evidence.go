package operator

import (
	"context"
	"crypto"
	"crypto/x509"
	"errors"
	"iter"
	"time"

	"github.com/innsigli/innsigli/internal/pki/tsp"
	"github.com/innsigli/innsigli/storage/evidence"
)

// Evidence implements [Operator].
func (s *Service) Evidence(ctx context.Context, request string, each func(evidence.Record) error) error {
	if request != "" {
		return eachRecord(evidence.ExportSubject(ctx, s.store.EvidenceLog(), request), each)
	}
	return eachRecord(evidence.Export(ctx, s.store.EvidenceLog()), each)
}

func eachRecord(records iter.Seq2[evidence.Record, error], each func(evidence.Record) error) error {
	for r, err := range records {
		if err != nil {
			return err
		}
		if err := each(r); err != nil {
			return err
		}
	}
	return nil
}

// EraseEvidence implements [Operator].
func (s *Service) EraseEvidence(ctx context.Context, request string) (int, error) {
	return s.chain().Erase(ctx, request)
}

// PruneEvidence implements [Operator].
func (s *Service) PruneEvidence(ctx context.Context, before time.Time) (int64, error) {
	return s.chain().Prune(ctx, before, 0)
}

func (s *Service) chain() evidence.Chain {
	return evidence.Chain{Log: s.store.EvidenceLog(), Tx: s.store}
}

// withoutCheckpoint is how old a log may be that has no checkpoint, because the timestamp authority is down. Servers try
// every few minutes.
const withoutCheckpoint = 24 * time.Hour

// VerifyEvidence verifies a log or an export of it, and the timestamps of its checkpoints. The certificates of the timestamp
// authorities must lead to one of the roots at the time of the timestamp; with nil roots, it is only verified that the
// certificate in each timestamp signed it. With roots, a log that is older than a day at the time now must have a checkpoint. head is a head
// that the chain must have, or nil.
func VerifyEvidence(records iter.Seq2[evidence.Record, error], head *evidence.Head, roots *x509.CertPool, now time.Time) (evidence.Result, error) {
	o := evidence.Options{Head: head, CheckToken: func(sum [32]byte, token []byte) (time.Time, error) {
		return checkToken(sum, token, roots)
	}}
	if roots != nil {
		o.TimestampedBefore = now.Add(-withoutCheckpoint)
	}
	return evidence.Verify(records, o)
}

func checkToken(sum [32]byte, der []byte, roots *x509.CertPool) (time.Time, error) {
	token, err := tsp.ParseToken(der)
	if err != nil {
		return time.Time{}, err
	}
	if token.Hash != crypto.SHA256 {
		return time.Time{}, errors.New("the timestamp is not over a SHA-256 value")
	}
	if err := token.VerifyOver(sum[:]); err != nil || roots == nil {
		return token.Time, err
	}
	intermediates := x509.NewCertPool()
	for _, c := range token.Certificates {
		intermediates.AddCert(c)
	}
	_, err = token.Certificate.Verify(x509.VerifyOptions{
		Roots: roots, Intermediates: intermediates, CurrentTime: token.Time, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageTimeStamping},
	})
	return token.Time, err
}
