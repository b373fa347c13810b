package bolt

import (
	"encoding/binary"

	"cordboard/core"
)

// Layout of a message: version, role, flags, time (8 bytes), lengths of Before and After, Raw, Before, After; all bytes as they came.
const (
	messageVersion = 1
	messageHeader  = 11
)

func encodeMessage(m *core.Message) []byte {
	size := messageHeader + 2*binary.MaxVarintLen32 + len(m.Raw) + len(m.Before) + len(m.After)
	out := append(make([]byte, 0, size), messageVersion, byte(m.Role), byte(m.Flags))
	out = binary.BigEndian.AppendUint64(out, uint64(m.At))
	out = binary.AppendUvarint(out, uint64(len(m.Before)))
	out = binary.AppendUvarint(out, uint64(len(m.After)))
	return append(append(append(out, m.Raw...), m.Before...), m.After...)
}

// decodeMessage fills m without a copy: its bytes are borrowed.
func decodeMessage(k, v []byte, m *core.Message) error {
	d := decoder{rest: v}
	version := d.byte()
	m.Role, m.Flags, m.At = core.Role(d.byte()), core.MessageFlags(d.byte()), int64(d.uint64())
	before, after := d.uvarint(), d.uvarint()
	if d.err != nil || version != messageVersion || len(k) != 16 || before > uint64(len(d.rest)) || after > uint64(len(d.rest))-before {
		return errShort
	}
	m.Seq = binary.BigEndian.Uint64(k[8:])
	m.Raw = d.take(uint64(len(d.rest)) - before - after)
	m.Before, m.After = d.take(before), d.take(after)
	return nil
}
