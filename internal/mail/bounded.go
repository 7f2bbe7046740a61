package mail

import "net"

// maxAnswers is how much a server may say in a conversation.
const maxAnswers = 256 << 10

// bounded is a connection to a server that may say so much and no more: who reads its answers reads them
// whole.
type bounded struct {
	net.Conn
	left  int
	first []byte // what was read until seen was called
	told  bool
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, protocol("the server says more than %d bytes", maxAnswers)
	}
	n, err := b.Conn.Read(p[:min(len(p), b.left)])
	b.left -= n
	if !b.told {
		b.first = append(b.first, p[:n]...)
	}
	return n, err
}

// seen is what was read so far, once.
func (b *bounded) seen() string {
	b.told = true
	defer func() { b.first = nil }()
	return string(b.first)
}
