package main

import (
	"cmp"
	"encoding/xml"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// box is a place on a page as it is displayed, in points from its upper left corner.
type box struct {
	Left   float64 `xml:"xMin,attr"`
	Top    float64 `xml:"yMin,attr"`
	Right  float64 `xml:"xMax,attr"`
	Bottom float64 `xml:"yMax,attr"`
}

func (b box) width() float64  { return b.Right - b.Left }
func (b box) height() float64 { return b.Bottom - b.Top }

func (b box) holds(c box) bool {
	return b.Left <= c.Left && c.Right <= b.Right && b.Top <= c.Top && c.Bottom <= b.Bottom
}

// word is one on a page as pdftotext reads it. One that is not upright is higher than wide.
type word struct {
	box
	Text string `xml:",chardata"`
}

func wordsOn(t *testing.T, path string) []word {
	t.Helper()
	text, err := exec.Command(testenv.Program(t, "pdftotext"), "-bbox", path, "-").Output()
	var document struct {
		Words []word `xml:"body>doc>page>word"`
	}
	if err == nil {
		err = xml.Unmarshal(text, &document)
	}
	if err != nil {
		t.Fatalf("pdftotext: %v\n%s", err, text)
	}
	return document.Words
}

var rectangle = regexp.MustCompile(`/Rect ?\[ ?([0-9.]+) ([0-9.]+) ([0-9.]+) ([0-9.]+) ?\]`)

// stampsOn are the places of the stamps on a page that was turned by 90 degrees, where what goes right in
// the file goes down. The first is at the right.
func stampsOn(t *testing.T, path string) (stamps []box) {
	t.Helper()
	for _, match := range rectangle.FindAllSubmatch(testenv.ReadFile(t, path), -1) {
		var n [4]float64
		for i := range n {
			var err error
			if n[i], err = strconv.ParseFloat(string(match[i+1]), 64); err != nil {
				t.Fatal(err)
			}
		}
		stamps = append(stamps, box{Left: n[1], Top: n[0], Right: n[3], Bottom: n[2]})
	}
	slices.SortFunc(stamps, func(a, b box) int { return cmp.Compare(b.Right, a.Right) })
	return stamps
}

// checkStamps checks the stamps of signers, in the order in which they were invited: side by side from the
// bottom right corner, each with its signer's name, upright.
func checkStamps(t *testing.T, path string, signers []person) {
	t.Helper()
	words, stamps := wordsOn(t, path), stampsOn(t, path)
	if len(stamps) != len(signers) {
		t.Fatalf("%s: %d stamps", path, len(stamps))
	}
	const margin = 10 // at most
	right := float64(leaseWidth)
	for i, s := range stamps {
		inRow := leaseHeight-margin <= s.Bottom && s.Bottom <= leaseHeight && right-margin <= s.Right && s.Right <= right
		if s.width() != 117 || s.height() != 55 || !inRow {
			t.Errorf("%s: stamp %d is at %+v", path, i, s)
		}
		right = s.Left // so that no two overlap
		first, _, _ := strings.Cut(signers[i].name, " ")
		found := false
		for _, word := range words {
			if word.Text == first {
				found = s.holds(word.box) && word.width() > word.height()
			}
		}
		if !found {
			t.Errorf("%s: %s is not upright in %+v", path, first, s)
		}
	}
}
