package portal

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// errOvertaken: another turn has come and gone since the process was read.
var errOvertaken = errors.New("portal: another turn came first")

// order names a turn to package signing.
type order struct {
	process, participant string
	number               int64 // of the turn
}

func (o order) String() string {
	return o.process + "/" + o.participant + "/" + strconv.FormatInt(o.number, 10)
}

func parseOrder(text string) (o order, err error) {
	parts := strings.Split(text, "/")
	if len(parts) == 3 {
		o.process, o.participant = parts[0], parts[1]
		o.number, err = strconv.ParseInt(parts[2], 10, 64)
	}
	if len(parts) != 3 || err != nil {
		return order{}, fmt.Errorf("portal: %q is no order of a signature", text)
	}
	return o, nil
}
