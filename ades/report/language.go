package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Language is that of a text.
type Language string

const (
	English   Language = "en"
	Icelandic Language = "is"
)

// words say one thing in each language. What stands in braces is put in, see [words.with].
type words struct{ en, is string }

func (w words) in(l Language) string {
	if l == Icelandic {
		return w.is
	}
	return w.en
}

// with puts values in place of names in braces. A value is taken for text, whatever is in it.
func (w words) with(l Language, pairs ...string) string {
	for i := 0; i < len(pairs); i += 2 {
		pairs[i] = "{" + pairs[i] + "}"
	}
	return strings.NewReplacer(pairs...).Replace(w.in(l))
}

// counted are words about signatures, {n}, of which there may be one in all.
type counted struct{ only, one, several words }

// of is about some of all signatures, by their numbers.
func (c counted) of(l Language, some []int, all int) string {
	switch {
	case all == 1:
		return c.only.in(l)
	case len(some) == 1:
		return c.one.with(l, "n", strconv.Itoa(some[0]))
	}
	return c.several.with(l, "n", l.numbers(some))
}

var and = words{" and ", " og "}

// list joins texts: "a, b and c".
func (l Language) list(texts []string) string {
	last := len(texts) - 1
	if last < 1 {
		return strings.Join(texts, "")
	}
	return strings.Join(texts[:last], ", ") + and.in(l) + texts[last]
}

// numbers lists numbers that ascend, and joins neighbours: "1–3, 5 and 7".
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
	return l.list(bounded(l, texts))
}

// mostListed is how many of a list are named.
const mostListed = 8

var more = words{"{n} more", "{n} til viðbótar"}

func bounded(l Language, texts []string) []string {
	if rest := len(texts) - mostListed; rest > 1 {
		return append(texts[:mostListed:mostListed], more.with(l, "n", strconv.Itoa(rest)))
	}
	return texts
}

var quotes = words{"“{text}”", "„{text}“"}

// quoted is what somebody else says, in quotation marks, or the first characters of it.
func (l Language) quoted(text string, most int) string {
	return quotes.with(l, "text", clean(text, most))
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

// period is from when to when, by the second where a day is too long.
func (l Language) period(from, to Time) (first, last string) {
	first, last = l.date(from), l.date(to)
	if first == last {
		return l.time(from), l.time(to)
	}
	return first, last
}
