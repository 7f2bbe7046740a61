package pdf

import (
	"fmt"
	"math"
	"strconv"
)

// appendObject writes an object, for round trips: the package itself never does.
func appendObject(out []byte, o Object) []byte {
	switch o := o.(type) {
	case nil:
		return append(out, "null"...)
	case Integer:
		return strconv.AppendInt(out, int64(o), 10)
	case Real:
		// A fraction keeps what exceeds 64 bits from being read as an integer.
		if o == Real(math.Trunc(float64(o))) {
			return strconv.AppendFloat(out, float64(o), 'f', 1, 64)
		}
		return strconv.AppendFloat(out, float64(o), 'f', -1, 64)
	case String:
		return append(out, HexString([]byte(o))...)
	case Name:
		return append(out, NameToken(o)...)
	case Array:
		out = append(out, '[')
		for _, item := range o {
			out = append(appendObject(out, item), ' ')
		}
		return append(out, ']')
	case Dict:
		out = append(out, "<<"...)
		for key, value := range o {
			out = append(append(out, NameToken(key)...), ' ')
			out = append(appendObject(out, value), ' ')
		}
		return append(out, ">>"...)
	}
	return fmt.Append(out, o) // bool, Ref
}
