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
		"":                             `"" is not a corner`,
		"Middle":                       `"Middle" is not a corner`,
		"Top Left":                     `"Top Left" is not a corner`,
		" TopLeft":                     `" TopLeft" is not a corner`,
		"@2":                           `"" is not a corner`,
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
		"TopLeft@":                     `"" is not a page number`,
		"TopLeft@0":                    `"0" is not a page number`,
		"TopLeft@-1":                   `"-1" is not a page number`,
		"TopLeft@1.5":                  `"1.5" is not a page number`,
		"TopLeft@1@2":                  `"1@2" is not a page number`,
		"TopLeft@2:36,36":              `"2:36,36" is not a page number`,
		"TopLeft@99999999999999999999": `"99999999999999999999" is not a page number`,
	} {
		if _, err := parsePlacement(text); !errors.Is(err, errUsage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}
