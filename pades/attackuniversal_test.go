package pades_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/innsigli/innsigli/ades"
)

// forgedInPlace takes from a signed document what there is to check.
var forgedInPlace = []attack{
	{universal, "no ByteRange", edited("/ByteRange [", "/ByteRangf ["), failed(ades.FormatFailure)},
	{universal, "ByteRange null", ranged("null"), failed(ades.FormatFailure)},
	{universal, "ByteRange empty", ranged("[]"), failed(ades.FormatFailure)},
	{universal, "ByteRange of zeros", ranged("[0 0 0 0]"), failed(ades.FormatFailure)},
	{universal, "ByteRange with a negative number", ranged("[0 -GAP END REST]"), failed(ades.FormatFailure)},
	{universal, "ByteRange with a negative length", ranged("[0 GAP END -REST]"), failed(ades.FormatFailure)},
	{universal, "ByteRange beyond the end", ranged("[0 GAP END 1REST]"), failed(ades.FormatFailure)},
	{universal, "ByteRange that overflows", ranged("[0 GAP 9223372036854775807 REST]"), failed(ades.FormatFailure)},
	{universal, "no Contents", edited("/Contents <3", "/Contentt <3"), failed(ades.FormatFailure)},
	{universal, "Contents null", withContents("null"), failed(ades.FormatFailure)},
	{universal, "Contents empty", withContents("<>"), failed(ades.FormatFailure)},
	{universal, "Contents of zeros", withContents("<00000000>"), failed(ades.FormatFailure)},
	{universal, "no value of the field", func(s *scene) []byte {
		b := s.signed()
		return regexp.MustCompile(`/V (\d+ 0 R) /P`).ReplaceAll(b, []byte("/v $1 /P"))
	}, unsigned},
}

// forgedWhole are documents of dishonest signers, whose digest is right.
var forgedWhole = []attack{
	{universal, "ByteRange of five numbers", forgery{ranges: "/ByteRange [0 %d %d %d 0]"}.made, failed(ades.FormatFailure)},
	{universal, "ByteRange of reals", forgery{ranges: "/ByteRange [0.0 %d.0 %d.0 %d.0]"}.made, failed(ades.FormatFailure)},
	{universal, "ByteRange twice", forgery{ranges: "/ByteRange [0 1 2 3] /ByteRange [0 %d %d %d]"}.made, notPassed},
	{universal, "ByteRange twice, the other way round", forgery{ranges: "/ByteRange [0 %d %d %d] /ByteRange [0 1 2 3]"}.made, notPassed},
	{universal, "Contents twice", forgery{entries: "/Contents <00>"}.made, notPassed},
	{universal, "ByteRange in a later object", func(s *scene) []byte {
		// What is not there yet is nothing that anybody signed.
		b := forgery{ranges: "/ByteRange 500 0 R %% %d %d %d\n"}.made(s)
		gap := regexp.MustCompile(`<[0-9a-f]{1000,}>`).FindIndex(b)
		r := newRevision(s.T, b)
		r.replace(500, fmt.Sprintf("[0 %d %d %d]", gap[0], gap[1], len(b)-gap[1]))
		return r.written()
	}, listedAsForbidden},
	{universal, "Contents as a literal string", forgery{contents: literal}.made, failed(ades.FormatFailure)},
	{wrapping, "a gap wider than Contents", forgery{entries: " /Reason (nobody signed this)", gap: func(start, end int) (int, int) { return start - 40, end }}.made, failed(ades.FormatFailure)},
	{wrapping, "a gap that goes on behind Contents", forgery{gap: func(start, end int) (int, int) { return start, end + 11 }}.made, failed(ades.FormatFailure)},
	{wrapping, "Contents in another object", forgery{
		entries: " /Contents 102 0 R", objects: []string{"<" + strings.Repeat("00", 100) + ">"},
		built: func(b []byte) []byte { return bytes.Replace(b, []byte("/Contents <ff"), []byte("/Nothing  <ff"), 1) },
	}.made, notPassed},
	{structural, "Contents not covered from the start", forgery{ranges: "/ByteRange [9 %d %d %d]"}.made, failed(ades.FormatFailure)},
	{structural, "the end of the file not covered", func(s *scene) []byte {
		return append(forgery{}.made(s), "\n% nobody signed this\n%%EOF\n"...)
	}, unsigned},
}

// edited is the signed contract with some of its bytes replaced by as many others.
func edited(old, new string) func(*scene) []byte {
	return func(s *scene) []byte { return s.replaced(s.signed(), old, new) }
}

func (s *scene) replaced(b []byte, old, new string) []byte {
	s.Helper()
	if len(old) != len(new) || bytes.Count(b, []byte(old)) != 1 {
		s.Fatalf("%q cannot be replaced by %q", old, new)
	}
	return bytes.Replace(b, []byte(old), []byte(new), 1)
}

// ranged is the signed contract with another value of ByteRange, where GAP, END and REST are the numbers of the first.
func ranged(value string) func(*scene) []byte {
	return func(s *scene) []byte {
		b := s.signed()
		gap, gapEnd, end := gapOf(s.T, b)
		array := string(regexp.MustCompile(`/ByteRange \[[^\]]*\] *`).Find(b))
		value := "/ByteRange " + strings.NewReplacer("GAP", strconv.Itoa(gap), "END", strconv.Itoa(gapEnd), "REST", strconv.Itoa(end-gapEnd)).Replace(value)
		return s.replaced(b, array, fmt.Sprintf("%-*s", len(array), value))
	}
}

// withContents is the signed contract with something else in the place of Contents.
func withContents(value string) func(*scene) []byte {
	return func(s *scene) []byte {
		b := bytes.Clone(s.signed())
		gap, gapEnd, _ := gapOf(s.T, b)
		copy(b[gap:gapEnd], fmt.Sprintf("%-*s", gapEnd-gap, value))
		return b
	}
}
