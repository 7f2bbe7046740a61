package simulated

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
	"time"
)

func sameName(string) string { return "Simulated Signer" }

// given are first names, and the patronymic, or what stands in its place, says that nobody has it.
var given = []struct{ first, last string }{
	{"Anna", "Prufudóttir"}, {"Jón", "Prufuson"}, {"Jóna", "Prufudóttir"}, {"Ólafur", "Prufuson"},
	{"Sigríður", "Prufudóttir"}, {"Þórður", "Prufuson"}, {"Kristín", "Prufudóttir"}, {"Guðmundur", "Prufuson"},
	{"Sól", "Prufudóttir"}, {"Björn", "Prufuson"}, {"Ásta", "Prufudóttir"}, {"Einar", "Prufuson"},
}

// Name is a name for the person with a kennitala, for [Options].Name and [LoginOptions].Name: always
// the same, and seen to be one of a trial ("prufa" is a trial in Icelandic).
func Name(kennitala string) string {
	n := given[drawn("name", kennitala)%uint64(len(given))]
	return n.first + " " + n.last
}

const (
	localDigits = 7 // of a phone number in Iceland
	birthdays   = 14610
)

var firstBirthday = time.Date(1950, time.January, 1, 0, 0, 0, 0, time.UTC)

// KennitalaOf is the kennitala of the person with a phone number: always the same for the last seven
// digits, a day between 1950 and 1989, and a right check digit, so that a page that checks what is typed takes it.
// Empty: it is no phone number. It ends in 9, and chooses no failure.
func KennitalaOf(phone string) string {
	said := digits(phone)
	if len(said) < localDigits {
		return ""
	}
	n := drawn("phone", said[len(said)-localDigits:])
	day := firstBirthday.AddDate(0, 0, int(n%birthdays)).Format("020106")
	for serial := n / birthdays % 80; ; serial = (serial + 1) % 80 { // of two serials that follow, one has a check digit
		front := fmt.Sprintf("%s%02d", day, 20+serial)
		if digit, ok := checkDigit(front); ok {
			return front + digit + "9"
		}
	}
}

// checkDigit is the ninth of a kennitala, by the eight before it; some have none, and are not given.
func checkDigit(front string) (digit string, ok bool) {
	sum := 0
	for i, weight := range []int{3, 2, 7, 6, 5, 4, 3, 2} {
		sum += weight * int(front[i]-'0')
	}
	left := (11 - sum%11) % 11
	return fmt.Sprint(left), left != 10
}

// drawn is a number that follows from a text, and from what it is for.
func drawn(what, text string) uint64 {
	sum := sha256.Sum256([]byte(strings.Join([]string{"innsigli simulated", what, text}, " ")))
	return binary.BigEndian.Uint64(sum[:])
}
