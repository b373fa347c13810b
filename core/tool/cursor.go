package tool

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"

	"cordboard/core"
)

// Place is where a page of a transcript ended: pages further back hold what has a smaller seq in that generation. The zero value is
// after the newest message. A cursor is only a place: whoever reads by it asks again whether the caller may see that generation.
type Place struct {
	Generation string
	Seq        uint64
}

// A cursor is base64url of: a byte for the list it belongs to, a number, a name, and a checksum, so that one that was cut, mistyped or
// made up is told from one of ours. It is no secret and no proof.
const (
	listMark    = 'l'
	historyMark = 'h'
)

// ListCursor is the nextBefore after a list's last row.
func ListCursor(c core.HeadCursor) string {
	return cursorText(listMark, uint64(c.UpdatedAt), c.Key)
}

// HistoryCursor is the nextBefore of a page whose oldest message is at p.
func HistoryCursor(p Place) string {
	return cursorText(historyMark, p.Seq, p.Generation)
}

func parseListCursor(text string) (core.HeadCursor, error) {
	number, name, err := cursorParts(listMark, text)
	return core.HeadCursor{UpdatedAt: int64(number), Key: name}, err
}

func parseHistoryCursor(text string) (Place, error) {
	number, name, err := cursorParts(historyMark, text)
	return Place{Generation: name, Seq: number}, err
}

func cursorText(mark byte, number uint64, name string) string {
	b := binary.AppendUvarint([]byte{mark}, number)
	b = append(b, name...)
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	return base64.RawURLEncoding.EncodeToString(b)
}

func cursorParts(mark byte, text string) (number uint64, name string, err error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) < 6 {
		return 0, "", errors.New("that is no cursor of ours")
	}
	body, sum := b[:len(b)-4], b[len(b)-4:]
	if binary.BigEndian.Uint32(sum) != crc32.ChecksumIEEE(body) {
		return 0, "", errors.New("that cursor is not whole")
	}
	number, n := binary.Uvarint(body[1:])
	switch {
	case body[0] != mark && (body[0] == listMark || body[0] == historyMark):
		return 0, "", errors.New("that cursor is of another tool")
	case body[0] != mark || n <= 0:
		return 0, "", errors.New("that is no cursor of ours")
	}
	return number, string(body[1+n:]), nil
}
