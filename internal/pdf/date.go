package pdf

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// DateString returns the source text of a date string in UTC, with seconds (7.9.4).
func DateString(t time.Time) []byte {
	return []byte("(" + t.UTC().Format("D:20060102150405") + "+00'00')")
}

// ParseDate reads a date string. All parts behind the year may be missing, as may the
// prefix D: and the apostrophes; without an offset the time is taken for UTC.
func ParseDate(s String) (time.Time, error) {
	text := strings.TrimPrefix(Text(s), "D:")
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	fields := [...]int{0, 1, 1, 0, 0, 0} // the defaults of 7.9.4
	err := dateFields(text[:digits], fields[:])
	zone, zoneErr := dateZone(text[digits:])
	if err = errors.Join(err, zoneErr); err != nil {
		return time.Time{}, fmt.Errorf("pdf: date %.32q: %w", string(s), err)
	}
	t := time.Date(fields[0], time.Month(fields[1]), fields[2], fields[3], fields[4], fields[5], 0, zone)
	// time.Date carries over what is too large, such as February 30.
	if fields != [...]int{t.Year(), int(t.Month()), t.Day(), t.Hour(), t.Minute(), t.Second()} {
		return time.Time{}, fmt.Errorf("pdf: date %.32q is not in the calendar", string(s))
	}
	return t, nil
}

// dateFields reads four digits of a year and two of each other field, as far as there are any.
func dateFields(text string, fields []int) error {
	for i, width := 0, 4; i < len(fields) && (text != "" || i == 0); i, width = i+1, 2 {
		if len(text) < width {
			return fmt.Errorf("%d digits expected", width)
		}
		n, err := strconv.Atoi(text[:width])
		if err != nil {
			return err
		}
		fields[i], text = n, text[width:]
	}
	if text != "" {
		return errors.New("digits behind the seconds")
	}
	return nil
}

// dateZone reads the relation to UTC: nothing, Z, or a sign, hours and minutes.
func dateZone(text string) (*time.Location, error) {
	digits := strings.ReplaceAll(text, "'", "")
	if digits == "" || strings.HasPrefix(digits, "Z") {
		return time.UTC, nil
	}
	sign, digits := digits[0], digits[1:]
	if sign != '+' && sign != '-' || len(digits) != 2 && len(digits) != 4 {
		return nil, fmt.Errorf("%.16q is no relation to UTC", text)
	}
	n, err := strconv.ParseUint((digits + "00")[:4], 10, 16)
	if err != nil || n/100 > 23 || n%100 > 59 {
		return nil, fmt.Errorf("%.16q is no relation to UTC", text)
	}
	seconds := int(n/100*60+n%100) * 60
	switch {
	case seconds == 0:
		return time.UTC, nil
	case sign == '-':
		seconds = -seconds
	}
	return time.FixedZone("", seconds), nil
}
