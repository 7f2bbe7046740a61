package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/stamp"
)

// --stamp CORNER[:X,Y][@PAGE].
func TestParsePlacement(t *testing.T) {
	for text, want := range map[string]placement{
		"TopLeft":               {page: 1, corner: stamp.TopLeft},
		"TopRight@3":            {page: 3, corner: stamp.TopRight},
		"BottomLeft:0,0":        {page: 1, corner: stamp.BottomLeft, manual: true},
		"BottomRight:36,36.5@2": {page: 2, corner: stamp.BottomRight, manual: true, x: 36, y: 36.5},
		"bottomRIGHT":           {page: 1, corner: stamp.BottomRight},
	} {
		got, err := parsePlacement(text)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(placement{})); diff != "" || err != nil {
			t.Errorf("%q: %v\n%s", text, err, diff)
		}
	}
	for text, want := range map[string]string{
		"":                             `"" is no corner`,
		"Middle":                       `"Middle" is no corner`,
		"Top Left":                     `"Top Left" is no corner`,
		" TopLeft":                     `" TopLeft" is no corner`,
		"@2":                           `"" is no corner`,
		"TopLeft:":                     `"" is not two numbers`,
		"TopLeft:36":                   `"36" is not two numbers`,
		"TopLeft:36,":                  `"36," is not two numbers`,
		"TopLeft:,36":                  `",36" is not two numbers`,
		"TopLeft:36,36,36":             `"36,36,36" is not two numbers`,
		"TopLeft:36, 36":               `"36, 36" is not two numbers`,
		"TopLeft:-1,36":                `"-1,36" is not two numbers`,
		"TopLeft:36,NaN":               `"36,NaN" is not two numbers`,
		"TopLeft:Inf,36":               `"Inf,36" is not two numbers`,
		"TopLeft:36,1e999":             `"36,1e999" is not two numbers`,
		"TopLeft:36,36:1":              `"36,36:1" is not two numbers`,
		"TopLeft@":                     `"" is no number of a page`,
		"TopLeft@0":                    `"0" is no number of a page`,
		"TopLeft@-1":                   `"-1" is no number of a page`,
		"TopLeft@1.5":                  `"1.5" is no number of a page`,
		"TopLeft@1@2":                  `"1@2" is no number of a page`,
		"TopLeft@2:36,36":              `"2:36,36" is no number of a page`,
		"TopLeft@99999999999999999999": `"99999999999999999999" is no number of a page`,
	} {
		if _, err := parsePlacement(text); !errors.Is(err, errUsage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}
