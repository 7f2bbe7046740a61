package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestFormatOf(t *testing.T) {
	for name, test := range map[string]struct {
		content string
		want    format
	}{
		"PDF":                         {"%PDF-2.0\n", formatPDF},
		"PDF behind other bytes":      {strings.Repeat("\x00", 1000) + "%PDF-1.7", formatPDF},
		"PDF too far behind them":     {strings.Repeat("\x00", 1024) + "%PDF-1.7", 0},
		"XML":                         {"<a/>", formatXML},
		"XML with a declaration":      {`<?xml version="1.0"?><a/>`, formatXML},
		"XML behind white space":      {"\r\n \t<a/>", formatXML},
		"XML with a byte order mark":  {"\xef\xbb\xbf<a/>", formatXML},
		"UTF-16, little end first":    {"\xff\xfe<\x00a\x00/\x00>\x00", formatXML},
		"UTF-16, big end first":       {"\xfe\xff\x00<\x00a\x00/\x00>", formatXML},
		"UTF-16 without a mark":       {"\x00<\x00?\x00x\x00m\x00l", formatXML},
		"UTF-16 behind a line's end":  {"\xff\xfe\n\x00<\x00a\x00", formatXML},
		"text":                        {"Not a PDF, a < b.", 0},
		"nothing":                     {"", 0},
		"a mark alone":                {"\xef\xbb\xbf", 0},
		"a file of another kind":      {"PK\x03\x04<a/>", 0},
		"a PDF's header in a comment": {"<!-- %PDF-1.7 --><a/>", formatXML},
		"a PDF's header in UTF-16":    {"\xff\xfe<\x00a\x00>\x00%PDF-1.7", formatXML},
		"XML that is not well-formed": {"<a", formatXML},
		"a PDF behind an odd byte":    {"\x01<html>\n%PDF-1.4", formatPDF},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readFormat(bytes.NewReader([]byte(test.content)))
			if got != test.want || errors.Is(err, errFormat) != (test.want == 0) {
				t.Errorf("%v, %v; want %v", got, err, test.want)
			}
		})
	}
}
