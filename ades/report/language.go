package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Language is the language of a text.
type Language string

const (
	English   Language = "en"
	Icelandic Language = "is"
)

// words are the same words in each language. The method with replaces names in braces.
type words struct{ en, is string }

func (w words) in(l Language) string {
	if l == Icelandic {
		return w.is
	}
	return w.en
}

// with replaces names in braces with values. It does not replace braces in a value.
func (w words) with(l Language, pairs ...string) string {
	for i := 0; i < len(pairs); i += 2 {
		pairs[i] = "{" + pairs[i] + "}"
	}
	return strings.NewReplacer(pairs...).Replace(w.in(l))
}

// countedWords are words about some of a document's signatures. only is for a document with one
// signature. one and several contain {n}, the numbers of the signatures.
type countedWords struct{ only, one, several words }

// of returns the words about the signatures with the numbers in some, of all signatures.
func (c countedWords) of(l Language, some []int, all int) string {
	switch {
	case all == 1:
		return c.only.in(l)
	case len(some) == 1:
		return c.one.with(l, "n", strconv.Itoa(some[0]))
	}
	return c.several.with(l, "n", l.numbers(some))
}

var and = words{" and ", " og "}

// list joins texts as in "a, b and c".
func (l Language) list(texts []string) string {
	last := len(texts) - 1
	if last < 1 {
		return strings.Join(texts, "")
	}
	return strings.Join(texts[:last], ", ") + and.in(l) + texts[last]
}

// numbers lists ascending numbers, and joins three or more consecutive ones: "1–3, 5 and 7".
func (l Language) numbers(ascending []int) string {
	var texts []string
	for i := 0; i < len(ascending); {
		end := i
		for end+1 < len(ascending) && ascending[end+1] == ascending[end]+1 {
			end++
		}
		if end < i+2 {
			end = i
			texts = append(texts, strconv.Itoa(ascending[i]))
		} else {
			texts = append(texts, fmt.Sprintf("%d–%d", ascending[i], ascending[end]))
		}
		i = end + 1
	}
	return l.list(shortenList(l, texts))
}

// maxListed bounds the items of a list that are named.
const maxListed = 8

var more = words{"{n} more", "{n} til viðbótar"}

func shortenList(l Language, texts []string) []string {
	if rest := len(texts) - maxListed; rest > 1 {
		return append(texts[:maxListed:maxListed], more.with(l, "n", strconv.Itoa(rest)))
	}
	return texts
}

var quotationMarks = words{"“{text}”", "„{text}“"}

// quoted returns a text from the document in quotation marks, shortened to at most that many
// characters.
func (l Language) quoted(text string, most int) string {
	return quotationMarks.with(l, "text", clean(text, most))
}

var months = [...]words{
	{"January", "janúar"}, {"February", "febrúar"}, {"March", "mars"}, {"April", "apríl"}, {"May", "maí"}, {"June", "júní"},
	{"July", "júlí"}, {"August", "ágúst"}, {"September", "september"}, {"October", "október"}, {"November", "nóvember"}, {"December", "desember"},
}

var (
	day    = words{"{day} {month} {year}", "{day}. {month} {year}"}
	second = words{"{date}, {clock} UTC", "{date} kl. {clock} UTC"}
)

func (l Language) date(t Time) string {
	u := t.UTC()
	return day.with(l, "day", strconv.Itoa(u.Day()), "month", months[u.Month()-1].in(l), "year", strconv.Itoa(u.Year()))
}

func (l Language) time(t Time) string {
	return second.with(l, "date", l.date(t), "clock", t.UTC().Format(time.TimeOnly))
}

// period returns the beginning and the end of a period as dates, or as times if both are on the
// same day.
func (l Language) period(from, to Time) (first, last string) {
	first, last = l.date(from), l.date(to)
	if first == last {
		return l.time(from), l.time(to)
	}
	return first, last
}
