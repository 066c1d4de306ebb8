package wire

import (
	"crypto/md5"
	"encoding"
	"hash"
	"sync"
)

// digester computes one MD5 or HMAC-MD5 at a time. It works on a copy of the
// packet, for two reasons: the fields that a digest takes as zero can be zeroed
// without touching the caller's datagram, and one long Write is faster than
// several short ones around the fields. It also keeps the caller's memory from
// escaping into the hash.Hash interface.
type digester struct {
	hash   hash.Hash
	state  encoding.BinaryUnmarshaler // hash, as what its state is loaded through
	sum    [digestLength]byte
	packet [MaxPacketLength]byte
}

var digesters = sync.Pool{New: func() any {
	h := md5.New()
	return &digester{hash: h, state: h.(encoding.BinaryUnmarshaler)}
}}

func getDigester() *digester      { return digesters.Get().(*digester) }
func putDigester(d *digester)     { digesters.Put(d) }
func (d *digester) load(b []byte) { copy(d.packet[:], b) }

// zeroAuthenticator clears the Authenticator of the loaded packet.
func (d *digester) zeroAuthenticator() {
	clear(d.packet[authenticatorOffset:HeaderLength])
}

// signature leaves in sum the MD5 over the first n octets of the loaded packet
// and the secret: the Request Authenticator of RFC 2866 section 3 and the
// Response Authenticator of RFC 2865 section 3, which differ in what stands in
// the Authenticator field.
func (d *digester) signature(k *secretKey, n int) {
	d.hash.Reset()
	d.hash.Write(d.packet[:n])
	d.hash.Write(k.secret)
	d.hash.Sum(d.sum[:0])
}

// messageAuthenticator leaves in sum the HMAC-MD5 over the first n octets of the
// loaded packet, after zeroing the value of the Message-Authenticator that stands
// at offset ma (RFC 3579 section 3.2).
func (d *digester) messageAuthenticator(k *secretKey, n, ma int) {
	value := ma + attributeHeader
	clear(d.packet[value : value+digestLength])
	d.resume(k.inner)
	d.hash.Write(d.packet[:n])
	d.hash.Sum(d.sum[:0])
	d.resume(k.outer)
	d.hash.Write(d.sum[:])
	d.hash.Sum(d.sum[:0])
}

// resume loads a state that stateAfter saved.
func (d *digester) resume(state []byte) {
	if err := d.state.UnmarshalBinary(state); err != nil {
		panic("wire: MD5 state cannot be restored: " + err.Error())
	}
}

// pad leaves in sum the MD5 over the secret and one block: the key stream of
// RFC 2865 section 5.2. The block stands at the start of the loaded packet.
func (d *digester) pad(k *secretKey) {
	d.hash.Reset()
	d.hash.Write(k.secret)
	d.hash.Write(d.packet[:digestLength])
	d.hash.Sum(d.sum[:0])
}
